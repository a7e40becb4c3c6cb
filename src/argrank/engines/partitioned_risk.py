"""The risk on partitions: the same blocks as on one machine, on the workers that hold their rows.

Vectors of scores are stored on the workers; the client has handles of them, with a number and a recipe each.
"""

from __future__ import annotations

import itertools
import uuid
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from argrank._types import Floats
from argrank.engines._part import Asked, Recipe, State, Task, work
from argrank.engines.local import SummedRisk
from argrank.errors import InputError, OptionError
from argrank.objectives.objective import Difference, Objective, query_weights, total_weight

if TYPE_CHECKING:
    from argrank.engines.partitioned import Partitioned

LEAVES = ("scores", "given")  # kinds of vectors that workers store after computing them
MOST_BYTES = 50e6  # bytes of all blocks' gradients; above it, partitions send sums, and rounding depends on them


class Session:
    """A fit on the workers: the state that they keep until it is closed or no longer needed."""

    def __init__(self, data: Partitioned) -> None:
        self.data, self.fit, self.space, self.objectives = data, uuid.uuid4().hex, Space(self), itertools.count()
        self.n_rebuilt = 0  # times that a worker lacked vectors and recomputed them
        self.close = weakref.finalize(self, data.forget, self.fit)
        self.close.atexit = False

    def run(self, do: Callable[..., Any], *arguments: Any, vectors: Iterable[Vector] = ()) -> list[Any]:
        """Run a task on every partition and return the results; ``vectors`` are those that it needs."""
        vectors, space = list(vectors), self.space
        unmade = space.unmade(vectors)
        leaves = [number for number, node in unmade.items() if node.kind in LEAVES and number in space.vectors]
        recipes = {number: node.recipe() for number, node in unmade.items()}
        dropped, space.dropped = space.dropped, []
        common: dict[str, Any] = {"fit": self.fit, "do": do, "arguments": arguments}
        tasks = [
            Task(part=i, borders=own, recipes=of, held=frozenset(leaves), dropped=tuple(dropped), **common)
            for i, (own, of) in enumerate(zip(self.data.borders, self._split(recipes), strict=True))
        ]
        is_small = all(recipe.kind != "given" for recipe in recipes.values())
        answers = self.data.ask(work, tasks) if is_small else self.data.run(work, tasks)
        lacking = [i for i, answer in enumerate(answers) if answer.missing]
        if lacking:
            split, held = self._split(all_recipes(vectors)), space.held() | frozenset(leaves)
            again = [Task(part=i, borders=tasks[i].borders, recipes=split[i], held=held, **common) for i in lacking]
            for i, answer in zip(lacking, self.data.run(work, again, lacking), strict=True):
                answers[i] = answer
            self.n_rebuilt += len(lacking)
        for number in leaves:
            if (vector := space.vectors.get(number)) is not None:
                vector.stored()
        return [answer.found for answer in answers]

    def gather(self, vector: Vector) -> Floats:
        """Return a vector of scores itself; it may be large."""
        return np.concatenate(self.run(State.vector, vector.node.number, vectors=[vector]))

    def _split(self, recipes: Mapping[int, Recipe]) -> list[Mapping[int, Recipe]]:
        """Return the recipes for every partition: given scores are split by rows."""
        given = {number: one for number, one in recipes.items() if one.kind == "given"}
        if not given:
            return [recipes] * self.data.n_partitions
        rows = itertools.pairwise(self.data.first_rows().tolist())
        return [{**recipes, **{n: one._replace(given=one.given[a:b]) for n, one in given.items()}} for a, b in rows]


