"""All trees of a model in flat arrays, with kernels for scores and for contributions of features.

Nodes of all trees are numbered consecutively; a child below 0 is a leaf, -1 the first of all. The kernel is loaded if
numba is already in memory, or once a process has predicted enough to make up for loading it; until then NumPy is used.
Both add the leaves' values in the order of the trees, as LightGBM does, so that sums are bit-identical.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
from scipy import sparse

from argrank._jit import helper, kernel, read_only
from argrank._types import Floats, Integers
from argrank.models._masks import ADD, FEWEST_ROWS, Masks, masks_of
from argrank.models._rows import blocks, kernel_pays
from argrank.models.tree import Nodes, Tree, flattened, joined

BLOCK_CELLS = 1 << 21  # values in a block of rows for NumPy: they fit the cache, and a node still has many rows
EMPTY = 2.0**-100  # documents of a leaf without any: below a node without any, leaves count alike


def _rows_and_nodes(types: ModuleType) -> tuple[Any, Any]:
    """Return the types of a matrix of rows and of the nodes of all trees."""
    read, whole, byte = (read_only(types, name) for name in ("float64", "int64", "int8"))
    nodes = types.NamedTuple((whole, read, whole, byte, byte, whole, whole, whole, read), Nodes)
    return types.Array(types.float64, 2, "C", readonly=True), nodes


@helper
def goes_right(x: float, node: int, nodes: Nodes) -> Any:
    """Return 1 or 0, whether a value goes right at a node with a rule of its own; -1 if its threshold decides."""
    if x != x:
        return nodes.nan_right[node]
    if nodes.kinds[node] == 1:  # ZERO_MISSING; LightGBM treats this range as 0
        return nodes.nan_right[node] if abs(x) <= 1.0000000180025095e-35 else -1
    if not x > -1.0:
        return 1
    member = int(x) if x < 4294967296.0 else -1
    for place in range(nodes.borders[node], nodes.borders[node + 1]):
        if nodes.categories[place] == member:
            return 0
    return 1


@helper
def below(x: float, node: int, nodes: Nodes) -> Any:
    """Return the child of a node that a value goes to."""
    right = 0 if x <= nodes.threshold[node] else 1
    if nodes.kinds[node] != 0 or x != x:
        other = goes_right(x, node, nodes)
        right = right if other < 0 else other
    return nodes.child[2 * node + right]


@kernel(lambda types: types.void(*_rows_and_nodes(types), types.float64[:, ::1]))
def add_leaf_values(
    X: Floats,
    nodes: Nodes,
    totals: Floats,
) -> None:
    """Add the value of its leaf in every tree to the totals of every row.

    Four rows go down a tree at a time: each step depends on the one before, and the processor can overlap four of them.
    """
    feature, roots, value = nodes.feature, nodes.roots, nodes.value
    n_rows, n_outputs = totals.shape
    for begin in range(0, n_rows, 64):  # rows that go through a tree together stay in the nearest cache
        end = min(n_rows, begin + 64)
        for tree in range(len(roots)):
            output = tree % n_outputs
            for row in range(begin, end, 4):
                a = roots[tree]
                b = a if row + 1 < end else -1
                c = a if row + 2 < end else -1
                d = a if row + 3 < end else -1
                while a >= 0 or b >= 0 or c >= 0 or d >= 0:
                    if a >= 0:
                        a = below(X[row, feature[a]], a, nodes)
                    if b >= 0:
                        b = below(X[row + 1, feature[b]], b, nodes)
                    if c >= 0:
                        c = below(X[row + 2, feature[c]], c, nodes)
                    if d >= 0:
                        d = below(X[row + 3, feature[d]], d, nodes)
                totals[row, output] += value[-1 - a]
                if row + 3 < end:
                    totals[row + 1, output] += value[-1 - b]
                    totals[row + 2, output] += value[-1 - c]
                    totals[row + 3, output] += value[-1 - d]
                else:
                    if row + 1 < end:
                        totals[row + 1, output] += value[-1 - b]
                    if row + 2 < end:
                        totals[row + 2, output] += value[-1 - c]


@kernel(
    lambda types: types.void(read_only(types, "int64"), read_only(types), read_only(types), *(types.float64[::1],) * 2)
)
def look_below(child: Integers, value: Floats, count: Floats, cover: Floats, mean: Floats) -> None:
    """Fill in the number of training documents of every inner node, and the mean value of their leaves."""
    for node in range(len(cover) - 1, -1, -1):  # children come after their parents
        for side in range(2):
            below = child[2 * node + side]
            share = count[-1 - below] if below < 0 else cover[below]
            cover[node] += share
            mean[node] += share * (value[-1 - below] if below < 0 else mean[below])
        mean[node] /= cover[node]


@kernel(lambda types: types.void(*_rows_and_nodes(types), read_only(types), types.float64[:, ::1]))
def add_steps(
    X: Floats,
    nodes: Nodes,
    mean: Floats,
    totals: Floats,
) -> None:
    """Add the step of every split, from its node's mean to the child's, to the total of the split's feature."""
    feature, roots, value = nodes.feature, nodes.roots, nodes.value
    for row in range(X.shape[0]):
        for tree in range(len(roots)):
            node = roots[tree]
            while node >= 0:
                split = feature[node]
                further = below(X[row, split], node, nodes)
                totals[row, split] += (value[-1 - further] if further < 0 else mean[further]) - mean[node]
                node = further


