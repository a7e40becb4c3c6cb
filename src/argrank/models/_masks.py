"""Scores of many rows by trees of few leaves, with bit masks: every node removes the leaves that it excludes.

The leaves of a tree are the bits of a number, from left to right. A node that sends a row right clears the leaves on
its left; after all nodes of a tree the lowest remaining bit is the row's leaf (Lucchese et al., QuickScorer, SIGIR
2015). A node is one vector comparison with a cut, which for trees of up to 63 leaves costs less than half as much as
traversing them. Sums are bit-identical to those of the traversal.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._jit import LazyKernel, helper, kernel, read_only
from argrank._types import Filled, Floats, Integers
from argrank.models.tree import CATEGORICAL, ZERO_MISSING, Nodes, Tree

FEWEST_ROWS = 16  # with fewer rows the trees are traversed: vectors would be too short
MOST_LEAVES = 63
MOST_CELLS = 1 << 24  # of the tables of categories
SLOTS = 67  # the powers of 2 up to the 65th have different remainders, by which a bit finds its leaf's value
NAN_LEFT, NAN_RIGHT, BY_TABLE = 0, 1, 2  # rules of nodes
AS_IT_IS, ZERO_LEFT, ZERO_RIGHT, CODE = 0, 1, 2, 3  # how a column is derived from a feature


class Masks(NamedTuple):
    """Trees in the kernels' form; the arrays are read-only, as the kernels declare them."""

    source: Integers  # the feature of every column
    variant: NDArray[np.int8]  # of every column
    known_at: Integers  # borders of the columns' known categories
    known: Integers
    borders: Integers  # of the trees' nodes
    column: Integers  # of every node
    rule: NDArray[np.int8]
    cut: Floats
    table_at: Integers  # where the table of a node begins
    table: NDArray[np.int8]  # 1 where a category goes right
    mask: NDArray[Any]  # the leaves that remain where a row goes right
    value: Floats  # (trees, SLOTS)


def masks_of(nodes: Nodes, trees: Sequence[Tree]) -> Masks | None:
    """Return trees, whose nodes are given, by masks; None if they are too large."""
    n_leaves = np.array([tree.n_leaves for tree in trees], np.int64)
    if not len(nodes.feature) or n_leaves.max() > MOST_LEAVES:
        return None
    by_code = nodes.kinds == CATEGORICAL
    variant = np.where(by_code, CODE, AS_IT_IS)
    zero = nodes.kinds == ZERO_MISSING
    variant[zero] = np.where(nodes.nan_right[zero] == 1, ZERO_RIGHT, ZERO_LEFT)
    columns, column = np.unique(nodes.feature * 4 + variant, return_inverse=True)
    known = [_members(nodes, np.flatnonzero(by_code & (column == place))) for place in range(len(columns))]
    n_known = np.array([len(one) for one in known], np.int64)
    length = np.where(by_code, n_known[column] + 1, 0)
    if length.sum() > MOST_CELLS:
        return None
    table_at = np.cumsum(length) - length
    table = np.ones(int(length.sum()), np.int8)
    for node in np.flatnonzero(by_code).tolist():
        own = nodes.categories[nodes.borders[node] : nodes.borders[node + 1]]
        table[table_at[node] + np.searchsorted(known[column[node]], own)] = 0
    first, left = np.zeros((2, len(column)), np.int64)
    place = np.zeros(len(nodes.value), np.int64)
    lay_out(nodes.child, nodes.roots, first, left, place)
    crossed = ((np.int64(1) << left) - 1) << first
    tree_of_leaf = np.repeat(np.arange(len(trees)), n_leaves)
    value = np.zeros((len(trees), SLOTS))
    value[tree_of_leaf, (np.int64(1) << place) % SLOTS] = nodes.value
    found = Masks(
        columns // 4,
        (columns % 4).astype(np.int8),
        np.cumsum([0, *n_known]),
        np.concatenate([np.empty(0, np.int64), *known]),
        np.cumsum([0, *(n_leaves - 1)]),
        column.astype(np.int64),
        np.where(by_code, BY_TABLE, np.where((nodes.nan_right == 1) & ~zero, NAN_RIGHT, NAN_LEFT)).astype(np.int8),
        nodes.threshold,
        table_at,
        table,
        (~crossed).astype(np.int32 if n_leaves.max() < 32 else np.int64),
        value,
    )
    for array in found:
        array.flags.writeable = False
    return found