class PartitionedRisk(SummedRisk):
    """The risk of a linear model on data on a cluster, bit-identical to one machine.

    Parameters
    ----------
    data : Partitioned
    objective : Objective
    session : Session, optional
        The session of another risk, to share its vectors.
    """

    per_query = False

    def __init__(self, data: Partitioned, objective: Objective, session: Session | None = None) -> None:
        super().__init__(objective)
        self.data, self.session = data, Session(data) if session is None else session
        self.n_queries, self.n_documents, self.n_features = data.n_queries, data.n_documents, data.n_features
        pairs = None
        if objective.mean_over == "pairs":
            pairs = np.concatenate(self.session.run(State.n_pairs, objective))
        self._asked = Asked(next(self.session.objectives), objective, total_weight(data, pairs))
        self.query_shares = query_weights(data) / self._asked.total
        n_blocks = sum(len(own) - 1 for own in data.borders)
        self._together = 8 * n_blocks * self.n_features > MOST_BYTES
        self._at: Floats | None = None

    def close(self) -> None:
        """Let the workers drop the state of this risk and of those that share its vectors."""
        self.session.close()

    def parts(self) -> tuple[PartitionedRisk, PartitionedRisk]:
        """Return the two convex risks of which this one, a tight bound, is the difference."""
        asked = cast(Difference, self.objective)
        convex, subtracted = asked.convex_part(), asked.subtracted_part()
        return PartitionedRisk(self.data, convex, self.session), PartitionedRisk(self.data, subtracted, self.session)

    def query(self, q: int, w: Floats) -> tuple[float, Floats, float]:
        """Raise: it would need a round trip for every query."""
        raise OptionError("query: expected a risk on one machine; on a cluster use a solver such as 'bundle'")

    def sample(self) -> tuple[int, Any] | None:
        """Return the bytes and the sizes of the samples of rankings that the objective has drawn, if it has."""
        found = self.session.run(State.sample, self._asked)
        return None if found[0] is None else (sum(one[0] for one in found), np.concatenate([one[1] for one in found]))

    def given_scores(self, values: Floats) -> Vector:
        """Return scores from given values, which are sent to the workers on first use."""
        return Vector(self.session.space, "given", given=values)

    @contextmanager
    def _counted(self, products: float) -> Iterator[None]:
        with super()._counted(products):
            yield
        self.data.traffic.passes += products / 2

    def _constant(self, value: float) -> Vector:
        return Vector(self.session.space, "constant", given=value)

    def _score(self, weights: Floats) -> Vector:
        return Vector(self.session.space, "scores", given=weights.copy())  # computed on first use

    def _at_weights(self, weights: Floats) -> tuple[list[float], list[Floats]]:
        self._at = weights.copy()
        found = self.session.run(State.at_weights, self._asked, self._at, self._together)
        return _chained(one[0] for one in found), _chained(one[1] for one in found)

    def _at_scores(self, scores: Vector) -> tuple[list[float], Vector]:
        if not isinstance(scores, Vector) or scores.space is not self.session.space:
            raise InputError(f"scores: expected scores of this risk, which are on a cluster, got {type(scores)}")
        u = Vector(scores.space, "slope", (scores,), self._asked)
        nodes = scores.space.unmade([scores]).values()
        along = {one.number for node in nodes for one in (node, *node.of) if one.kind not in ("constant", "times")}
        along.add(scores.node.number)
        arguments = (self._asked, scores.node.number, u.node.number, sorted(along))
        found = self.session.run(State.at_scores, *arguments, vectors=[scores])
        scores.stored()
        u.stored()
        u.dots = {number: _chained(one[1][number] for one in found) for number in along}
        return _chained(one[0] for one in found), u

    def _pull_back(self, u: Vector) -> list[Floats]:
        return _chained(self.session.run(State.pull_back, u.node.number, self._together, vectors=[u]))

    def _curve(self, direction: Floats) -> list[Floats]:
        if self._at is None:
            raise OptionError("hessian_product: expected a call of value_and_gradient before")
        return _chained(self.session.run(State.curve, self._asked, self._at, direction, self._together))

    def _dots(self, u: Vector, v: Vector) -> list[float]:
        known = u.dots.get(v.node.number) or v.dots.get(u.node.number)
        if known is not None:
            return known
        return _chained(self.session.run(State.dots, u.node.number, v.node.number, vectors=[u, v]))


def _chained(parts: Iterable[list[Any]]) -> list[Any]:
    return list(itertools.chain.from_iterable(parts))


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
