"""Many trees together: their sums over rows, reading them from checked plain data, and what features contribute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from argrank._types import Floats
from argrank.errors import ModelError, OptionError
from argrank.models._flat import FlatTrees
from argrank.models.model import read_width
from argrank.models.tree import Tree


def sums(trees: Sequence[Tree], X: Any, n_outputs: int = 1) -> Floats:
    """Return the sum of the trees' values for every row and output; tree i belongs to output i modulo ``n_outputs``."""
    return FlatTrees(trees, n_outputs).sums(X)


def importances(trees: Sequence[Tree], n_features: int, kind: str) -> Floats:
    """Return, for every feature, the sum of the gains of its splits, or their number."""
    if kind not in ("gain", "split"):
        raise OptionError(f'importance: expected "gain" or "split", got {kind!r}')
    total = np.zeros(n_features)
    for tree in trees:
        np.add.at(total, tree.feature, tree.gain if kind == "gain" else 1.0)
    return total


def contributions(trees: Sequence[Tree], X: Any, n_features: int) -> Floats:
    """Return what each feature adds to the score of every row of a block.

    The value of a node is the mean of its leaves, weighted by the documents they had in training. A split moves a row
    from the value of its node to that of the child; that step belongs to the feature of the split. The steps on the
    way to a leaf add up to the leaf's value minus the value of the root, which is the same for all rows.
    """
    rows = X.toarray() if sparse.issparse(X) else np.asarray(X)
    columns = np.ascontiguousarray(rows.T)
    total = np.zeros((rows.shape[0], n_features))
    for tree in trees:
        total += steps(tree, n_features)[tree.leaves(columns)]
    return total


def steps(tree: Tree, n_features: int) -> Floats:
    """Return for every leaf what each feature's splits add on the way to it."""
    mean = _node_means(tree)
    found = np.zeros((tree.n_leaves, n_features))
    waiting: list[tuple[int, Floats]] = [(0, np.zeros(n_features))] if tree.n_leaves > 1 else []
    while waiting:
        node, way = waiting.pop()
        for child in (int(tree.left[node]), int(tree.right[node])):
            longer = way.copy()
            longer[tree.feature[node]] += (tree.value[~child] if child < 0 else mean[child]) - mean[node]
            if child < 0:
                found[~child] = longer
            else:
                waiting.append((child, longer))
    return found


def trees_from(fields: Mapping[str, Any]) -> tuple[list[Tree], int]:
    """Return the trees of a model file and the number of features, all checked."""
    n_features, given = read_width(fields), fields.get("trees")
    if not isinstance(given, list) or not given:
        raise ModelError("expected a list of trees")
    return [_read_tree(number, tree, n_features) for number, tree in enumerate(given)], n_features


def _read_tree(number: int, fields: Any, n_features: int) -> Tree:
    try:
        return Tree.from_dict(fields, n_features)
    except ModelError as error:
        raise ModelError(f"tree {number}: {error}") from error


def _node_means(tree: Tree) -> Floats:
    """Return the mean value of every inner node; children come after their parents, so we go backwards."""
    weights = tree.count.astype(np.float64) if tree.count.all() else np.ones(tree.n_leaves)
    mean, weight = np.zeros(len(tree.left)), np.zeros(len(tree.left))
    for node in reversed(range(len(tree.left))):
        for child in (int(tree.left[node]), int(tree.right[node])):
            value, share = (tree.value[~child], weights[~child]) if child < 0 else (mean[child], weight[child])
            mean[node] += value * share
            weight[node] += share
        mean[node] /= weight[node]
    return mean