def _shapley(types: ModuleType) -> Any:
    (matrix, nodes), read = _rows_and_nodes(types), read_only(types)
    work = (types.float64[:, :, ::1], types.float64[:, ::1], types.int64[:, ::1])
    return types.void(matrix, nodes, read, read, matrix, *work, types.float64[:, ::1])


@kernel(_shapley)
def add_shapley(
    X: Floats,
    nodes: Nodes,
    count: Floats,
    cover: Floats,
    rule: Floats,
    sums: Floats,
    shares: Floats,
    way: Integers,
    totals: Floats,
) -> None:
    """Add the Shapley values of every row's features; the value of a set is the trees' expectation given its features.

    For a leaf this is a product over the features on the way to it: 1 or 0 for a known one, whether the row goes there,
    and the share of training documents that did so for an unknown one. With f(t) = share + (goes - share) t for every
    feature, a Shapley value is the integral from 0 to 1 over t of (goes - share) times the product of the others' f(t),
    a polynomial that Gauss's rule (points and weights in ``rule``) integrates exactly.

    A walk goes through every tree; ``sums`` holds by depth the products on the way and the sums of the leaves below,
    ``shares`` by feature its share and whether the row goes, then by depth what they were before, and ``way`` by depth
    the node, how many children were seen, the side of the row and the feature above.
    """
    feature, child, roots, value = nodes.feature, nodes.child, nodes.roots, nodes.value
    n_points, n_features = rule.shape[1], totals.shape[1]
    for row in range(X.shape[0]):
        for tree in range(len(roots)):
            depth = 0 if roots[tree] >= 0 else -1
            way[0, 0], way[0, 1], way[0, 2] = roots[tree], 0, -1
            for point in range(n_points):
                sums[0, 0, point], sums[1, 0, point] = 1.0, 0.0
            while depth >= 0:
                node = way[depth, 0]
                if way[depth, 1] < 2:  # go down to a child
                    side, split = way[depth, 1], feature[node]
                    if side == 0:
                        right = below(X[row, split], node, nodes)
                        way[depth, 2] = 0 if right == child[2 * node] else 1
                    way[depth, 1] += 1
                    further = child[2 * node + side]
                    old, went = shares[0, split], shares[1, split]
                    share = old * (count[-1 - further] if further < 0 else cover[further]) / cover[node]
                    goes = went if way[depth, 2] == side else 0.0
                    depth += 1
                    shares[0, n_features + depth], shares[1, n_features + depth] = old, went
                    shares[0, split], shares[1, split] = share, goes
                    way[depth, 0], way[depth, 1], way[depth, 3] = further, 0 if further >= 0 else 2, split
                    for point in range(n_points):
                        t = rule[0, point]
                        product = sums[0, depth - 1, point] * (share + (goes - share) * t) / (old + (went - old) * t)
                        sums[0, depth, point] = product
                        sums[1, depth, point] = 0.0 if further >= 0 else product * value[-1 - further]
                    continue
                if depth > 0:  # back to the parent: add the effect of the split's feature on the leaves below
                    split = way[depth, 3]
                    share, goes = shares[0, split], shares[1, split]
                    old, went = shares[0, n_features + depth], shares[1, n_features + depth]
                    own, before = 0.0, 0.0
                    for point in range(n_points):
                        t, part = rule[0, point], sums[1, depth, point]
                        sums[1, depth - 1, point] += part
                        own += rule[1, point] * part / (share + (goes - share) * t)
                        before += rule[1, point] * part / (old + (went - old) * t)
                    # an earlier split of the same feature counts these leaves with its own share
                    totals[row, split] += (goes - share) * own - (went - old) * before
                    shares[0, split], shares[1, split] = old, went
                depth -= 1


