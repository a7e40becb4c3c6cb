"""All trees of a model in flat arrays, and one kernel that walks rows through them.

Nodes of all trees are numbered through; a child below 0 is a leaf, -1 the first of all. The kernel is loaded if
numba is in memory already, or once a process has predicted enough to pay for it; until then NumPy walks. Both add the
leaves' values in the order of the trees, as LightGBM does, so that sums have the same bits.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from argrank._jit import helper, kernel, read_only
from argrank._types import Floats, Integers
from argrank.models.tree import Tree

BLOCK_CELLS = 1 << 21  # values in a block of rows for NumPy: they fit the cache, and a node still has many rows
KERNEL_CELLS = 1 << 16  # the same for the kernel, which needs float64
LOADING = 300_000  # rows times trees that NumPy walks in the time it takes to load the kernel
PLAIN, ZERO_MISSING, CATEGORICAL = 0, 1, 2


def _signature(types: Any) -> Any:
    matrix = types.Array(types.float64, 2, "C", readonly=True)
    read, whole = read_only(types), read_only(types, "int64")
    nodes = (whole, read, whole, read_only(types, "int8"), read_only(types, "int8"))
    return types.void(matrix, *nodes, whole, whole, whole, read, types.float64[:, ::1])


@helper
def goes_right(x: Any, node: Any, kinds: Any, nan_right: Any, borders: Any, categories: Any) -> Any:
    """Return 1 or 0, whether a value goes right at a node with a rule of its own; -1 where its threshold decides."""
    if x != x:
        return nan_right[node]
    if kinds[node] == 1:  # ZERO_MISSING; what LightGBM takes for 0
        return nan_right[node] if abs(x) <= 1.0000000180025095e-35 else -1
    if not x > -1.0:
        return 1
    member = int(x) if x < 4294967296.0 else -1
    for place in range(borders[node], borders[node + 1]):
        if categories[place] == member:
            return 0
    return 1


@helper
def below(
    x: Any, node: Any, threshold: Any, child: Any, kinds: Any, nan_right: Any, borders: Any, categories: Any
) -> Any:
    """Return the child of a node that a value goes to."""
    right = 0 if x <= threshold[node] else 1
    if kinds[node] != 0 or x != x:
        other = goes_right(x, node, kinds, nan_right, borders, categories)
        right = right if other < 0 else other
    return child[2 * node + right]


@kernel(_signature)
def add_leaf_values(
    X: Any,
    feature: Any,
    threshold: Any,
    child: Any,
    kinds: Any,
    nan_right: Any,
    borders: Any,
    categories: Any,
    roots: Any,
    value: Any,
    totals: Any,
) -> None:
    """Add the value of its leaf in every tree to the totals of every row.

    Four rows go down a tree at a time: each step waits for the one before, and the processor can wait for four at once.
    """
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
                        a = below(X[row, feature[a]], a, threshold, child, kinds, nan_right, borders, categories)
                    if b >= 0:
                        b = below(X[row + 1, feature[b]], b, threshold, child, kinds, nan_right, borders, categories)
                    if c >= 0:
                        c = below(X[row + 2, feature[c]], c, threshold, child, kinds, nan_right, borders, categories)
                    if d >= 0:
                        d = below(X[row + 3, feature[d]], d, threshold, child, kinds, nan_right, borders, categories)
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


class FlatTrees:
    """Trees ready to predict; tree i belongs to output i modulo ``n_outputs``."""

    _walked = 0  # rows times trees by NumPy in this process

    def __init__(self, trees: Sequence[Tree], n_outputs: int = 1) -> None:
        self._trees, self._n_outputs = trees, n_outputs
        self._nodes: tuple[Any, ...] | None = None
        self.used = np.unique(np.concatenate([np.empty(0, np.int64), *(tree.feature for tree in trees)]))

    def sums(self, X: Any) -> Floats:
        """Return the sum of the trees' values for every row and output."""
        cells = X.shape[0] * len(self._trees)
        totals = np.zeros((X.shape[0], self._n_outputs))
        if "numba" in sys.modules or FlatTrees._walked + cells > LOADING:
            self._by_kernel(X, totals)
        else:
            FlatTrees._walked += cells
            self._by_numpy(X, totals)
        return totals

    def _by_kernel(self, X: Any, totals: Floats) -> None:
        if self._nodes is None:
            self._nodes = _flattened(self._trees)
        whole = isinstance(X, np.ndarray) and X.dtype == np.float64 and X.flags.c_contiguous
        n_rows = max(1, X.shape[0] if whole else KERNEL_CELLS // max(1, X.shape[1]))
        for start in range(0, X.shape[0], n_rows):
            rows = X[start : start + n_rows]
            if not whole:
                rows = np.ascontiguousarray(rows.toarray() if sparse.issparse(rows) else rows, np.float64)
            add_leaf_values(rows, *self._nodes, totals[start : start + n_rows])

    def _by_numpy(self, X: Any, totals: Floats) -> None:
        n_rows = max(1, BLOCK_CELLS // max(1, len(self.used)))
        for start in range(0, X.shape[0], n_rows):
            rows = slice(start, start + n_rows)
            block = X[rows][:, self.used]
            columns = np.ascontiguousarray((block.toarray() if sparse.issparse(block) else block).T)
            for number, tree in enumerate(self._trees):
                leaves = tree.leaves(columns, np.searchsorted(self.used, tree.feature))
                totals[rows, number % self._n_outputs] += tree.value.take(leaves)


def _flattened(trees: Sequence[Tree]) -> tuple[Any, ...]:
    """Return the nodes of all trees as the kernel takes them."""
    sizes = np.array([len(tree.feature) for tree in trees], np.int64)
    leaves = np.array([tree.n_leaves for tree in trees], np.int64)
    first_node, first_leaf = np.cumsum(sizes) - sizes, np.cumsum(leaves) - leaves
    n_nodes = int(sizes.sum())
    child = np.empty((n_nodes, 2), np.int64)
    kinds, nan_right = np.zeros(n_nodes, np.int8), np.ones(n_nodes, np.int8)
    counts = np.zeros(n_nodes + 1, np.int64)
    categories: list[Integers] = []
    for tree, node, leaf in zip(trees, first_node.tolist(), first_leaf.tolist(), strict=True):
        here = slice(node, node + len(tree.feature))
        for side, children in enumerate((tree.left, tree.right)):
            child[here, side] = np.where(children >= 0, children + node, children - leaf)
        kinds[here] = np.where(tree.missing == 1, ZERO_MISSING, PLAIN)
        nan_right[here] = ~np.where(tree.missing > 0, tree.default_left, tree.threshold >= 0)
        for place in sorted(tree.categories):
            kinds[node + place], nan_right[node + place] = CATEGORICAL, 1
            counts[node + place + 1] = len(tree.categories[place])
            categories.append(tree.categories[place])
    return (
        _joined([tree.feature for tree in trees], np.int64),
        _joined([tree.threshold for tree in trees], np.float64),
        child.ravel(),
        kinds,
        nan_right,
        np.cumsum(counts),
        _joined(categories, np.int64),
        np.where(sizes > 0, first_node, -1 - first_leaf),
        _joined([tree.value for tree in trees], np.float64),
    )


def _joined(arrays: Sequence[Any], dtype: Any) -> Any:
    return np.concatenate([np.empty(0, dtype), *arrays]).astype(dtype)
