"""What each feature adds to the score of trees: the steps of a row's way from the root to its leaf.

A node is worth the mean of its leaves, weighted by the documents they had in training. A split moves a row from the
worth of its node to that of the child; that step belongs to the feature of the split. Along a way the steps add up to
the leaf's value minus the worth of the root, which is the same for all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from argrank._types import Floats
from argrank.models._tree import Tree


def path_contributions(trees: Sequence[Tree], X: Any, n_features: int) -> Floats:
    """Return one row of steps, summed by feature over all trees, for every row of a block."""
    rows = X.toarray() if sparse.issparse(X) else np.asarray(X)
    columns = np.ascontiguousarray(rows.T)
    total = np.zeros((rows.shape[0], n_features))
    for tree in trees:
        total += steps(tree, n_features)[tree.leaves(columns)]
    return total


def steps(tree: Tree, n_features: int) -> Floats:
    """Return for every leaf what each feature's splits add on the way to it."""
    worth = _worth(tree)
    found = np.zeros((tree.n_leaves, n_features))
    waiting: list[tuple[int, Floats]] = [(0, np.zeros(n_features))] if tree.n_leaves > 1 else []
    while waiting:
        node, way = waiting.pop()
        for child in (int(tree.left[node]), int(tree.right[node])):
            longer = way.copy()
            longer[tree.feature[node]] += (tree.value[~child] if child < 0 else worth[child]) - worth[node]
            if child < 0:
                found[~child] = longer
            else:
                waiting.append((child, longer))
    return found


def _worth(tree: Tree) -> Floats:
    """Return the mean value of every inner node; children come after their parents, so backwards it goes."""
    weights = tree.count.astype(np.float64) if tree.count.all() else np.ones(tree.n_leaves)
    worth, weight = np.zeros(len(tree.left)), np.zeros(len(tree.left))
    for node in reversed(range(len(tree.left))):
        for child in (int(tree.left[node]), int(tree.right[node])):
            value, share = (tree.value[~child], weights[~child]) if child < 0 else (worth[child], weight[child])
            worth[node] += value * share
            weight[node] += share
        worth[node] /= weight[node]
    return worth