def _members(nodes: Nodes, own: Integers) -> Integers:
    """Return all categories of some nodes, sorted."""
    parts = [nodes.categories[nodes.borders[node] : nodes.borders[node + 1]] for node in own.tolist()]
    return np.unique(np.concatenate([np.empty(0, np.int64), *parts]))


@kernel()
def lay_out(
    child: Integers, roots: Integers, first: Filled[np.int64], left: Filled[np.int64], place: Filled[np.int64]
) -> None:
    """Fill in the first leaf below every node, how many are on its left, and the place of every leaf in its tree."""
    for node in range(len(left) - 1, -1, -1):  # first the number of leaves below; children come after their parents
        for side in range(2):
            further = child[2 * node + side]
            left[node] += 1 if further < 0 else left[further]
    for node in range(len(left)):
        a, b = child[2 * node], child[2 * node + 1]
        left[node] = 1 if a < 0 else left[a]
        if a < 0:
            place[-1 - a] = first[node]
        else:
            first[a] = first[node]
        if b < 0:
            place[-1 - b] = first[node] + left[node]
        else:
            first[b] = first[node] + left[node]


@helper
def fill_columns(X: Floats, masks: Masks, start: int, n: int, columns: Floats) -> None:
    """Fill in the columns that nodes compare, of rows from ``start``."""
    for j in range(len(masks.source)):
        feature, variant = masks.source[j], masks.variant[j]
        first, end = masks.known_at[j], masks.known_at[j + 1]
        for i in range(n):
            x = X[start + i, feature]
            if variant == 3:  # CODE: the index among the known ones, or their number
                low, high, wanted = first, end, int(x) if x > -1.0 and x < 4294967296.0 else -1
                while low < high:
                    middle = (low + high) // 2
                    if masks.known[middle] < wanted:
                        low = middle + 1
                    else:
                        high = middle
                x = low - first if low < end and masks.known[low] == wanted else end - first
            elif variant != 0 and not abs(x) > 1.0000000180025095e-35:  # what LightGBM takes for 0, or NaN
                x = -np.inf if variant == 1 else np.inf
            columns[j, i] = x


@helper
def cross_out(column: Floats, masks: Masks, node: int, n: int, left: NDArray[Any]) -> None:
    """Clear the leaves on the left of a node for the rows that go right."""
    rule, cut, mask, table = masks.rule[node], masks.cut[node], masks.mask[node], masks.table_at[node]
    if rule == 0:  # NAN_LEFT
        for i in range(n):
            left[i] = left[i] & mask if column[i] > cut else left[i]
    elif rule == 1:  # NAN_RIGHT: not below the cut either
        for i in range(n):
            left[i] = left[i] if column[i] <= cut else left[i] & mask
    else:  # BY_TABLE
        for i in range(n):
            left[i] = left[i] & mask if masks.table[table + int(column[i])] == 1 else left[i]


def _add(X: Floats, masks: Masks, totals: Floats) -> None:
    """Add the value of its leaf in every tree to the totals of every row."""
    n_rows, n_outputs = totals.shape
    size = max(1, min(n_rows, 256))
    columns, left = np.empty((len(masks.source), size)), np.empty(size, masks.mask.dtype)
    for start in range(0, n_rows, size):
        n = min(size, n_rows - start)
        fill_columns(X, masks, start, n, columns)
        for tree in range(len(masks.value)):
            for i in range(n):
                left[i] = -1
            for node in range(masks.borders[tree], masks.borders[tree + 1]):
                cross_out(columns[masks.column[node]], masks, node, n, left)
            value, output = masks.value[tree], tree % n_outputs
            for i in range(n):
                bits = left[i]
                totals[start + i, output] += value[(bits ^ (bits & (bits - 1))) % 67]  # SLOTS


def _signature(element: str) -> Any:
    def signature(types: ModuleType) -> Any:
        read, whole, byte = (read_only(types, name) for name in ("float64", "int64", "int8"))
        matrix = types.Array(types.float64, 2, "C", readonly=True)
        nodes = (whole, whole, byte, read, whole, byte, read_only(types, element))
        masks = types.NamedTuple((whole, byte, whole, whole, *nodes, matrix), Masks)
        return types.void(matrix, masks, types.float64[:, ::1])

    return signature


#: By the size of the masks: half the size, twice the rows in a vector.
ADD: dict[Any, LazyKernel] = {np.dtype(name): kernel(_signature(name))(_add) for name in ("int32", "int64")}
