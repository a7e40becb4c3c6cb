"""The nodes of all trees of a model in flat arrays, in the kernels' form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats, Integers
from argrank.models.tree import Tree

PLAIN, ZERO_MISSING, CATEGORICAL = 0, 1, 2


class Nodes(NamedTuple):
    """All trees in the kernels' form; the arrays are read-only, as the kernels declare them."""

    feature: Integers
    threshold: Floats
    child: Integers  # the left and the right one of every node
    kinds: NDArray[np.int8]
    nan_right: NDArray[np.int8]
    borders: Integers  # of the categories of every node
    categories: Integers
    roots: Integers
    value: Floats  # of the leaves


def flattened(trees: Sequence[Tree]) -> Nodes:
    """Return the nodes of all trees in the kernels' form."""
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
    found = Nodes(
        joined([tree.feature for tree in trees], np.int64),
        joined([tree.threshold for tree in trees], np.float64),
        child.ravel(),
        kinds,
        nan_right,
        np.cumsum(counts),
        joined(categories, np.int64),
        np.where(sizes > 0, first_node, -1 - first_leaf),
        joined([tree.value for tree in trees], np.float64),
    )
    for array in found:
        array.flags.writeable = False
    return found


def joined(arrays: Sequence[Any], dtype: Any) -> Any:
    return np.concatenate([np.empty(0, dtype), *arrays]).astype(dtype)