class FlatTrees:
    """Trees ready to predict; tree i belongs to output i modulo ``n_outputs``."""

    def __init__(self, trees: Sequence[Tree], n_outputs: int = 1) -> None:
        self._trees, self._n_outputs = trees, n_outputs
        self._nodes: Nodes | None = None
        self._masks: Masks | None = None
        self._is_large = False  # too large for masks
        self.used = np.unique(np.concatenate([np.empty(0, np.int64), *(tree.feature for tree in trees)]))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the nodes: in a copy their arrays would be writable, which the kernels refuse."""
        return self.__dict__ | {"_nodes": None, "_masks": None}

    def sums(self, X: Any) -> Floats:
        """Return the sum of the trees' values for every row and output."""
        totals = np.zeros((X.shape[0], self._n_outputs))
        if kernel_pays(X.shape[0] * len(self._trees)):
            self._by_kernel(X, totals)
        else:
            self._by_numpy(X, totals)
        return totals

    def contributions(self, X: Any) -> Floats:
        """Return the contribution of each feature to the score of every row.

        The value of a node is the mean of its leaves, weighted by the documents they had in training. A split moves a
        row from the value of its node to that of the child; that step belongs to the feature of the split. The steps on
        the way to a leaf add up to the leaf's value minus the value of the root, which is the same for all rows.
        """
        totals, (_, _, mean) = np.zeros(X.shape), self._training()
        for rows, part in blocks(X):
            add_steps(part, self._flat, mean, totals[rows])
        return totals

    def shap_values(self, X: Any) -> Floats:
        """Return the SHAP values of every row's features, as LightGBM defines them, exactly."""
        totals, (count, cover, _) = np.zeros(X.shape), self._training()
        deepest = max((tree.depth for tree in self._trees), default=0)
        points, weights = np.polynomial.legendre.leggauss(max(1, (deepest + 1) // 2))
        rule = np.array([0.5 * (points + 1.0), 0.5 * weights])
        sums, way = np.zeros((2, deepest + 1, rule.shape[1])), np.zeros((deepest + 1, 4), np.int64)
        for rows, part in blocks(X):
            shares = np.ones((2, X.shape[1] + deepest + 1))
            add_shapley(part, self._flat, count, cover, rule, sums, shares, way, totals[rows])
        return totals

    def _training(self) -> tuple[Floats, Floats, Floats]:
        """Return the documents of every leaf and node in training, and the mean value of every node."""
        count = np.maximum(joined([tree.count for tree in self._trees], np.float64), EMPTY)
        child, value = self._flat.child, self._flat.value
        cover, mean = np.zeros(len(child) // 2), np.zeros(len(child) // 2)
        look_below(child, value, count, cover, mean)
        return count, cover, mean

    @property
    def _flat(self) -> Nodes:
        if self._nodes is None:
            self._nodes = flattened(self._trees)
        return self._nodes

    def _by_kernel(self, X: Any, totals: Floats) -> None:
        if X.shape[0] >= FEWEST_ROWS and self._masks is None and not self._is_large:
            self._masks = masks_of(self._flat, self._trees)
            self._is_large = self._masks is None
        for rows, part in blocks(X):
            if self._masks is not None and len(part) >= FEWEST_ROWS:
                ADD[self._masks.mask.dtype](part, self._masks, totals[rows])
            else:
                add_leaf_values(part, self._flat, totals[rows])

    def _by_numpy(self, X: Any, totals: Floats) -> None:
        n_rows = max(1, BLOCK_CELLS // max(1, len(self.used)))
        for start in range(0, X.shape[0], n_rows):
            rows = slice(start, start + n_rows)
            block = X[rows][:, self.used]
            columns = np.ascontiguousarray((block.toarray() if sparse.issparse(block) else block).T)
            for number, tree in enumerate(self._trees):
                leaves = tree.leaves(columns, np.searchsorted(self.used, tree.feature))
                totals[rows, number % self._n_outputs] += tree.value.take(leaves)
