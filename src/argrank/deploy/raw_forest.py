"""Trees in flat arrays that split raw features, with normalisers and preparations folded into the cuts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank.data.prepare.preparation import MISSING, Preparation
from argrank.deploy import cuts
from argrank.deploy.linear_part import Way
from argrank.deploy.splits import nan_sides
from argrank.models.forest import Forest
from argrank.models.tree import Tree

KEPT, GONE = -2, -3  # in addition to codes of derived columns: raw columns, and raw columns that are always 0


def forests(trees: Sequence[tuple[Tree, Way]], missing: str) -> tuple[Forest, Forest]:
    """Return all trees in flat arrays, twice: with float32 cuts and with float64 cuts; a missing category is no 0."""
    node_at = np.cumsum([0, *(len(tree.feature) for tree, _ in trees)])
    leaf_at = np.cumsum([0, *(tree.n_leaves for tree, _ in trees)])
    pairs = list(zip(trees, node_at[:-1], leaf_at[:-1], strict=True))

    def child(name: str) -> Any:
        parts = [
            np.where(getattr(tree, name) < 0, getattr(tree, name) - leaf, getattr(tree, name) + node)
            for (tree, _), node, leaf in pairs
        ]
        return np.concatenate(parts).astype(np.int64)

    feature, threshold, nan_left, value = (
        np.concatenate([part(tree) for tree, _ in trees])
        for part in (lambda t: t.feature, lambda t: t.threshold, nan_sides, lambda t: t.value)
    )
    roots = np.array([-1 - leaf if tree.n_leaves == 1 else node for (tree, _), node, leaf in pairs], np.int64)
    single, double = np.zeros(len(feature), np.float32), np.zeros(len(feature))
    owner = np.repeat([id(way.normaliser) for _, way in trees], np.diff(node_at))
    for normaliser in {id(way.normaliser): way.normaliser for _, way in trees}.values():
        own = owner == id(normaliser)
        single[own] = cuts.single_cuts(feature[own], threshold[own], normaliser)
        double[own] = cuts.double_cuts(feature[own], threshold[own], normaliser)
    members = {int(node) + own: kept for (tree, _), node, _ in pairs for own, kept in tree.categories.items()}
    single[list(members)] = double[list(members)] = np.inf
    left, right = child("left"), child("right")
    preparations = np.repeat([id(way.preparation) for _, way in trees], np.diff(node_at))
    found = []
    for cut in (single, double):
        forest = Forest(roots, feature, cut, nan_left, left, right, value, members)
        for preparation in {id(way.preparation): way.preparation for _, way in trees}.values():
            if preparation is not None:
                forest = on_raw_columns(forest, preparation, preparations == id(preparation))
        if missing == "zero":
            zero_left = forest.cut >= 0
            zero_left[list(forest.members)] = False
            forest = replace(forest, nan_left=zero_left)
        found.append(forest)
    return found[0], found[1]


def on_raw_columns(forest: Forest, preparation: Preparation, own: NDArray[np.bool_]) -> Forest:
    """Return a forest whose nodes split raw features instead of prepared ones.

    A split of a category's column becomes a split by that category; a split of a column that marks missing values sends
    all values left. A missing value takes the branch of its replacement.
    """
    n, kind = preparation.n_raw, forest.cut.dtype.type
    sources = np.concatenate((np.arange(n), preparation.source))
    codes = np.concatenate((np.full(n, KEPT), preparation.code))
    codes[preparation.texts] = GONE
    feature = np.where(own, sources[np.where(own, forest.feature, 0)], forest.feature)
    code = np.where(own, codes[np.where(own, forest.feature, 0)], KEPT)
    code[list(forest.members)] = KEPT
    cut, nan_left, left, right = forest.cut.copy(), forest.nan_left.copy(), forest.left.copy(), forest.right.copy()
    fill = preparation.fill.astype(kind)[np.where(own, feature, 0)]
    filled = own & (code == KEPT) & ~np.isnan(fill)
    nan_left[filled] = fill[filled] <= cut[filled]
    zero, one = cut >= 0, cut >= 1
    one_way = (code == GONE) | ((code != KEPT) & (zero == one))
    cut[one_way], nan_left[one_way] = np.where(zero[one_way], np.inf, -np.inf), zero[one_way]
    flags = ~one_way & (code == MISSING)
    cut[flags], nan_left[flags] = np.inf, False
    nodes = np.flatnonzero(~one_way & (code >= 0))
    cut[nodes], nan_left[nodes], left[nodes], right[nodes] = np.inf, False, forest.right[nodes], forest.left[nodes]
    members = {**forest.members, **{node: code[[node]] for node in nodes.tolist()}}
    return Forest(forest.roots, feature, cut, nan_left, left, right, forest.value, members)
