"""Many trees together: their sums over rows, checked plain data, importance of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from argrank._types import Floats, Integers
from argrank.errors import ModelError, OptionError
from argrank.models._tree import Tree

BLOCK_CELLS = 1 << 21  # values of a block of rows: they stay in the cache, and a node still has many rows
MOST_FEATURES = 1 << 31


def sums(trees: Sequence[Tree], X: Any, n_outputs: int = 1) -> Floats:
    """Return the sum of the trees' values for every row and output; tree i belongs to output i modulo ``n_outputs``.

    Values are added in the order of the trees, as LightGBM does, so that sums agree to the last bit.
    """
    used = np.unique(np.concatenate([np.empty(0, np.int64), *(tree.feature for tree in trees)]))
    trees = _narrowed(trees, used)
    totals = np.zeros((X.shape[0], n_outputs))
    n_rows = max(1, BLOCK_CELLS // max(1, len(used)))
    for start in range(0, X.shape[0], n_rows):
        rows = slice(start, start + n_rows)
        block = X[rows][:, used]
        columns = np.ascontiguousarray((block.toarray() if sparse.issparse(block) else block).T)
        for number, tree in enumerate(trees):
            totals[rows, number % n_outputs] += tree.value.take(tree.leaves(columns))
    return totals


def importances(trees: Sequence[Tree], n_features: int, kind: str) -> Floats:
    """Return, for every feature, the sum of the gains of its splits, or their number."""
    if kind not in ("gain", "split"):
        raise OptionError(f'importance: expected "gain" or "split", got {kind!r}')
    total = np.zeros(n_features)
    for tree in trees:
        np.add.at(total, tree.feature, tree.gain if kind == "gain" else 1.0)
    return total


def trees_from(fields: Mapping[str, Any]) -> tuple[list[Tree], int]:
    """Return the trees of a model file and the number of features, all checked."""
    n_features, given = fields.get("n_features"), fields.get("trees")
    if type(n_features) is not int or not 1 <= n_features <= MOST_FEATURES:
        raise ModelError(f"n_features: expected a whole number from 1 up, got {n_features!r:.60}")
    if not isinstance(given, list) or not given:
        raise ModelError("expected a list of trees")
    return [_read_tree(number, tree, n_features) for number, tree in enumerate(given)], n_features


def _read_tree(number: int, fields: Any, n_features: int) -> Tree:
    try:
        return Tree.from_dict(fields, n_features)
    except ModelError as error:
        raise ModelError(f"tree {number}: {error}") from error


def _narrowed(trees: Sequence[Tree], used: Integers) -> list[Tree]:
    """Return the trees with features numbered among the used ones."""
    return [replace(tree, feature=np.searchsorted(used, tree.feature)) for tree in trees]
