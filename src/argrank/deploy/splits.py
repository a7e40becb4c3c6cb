"""Trees in which every numeric split is a ``<=``: LightGBM's "zero is missing" becomes a chain of splits.

Such a split sends some runs of values left and the others right. With one border it is unchanged; with more it becomes
a chain, whose subtrees are repeated. Splits by category are unchanged.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from argrank._types import Integers
from argrank.errors import ModelError
from argrank.models.tree import ZERO, Tree

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
