"""The client's handles of vectors of scores that are stored on workers: number and recipe."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from argrank._types import Floats
from argrank.engines._part import Recipe
from argrank.errors import InputError

if TYPE_CHECKING:
    from argrank.engines.partitioned_risk import Session


class Node:
    """The recipe of a vector, with those of the vectors it depends on; kept as long as any vector needs it."""

    __slots__ = ("given", "kind", "number", "of")

    def __init__(self, number: int, kind: str, of: tuple[Node, ...], given: Any) -> None:
        self.number, self.kind, self.of, self.given = number, kind, of, given

    def recipe(self) -> Recipe:
        """Return it in the form for workers."""
        return Recipe(self.kind, tuple(one.number for one in self.of), self.given)


class Vector:
    """Scores of all rows, or a gradient by them, in a space of such vectors on the workers.

    Sums, differences and multiples are computed lazily on the workers. ``dots`` are known inner products.
    """

    __array_ufunc__ = None  # so that NumPy number * vector calls __rmul__

    def __init__(self, space: Space, kind: str, operands: tuple[Vector, ...] = (), given: Any = None) -> None:
        self.space, self._session, self.is_stored = space, space.session(), False
        self.dots: dict[int, list[float]] = {}
        self.node: Node = Node(next(space.numbers), kind, tuple(one.node for one in operands), given)
        self._operands = operands  # kept on the workers until this one is stored
        space.vectors[self.node.number] = self

    def values(self) -> Floats:
        """Return the numbers themselves; they may be many."""
        assert self._session is not None
        return self._session.gather(self)

    def stored(self) -> None:
        """Record that workers have it."""
        self.is_stored, self._operands = True, ()

    def __del__(self) -> None:
        if self.is_stored:
            self.space.dropped.append(self.node.number)

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.space, "plus", (self, self._of_space(other)))

    def __sub__(self, other: Vector | float) -> Vector:
        if isinstance(other, float):
            return Vector(self.space, "less", (self,), float(other))
        return Vector(self.space, "minus", (self, self._of_space(other)))

    def __mul__(self, factor: float) -> Vector:
        return Vector(self.space, "times", (self,), float(factor))

    __rmul__ = __mul__

    def _of_space(self, other: Any) -> Vector:
        if not isinstance(other, Vector) or other.space is not self.space:
            raise InputError(f"scores: expected scores of the same fit on the cluster, got {type(other).__name__}")
        return other


class Space:
    """The vectors of a fit: their numbers, those that are alive, and those that workers may drop."""

    def __init__(self, session: Session) -> None:
        self.session = weakref.ref(session)  # kept as long as a risk or a vector needs it
        self.numbers = itertools.count()
        self.vectors: weakref.WeakValueDictionary[int, Vector] = weakref.WeakValueDictionary()
        self.dropped: list[int] = []

    def unmade(self, vectors: Iterable[Vector]) -> dict[int, Node]:
        """Return the nodes of vectors that no worker has yet."""
        return {node.number: node for node in _closure((one.node for one in vectors), self._has)}

    def held(self) -> frozenset[int]:
        """Return the numbers of all vectors that workers should have."""
        return frozenset(number for number, one in list(self.vectors.items()) if one.is_stored)

    def _has(self, node: Node) -> bool:
        vector = self.vectors.get(node.number)
        return vector is not None and vector.is_stored


def all_recipes(vectors: Iterable[Vector]) -> dict[int, Recipe]:
    """Return the recipes of all vectors."""
    return {node.number: node.recipe() for node in _closure((one.node for one in vectors), lambda node: False)}


def _closure(nodes: Iterable[Node], is_known: Any) -> Iterator[Node]:
    waiting, seen = list(nodes), set()
    while waiting:
        node = waiting.pop()
        if node.number not in seen and not is_known(node):
            seen.add(node.number)
            waiting += node.of
            yield node
