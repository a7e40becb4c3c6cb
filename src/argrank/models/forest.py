"""Many trees in flat arrays, for writers of engine formats and for their simulators."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats, Integers
from argrank.errors import ModelError

DEEPEST = 300  # levels; some engines' parsers refuse deeper nesting
BLOCK = 1 << 20  # paths of rows through trees that are followed at a time
APART = 1 << 32  # beyond every category


@dataclass(frozen=True, eq=False)
class Forest:
    """Inner nodes of all trees one after another. A child below 0 is a leaf: -1 is leaf 0, -2 leaf 1, and so on.

    A node with ``members`` has no cut: a value goes left if its integer part is one of them.
    """

    roots: Integers  # the first node of every tree, or its only leaf
    feature: Integers
    cut: NDArray[Any]  # thresholds
    nan_left: NDArray[np.bool_]
    left: Integers
    right: Integers
    value: Floats
    members: Mapping[int, Integers] = field(default_factory=dict)

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.roots)

    @property
    def categories(self) -> dict[int, list[int]]:
        """The categories that splits use, by feature."""
        found: dict[int, set[int]] = {}
        for node, members in self.members.items():
            found.setdefault(int(self.feature[node]), set()).update(members.tolist())
        return {feature: sorted(members) for feature, members in sorted(found.items())}

    def leaves(self, X: NDArray[Any], strict: bool = False) -> Integers:
        """Return the leaf of every row in every tree: a value goes left where ``value <= cut`` (``<`` if strict)."""
        reached = np.empty((len(X), self.n_trees), np.int64)
        step = max(1, BLOCK // max(1, self.n_trees))
        for start in range(0, len(X), step):
            reached[start : start + step] = self._leaves(X[start : start + step], strict)
        return reached

    def _leaves(self, X: NDArray[Any], strict: bool) -> Integers:
        at = np.tile(self.roots, (len(X), 1))
        rows, trees = np.nonzero(at >= 0)
        while len(rows):
            node = at[rows, trees]
            x, cut = X[rows, self.feature[node]], self.cut[node]
            goes = x < cut if strict else x <= cut
            if self.members:
                goes = np.where(self._by_category[0][node], self._belongs(node, x), goes)
            goes = np.where(np.isnan(x), self.nan_left[node], goes)
            at[rows, trees] = child = np.where(goes, self.left[node], self.right[node])
            rows, trees = rows[child >= 0], trees[child >= 0]
        return ~at

    @cached_property
    def _by_category(self) -> tuple[NDArray[np.bool_], Integers]:
        """Which nodes split by category, and all their members as sorted numbers of both."""
        nodes = list(self.members)
        splits = np.zeros(len(self.feature), bool)
        splits[nodes] = True
        return splits, np.sort(np.concatenate([node * APART + self.members[node] for node in nodes]))

    def _belongs(self, node: Integers, x: NDArray[Any]) -> NDArray[np.bool_]:
        keys = self._by_category[1]
        with np.errstate(invalid="ignore"):
            wanted = node * APART + np.where((x > -1) & (x < APART), np.trunc(x), -1).astype(np.int64)
        return np.asarray(keys[np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)] == wanted)

    def sums(self, X: NDArray[Any], kind: type[np.floating[Any]], strict: bool = False) -> Floats:
        """Return the sum of the leaves of every row, added tree by tree in numbers of the given kind."""
        return self._added(self.leaves(X, strict), kind)

    def rounding(self, reached: Integers) -> Floats:
        """Return for every row, given its leaves, how far their sum in float32 is from that in float64."""
        return np.abs(self._added(reached, np.float32) - self._added(reached, np.float64))

    def _added(self, reached: Integers, kind: type[np.floating[Any]]) -> Floats:
        values = self.value.astype(kind)
        total = np.zeros(len(reached), kind)
        for tree in range(self.n_trees):
            total += values[reached[:, tree]]
        return total.astype(np.float64)

    def sums_by_output(self, X: NDArray[Any], output: Integers) -> Floats:
        """Return several float64 sums of every row; ``output`` is the one that each tree adds its leaf to."""
        reached = self.leaves(X)
        total = np.zeros((len(X), int(output.max()) + 1))
        for tree, own in enumerate(output.tolist()):
            total[:, own] += self.value[reached[:, tree]]
        return total

    def magnitudes(self, reached: Integers) -> Floats:
        """Return for every row, given its leaves, the sum of their magnitudes: the scale of rounding errors."""
        return np.asarray(np.abs(self.value)[reached].sum(axis=1))

    def walk(self, root: int) -> Iterator[tuple[int, int]]:
        """Yield (node or leaf, depth) of a tree, parents before children, left before right."""
        waiting = [(root, 0)]
        while waiting:
            node, depth = waiting.pop()
            if depth > DEEPEST:
                raise ModelError(f"expected trees of at most {DEEPEST} levels, got a deeper one; train with max_depth")
            yield node, depth
            if node >= 0:
                waiting += [(int(self.right[node]), depth + 1), (int(self.left[node]), depth + 1)]

    def fold(self, root: int, leaf: Callable[[int], Any], split: Callable[[int, Any, Any], Any]) -> Any:
        """Return a tree in another form, from the leaves up: ``leaf`` of its number, ``split`` of node and children."""
        made: dict[int, Any] = {}
        for node, _ in reversed(list(self.walk(root))):
            if node < 0:
                made[node] = leaf(~node)
            else:
                made[node] = split(node, made.pop(int(self.left[node])), made.pop(int(self.right[node])))
        return made[root]


class Builder:
    """Collects nodes and leaves of trees; a parent is created before its children, which are set afterwards."""

    def __init__(self) -> None:
        self.roots: list[int] = []
        self.nodes: list[list[Any]] = []  # feature, cut, nan_left, left, right
        self.values: list[float] = []
        self.members: dict[int, Integers] = {}

    def leaf(self, value: float) -> int:
        """Add a leaf and return its number, below 0."""
        self.values.append(value)
        return -len(self.values)

    def node(self, feature: int, cut: float | Collection[int], nan_left: bool) -> int:
        """Add an inner node, with a cut or with the categories that go left, and return its number."""
        if isinstance(cut, Collection):
            self.members[len(self.nodes)] = np.array(sorted(cut), np.int64)
            cut = np.inf
        self.nodes.append([feature, cut, nan_left, 0, 0])
        return len(self.nodes) - 1

    def join(self, node: int, left: int, right: int) -> None:
        """Set a node's children."""
        self.nodes[node][3:] = left, right

    def forest(self, kind: type[np.floating[Any]] = np.float64) -> Forest:
        """Return the arrays."""
        columns = list(zip(*self.nodes, strict=True)) if self.nodes else [()] * 5
        return Forest(
            np.array(self.roots, np.int64),
            np.array(columns[0], np.int64),
            np.array(columns[1], kind),
            np.array(columns[2], bool),
            np.array(columns[3], np.int64),
            np.array(columns[4], np.int64),
            np.array(self.values, np.float64),
            self.members,
        )


def nested(builder: Builder, tree: Any, read: Any) -> int:
    """Add a tree of nested objects; ``read`` gives ``(feature, cut or members, nan_left, left, right)`` or a leaf."""
    found = read(tree)
    if not isinstance(found, tuple):
        return builder.leaf(found)
    feature, cut, nan_left, left, right = found
    node = builder.node(feature, cut, nan_left)
    builder.join(node, nested(builder, left, read), nested(builder, right, read))
    return node
