"""Pairwise squared hinge: RankSVM's loss, without ever forming the pairs of graded labels.

For a query, the sum over pairs (i better than j) of ``max(0, 1 - (s_i - s_j))^2``. Sorted by score, the pairs that a
document takes part in are those within a moving border (Lee & Lin 2014; Airola et al. 2011), so sums per label level
give value, gradient and Hessian products in O(n L) after the sort.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._jit import curvature_kernel, query_kernel
from argrank.data.dataset import Dataset
from argrank.objectives._base import (
    Floats,
    Integers,
    Kernels,
    Objective,
    Prepared,
    refuse_row_weights,
    require_labels,
)


@query_kernel
def _squared_hinge(scores: Any, order: Any, gains: Any, constants: Any, gradient: Any) -> float:
    """Add up hinges per level; ``gains`` are level numbers.

    A hinge is ``s_j - border`` with the border ``s_i - 1``. While i moves down the ranking the border only falls, so
    each level's count, sum and sum of squares of hinges are moved along by adding positive amounts: nothing cancels,
    whatever the scale of the scores.
    """
    n = len(scores)
    n_levels = 0
    for row in range(n):
        gradient[row] = 0.0
        n_levels = max(n_levels, int(gains[row]) + 1)
    count, hinges, squares = np.zeros(n_levels), np.zeros(n_levels), np.zeros(n_levels)
    loss = 0.0
    border, reached = 0.0, 0
    for place in range(n):  # better documents, best score first
        better = order[place]
        level = int(gains[better])
        if level == 0:
            continue
        fall = border - (scores[better] - 1.0)
        border = scores[better] - 1.0
        if reached > 0:
            for lower in range(n_levels - 1):
                squares[lower] += fall * (2.0 * hinges[lower] + fall * count[lower])
                hinges[lower] += fall * count[lower]
        while reached < n and scores[order[reached]] > border:
            lower = int(gains[order[reached]])
            hinge = scores[order[reached]] - border
            count[lower] += 1.0
            hinges[lower] += hinge
            squares[lower] += hinge * hinge
            reached += 1
        total = 0.0
        for lower in range(level):
            total += hinges[lower]
            loss += squares[lower]
        gradient[better] -= 2.0 * total
    count[:] = 0.0
    hinges[:] = 0.0
    reached = n - 1
    for place in range(n - 1, -1, -1):  # worse documents, worst score first: the border s_j + 1 only rises
        worse = order[place]
        level = int(gains[worse])
        if level == n_levels - 1:
            continue
        rise = scores[worse] + 1.0 - border
        border = scores[worse] + 1.0
        if reached < n - 1:
            for upper in range(1, n_levels):
                hinges[upper] += rise * count[upper]
        while reached >= 0 and scores[order[reached]] < border:
            upper = int(gains[order[reached]])
            count[upper] += 1.0
            hinges[upper] += border - scores[order[reached]]
            reached -= 1
        total = 0.0
        for upper in range(level + 1, n_levels):
            total += hinges[upper]
        gradient[worse] += 2.0 * total
    return loss


@curvature_kernel
def _squared_hinge_curvature(scores: Any, order: Any, gains: Any, constants: Any, direction: Any, product: Any) -> None:
    """Sum ``2 (v_i - v_j)`` over the active pairs of every document, with counts and sums of v per level."""
    n = len(scores)
    n_levels = 0
    for row in range(n):
        product[row] = 0.0
        n_levels = max(n_levels, int(gains[row]) + 1)
    count, sums = np.zeros(n_levels), np.zeros(n_levels)
    reached = 0
    for place in range(n):
        better = order[place]
        level = int(gains[better])
        if level == 0:
            continue
        border = scores[better] - 1.0
        while reached < n and scores[order[reached]] > border:
            lower = int(gains[order[reached]])
            count[lower] += 1.0
            sums[lower] += direction[order[reached]]
            reached += 1
        for lower in range(level):
            product[better] += 2.0 * (count[lower] * direction[better] - sums[lower])
    count[:] = 0.0
    sums[:] = 0.0
    reached = n - 1
    for place in range(n - 1, -1, -1):
        worse = order[place]
        level = int(gains[worse])
        if level == n_levels - 1:
            continue
        border = scores[worse] + 1.0
        while reached >= 0 and scores[order[reached]] < border:
            upper = int(gains[order[reached]])
            count[upper] += 1.0
            sums[upper] += direction[order[reached]]
            reached -= 1
        for upper in range(level + 1, n_levels):
            product[worse] += 2.0 * (count[upper] * direction[worse] - sums[upper])


@dataclass(frozen=True)
class SquaredHinge(Objective):
    """Sum over a query's pairs of ``max(0, 1 - (s_better - s_worse))^2``.

    Pairs are all documents of different label, or the data's ``preferences``, with their weights, where it has them.
    """

    name: ClassVar[str] = "rank-svm"
    second_order: ClassVar[bool] = True

    def prepare(self, data: Dataset) -> Prepared:
        """Number the label levels of every query, or sort the preferences by query."""
        refuse_row_weights(data, self.name)
        if data.preferences is not None:
            return ExplicitPairs(data)
        levels = level_numbers(require_labels(data, self.name), data.indptr)
        return Kernels(data.indptr, levels, np.empty(0), _squared_hinge, _squared_hinge_curvature)


class ExplicitPairs(Prepared):
    """The squared hinge on given preferences: O(m) for m of them."""

    ranks = False

    def __init__(self, data: Dataset) -> None:
        pairs = data.preferences
        if pairs is None:
            raise TypeError("ExplicitPairs: expected data with preferences")
        self.indptr = data.indptr
        query = np.searchsorted(data.indptr, pairs.better, side="right") - 1
        by_query = np.argsort(query, kind="stable")
        self._query, self._weight = query[by_query], pairs.weight[by_query]
        self._better, self._worse = pairs.better[by_query], pairs.worse[by_query]
        self._starts = np.searchsorted(self._query, np.arange(data.n_queries + 1))

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Add up the weighted hinges of the block's pairs."""
        pairs = slice(self._starts[first], self._starts[last])
        better, worse = self._better[pairs] - self.indptr[first], self._worse[pairs] - self.indptr[first]
        hinge = np.maximum(0.0, 1.0 - (scores[better] - scores[worse]))
        slope = self._weight[pairs] * hinge
        gradient[:] = 2.0 * (_totals(worse, slope, len(gradient)) - _totals(better, slope, len(gradient)))
        return _totals(self._query[pairs] - first, slope * hinge, last - first)

    def curve(self, first: int, last: int, scores: Floats, order: Integers, direction: Floats, product: Floats) -> None:
        """Sum the weighted differences of the direction over the active pairs."""
        pairs = slice(self._starts[first], self._starts[last])
        better, worse = self._better[pairs] - self.indptr[first], self._worse[pairs] - self.indptr[first]
        active = scores[better] - scores[worse] < 1.0
        slope = np.where(active, self._weight[pairs] * (direction[better] - direction[worse]), 0.0)
        product[:] = 2.0 * (_totals(better, slope, len(product)) - _totals(worse, slope, len(product)))


def _totals(where: Integers, values: Floats, n: int) -> Floats:
    return np.bincount(where, weights=values, minlength=n).astype(np.float64, copy=False)


def level_numbers(labels: Floats, indptr: Integers) -> Floats:
    """Return, for every row, how many different smaller labels its query has."""
    query = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    order = np.lexsort((labels, query))
    steps = np.zeros(len(labels))
    steps[1:] = np.diff(labels[order]) != 0
    steps[indptr[:-1]] = 0.0
    climbed = np.cumsum(steps)
    levels = np.empty(len(labels))
    levels[order] = climbed - np.repeat(climbed[indptr[:-1]], np.diff(indptr))
    return levels
