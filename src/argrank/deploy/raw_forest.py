"""Trees in flat arrays that split raw features, with normalisers and preparations folded into the cuts.

Every numeric split is a ``<=``: LightGBM's "zero is missing", which sends some runs of values left and the others
right, becomes a chain of splits, whose subtrees are repeated. Splits by category are unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._types import Integers
from argrank.data.prepare.preparation import MISSING, Preparation
from argrank.deploy import cuts
from argrank.deploy.linear_part import Way
from argrank.errors import ModelError
from argrank.models.forest import Forest
from argrank.models.tree import ZERO, Tree

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


MOST_NEW = 64  # nodes that chains may add to a tree
LEFT, RIGHT = True, False


class Runs(NamedTuple):
    """Upper ends (inclusive) of all runs but the last, the side of every run, and the side of NaN."""

    ends: list[float]
    sides: list[bool]
    nan: bool


def plain_splits(tree: Tree) -> Tree:
    """Return the tree with splits by ``<=`` alone, each with its own way for NaN (missing type "nan")."""
    nodes: list[tuple[int, float, bool]] = []
    children: list[list[int]] = []
    categories: dict[int, Integers] = {}
    leaves: list[int] = []

    def copy(child: int) -> int:
        """Copy the subtree below a child of the old tree; return its new number."""
        if child < 0:
            leaves.append(~child)
            return -len(leaves)
        runs = _runs(tree, child)
        left, right = int(tree.left[child]), int(tree.right[child])
        first = parent = -1
        for end, side in zip(runs.ends, runs.sides, strict=False):
            nodes.append((int(tree.feature[child]), end, side == runs.nan))
            children.append([0, 0])
            here = len(nodes) - 1
            if child in tree.categories:
                categories[here] = tree.categories[child]
            if len(nodes) > len(tree.feature) + MOST_NEW:
                raise ModelError(
                    f"a tree treats 0 as missing at too many splits to express with {MOST_NEW} further splits"
                )
            if parent >= 0:
                children[parent][1] = here
            else:
                first = here
            children[here][0] = copy(left if side else right)
            parent = here
        children[parent][1] = copy(left if runs.sides[-1] else right)
        return first

    if tree.n_leaves == 1:
        return tree
    copy(0)
    feature, threshold, nan_left = zip(*nodes, strict=True)
    return Tree(
        np.array(feature, np.int64),
        np.array(threshold),
        np.array(nan_left, bool),
        np.full(len(nodes), 2, np.int64),
        np.array([left for left, _ in children], np.int64),
        np.array([right for _, right in children], np.int64),
        np.zeros(len(nodes)),
        tree.value[leaves],
        tree.count[leaves],
        categories,
    )


def needs_chains(tree: Tree) -> bool:
    """Tell whether a split may have more than one border."""
    return bool((tree.missing == 1).any())


def nan_sides(tree: Tree) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return for every split whether NaN goes left: the default way, or as 0 after normalising; never by category."""
    sides = np.where(tree.missing == 0, tree.threshold >= 0, tree.default_left)
    sides[list(tree.categories)] = RIGHT
    return sides


def _runs(tree: Tree, node: int) -> Runs:
    if node in tree.categories:
        return Runs([0.0], [LEFT, RIGHT], RIGHT)
    threshold, default = float(tree.threshold[node]), bool(tree.default_left[node])
    nan = bool(nan_sides(tree)[node])
    if tree.missing[node] != 1:
        return Runs([threshold], [LEFT, RIGHT], nan)
    below = float(np.nextafter(-ZERO, -np.inf))
    ends = sorted({below, ZERO, threshold})
    inside = [below < end <= ZERO for end in ends]
    sides = [default if zero else end <= threshold for end, zero in zip(ends, inside, strict=True)]
    return _merged(ends, [*sides, RIGHT], nan)


def _merged(ends: list[float], sides: list[bool], nan: bool) -> Runs:
    """Join neighbouring runs of one side, and empty ones; at least one border stays."""
    kept_ends: list[float] = []
    kept_sides: list[bool] = []
    for i, side in enumerate(sides):
        if i + 1 < len(sides) and i > 0 and ends[i] <= ends[i - 1]:
            continue
        if kept_sides and kept_sides[-1] == side:
            if i + 1 < len(sides):
                kept_ends[-1] = ends[i]
            else:
                kept_ends.pop()
            continue
        kept_sides.append(side)
        if i + 1 < len(sides):
            kept_ends.append(ends[i])
    if not kept_ends:  # all numbers go one way, NaN perhaps the other
        greatest = float(np.finfo(np.float64).max)
        return Runs([greatest], [kept_sides[0], not kept_sides[0]], nan)
    return Runs(kept_ends, kept_sides, nan)
