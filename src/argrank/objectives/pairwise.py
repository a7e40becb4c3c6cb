"""Pairwise squared hinge: RankSVM's loss, without ever forming the pairs of graded labels.

For a query, the sum over pairs (i better than j) of ``max(0, 1 - (s_i - s_j))^2``. Of two lists sorted by score, one
all better than the other, the pairs that a document takes part in are those within a moving border (Lee & Lin 2014;
Airola et al. 2011), so running sums give value, gradient and Hessian products in one walk. Halving the label levels
makes log L such walks: O(n log n) for any labels, also where every document has its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._jit import curvature_kernel, query_kernel
from argrank._types import Floats, Integers
from argrank.data.checks import Preferences
from argrank.data.dataset import Dataset
from argrank.objectives.objective import Kernels, Objective, Prepared, refuse_row_weights, require_labels


@query_kernel
def _squared_hinge(scores: Any, order: Any, gains: Any, constants: Any, gradient: Any) -> float:
    """Split the levels in two, compare all documents of the upper with all of the lower half, go on with each half.

    ``gains`` are level numbers. Documents lie by level half, sorted by score inside. A hinge is ``s_j - border`` with
    the border ``s_i - 1``. While i moves down the ranking the border only falls, so count, sum and sum of squares of
    the hinges reached are moved along by adding positive amounts: nothing cancels, whatever the scale of the scores.
    """
    n = len(scores)
    n_levels = 1
    for row in range(n):
        n_levels = max(n_levels, int(gains[row]) + 1)
        gradient[row] = 0.0
    below = np.zeros(n_levels + 1, np.int64)  # how many documents have a lower level
    rows, spare_rows = np.empty(n, np.int64), np.empty(n, np.int64)
    values, spare_values = np.empty(n), np.empty(n)
    for place in range(n):
        rows[place] = order[place]
        values[place] = scores[rows[place]]
        below[int(gains[place]) + 1] += 1
    for level in range(n_levels):
        below[level + 1] += below[level]
    waiting = np.empty((n_levels + 1, 2), np.int64)  # ranges of levels that are still to be split
    waiting[0, 0], waiting[0, 1] = 0, n_levels
    n_waiting = 1
    loss = 0.0
    while n_waiting > 0:
        n_waiting -= 1
        lowest, end = waiting[n_waiting, 0], waiting[n_waiting, 1]
        if end - lowest < 2:
            continue
        split = lowest + 1
        while split < end - 1 and 2 * below[split] < below[lowest] + below[end]:
            split += 1
        start, middle, stop = below[lowest], below[split], below[end]
        lower, upper = start, 0
        for place in range(start, stop):  # without branches; both halves stay sorted
            is_lower = int(gains[rows[place]] < split)
            spare_rows[upper], spare_values[upper] = rows[place], values[place]
            rows[lower], values[lower] = rows[place], values[place]
            lower += is_lower
            upper += 1 - is_lower
        for place in range(upper):
            rows[middle + place], values[middle + place] = spare_rows[place], spare_values[place]
        count, hinges, squares, border, reached = 0.0, 0.0, 0.0, values[middle], start
        for place in range(middle, stop):  # better documents, best score first
            fall = border - (values[place] - 1.0)
            border = values[place] - 1.0
            squares += fall * (2.0 * hinges + fall * count)
            hinges += fall * count
            while reached < middle and values[reached] > border:
                hinge = values[reached] - border
                count += 1.0
                hinges += hinge
                squares += hinge * hinge
                reached += 1
            loss += squares
            gradient[rows[place]] -= 2.0 * hinges
        count, hinges, border, reached = 0.0, 0.0, values[middle - 1], stop - 1
        for place in range(middle - 1, start - 1, -1):  # worse documents, worst first: the border s_j + 1 only rises
            hinges += (values[place] + 1.0 - border) * count
            border = values[place] + 1.0
            while reached >= middle and values[reached] < border:
                count += 1.0
                hinges += border - values[reached]
                reached -= 1
            gradient[rows[place]] += 2.0 * hinges
        waiting[n_waiting, 0], waiting[n_waiting, 1] = lowest, split
        waiting[n_waiting + 1, 0], waiting[n_waiting + 1, 1] = split, end
        n_waiting += 2
    return loss


@curvature_kernel
def _squared_hinge_curvature(scores: Any, order: Any, gains: Any, constants: Any, direction: Any, product: Any) -> None:
    """Sum ``2 (v_i - v_j)`` over the active pairs of every document, from counts and sums of v, split by split.

    Both documents of a pair put the same question, to the last bit, so the matrix is symmetric also at the margin.
    """
    n = len(scores)
    n_levels = 1
    for row in range(n):
        n_levels = max(n_levels, int(gains[row]) + 1)
        product[row] = 0.0
    below = np.zeros(n_levels + 1, np.int64)
    rows, spare_rows = np.empty(n, np.int64), np.empty(n, np.int64)
    values, spare_values = np.empty(n), np.empty(n)
    for place in range(n):
        rows[place] = order[place]
        values[place] = scores[rows[place]]
        below[int(gains[place]) + 1] += 1
    for level in range(n_levels):
        below[level + 1] += below[level]
    waiting = np.empty((n_levels + 1, 2), np.int64)
    waiting[0, 0], waiting[0, 1] = 0, n_levels
    n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        lowest, end = waiting[n_waiting, 0], waiting[n_waiting, 1]
        if end - lowest < 2:
            continue
        split = lowest + 1
        while split < end - 1 and 2 * below[split] < below[lowest] + below[end]:
            split += 1
        start, middle, stop = below[lowest], below[split], below[end]
        lower, upper = start, 0
        for place in range(start, stop):
            is_lower = int(gains[rows[place]] < split)
            spare_rows[upper], spare_values[upper] = rows[place], values[place]
            rows[lower], values[lower] = rows[place], values[place]
            lower += is_lower
            upper += 1 - is_lower
        for place in range(upper):
            rows[middle + place], values[middle + place] = spare_rows[place], spare_values[place]
        total, reached = 0.0, start
        for place in range(middle, stop):
            while reached < middle and values[place] - values[reached] < 1.0:
                total += direction[rows[reached]]
                reached += 1
            product[rows[place]] += 2.0 * ((reached - start) * direction[rows[place]] - total)
        total, reached = 0.0, stop - 1
        for place in range(middle - 1, start - 1, -1):
            while reached >= middle and values[reached] - values[place] < 1.0:
                total += direction[rows[reached]]
                reached -= 1
            product[rows[place]] += 2.0 * ((stop - 1 - reached) * direction[rows[place]] - total)
        waiting[n_waiting, 0], waiting[n_waiting, 1] = lowest, split
        waiting[n_waiting + 1, 0], waiting[n_waiting + 1, 1] = split, end
        n_waiting += 2


@dataclass(frozen=True)
class SquaredHinge(Objective):
    """Sum over a query's pairs of ``max(0, 1 - (s_better - s_worse))^2``.

    Pairs are all documents of different label, or the data's ``preferences``, with their weights, where it has them.
    """

    name: ClassVar[str] = "rank-svm"
    mean_over: ClassVar[str] = "pairs"
    smooth: ClassVar[bool] = True
    second_order: ClassVar[bool] = True

    def prepare(self, data: Dataset) -> Prepared:
        """Number the label levels of every query, or sort the preferences by query."""
        refuse_row_weights(data, self.name)
        if data.preferences is not None:
            return ExplicitPairs(data.indptr, data.preferences)
        levels = level_numbers(require_labels(data, self.name), data.indptr)
        return Kernels(data.indptr, levels, np.empty(0), _squared_hinge, _squared_hinge_curvature)

    def n_pairs(self, data: Dataset) -> Floats:
        """Return how many pairs every query has; preferences count by their weight."""
        if data.preferences is None:
            return super().n_pairs(data)
        query = np.searchsorted(data.indptr, data.preferences.better, side="right") - 1
        return _totals(query, data.preferences.weight, data.n_queries)


class ExplicitPairs(Prepared):
    """The squared hinge on given preferences: O(m) for m of them."""

    ranks = False

    def __init__(self, indptr: Integers, pairs: Preferences) -> None:
        self.indptr = indptr
        query = np.searchsorted(indptr, pairs.better, side="right") - 1
        by_query = np.argsort(query, kind="stable")
        self._query, self._weight = query[by_query], pairs.weight[by_query]
        self._better, self._worse = pairs.better[by_query], pairs.worse[by_query]
        self._starts = np.searchsorted(self._query, np.arange(len(indptr)))

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Add up the weighted hinges of the block's pairs."""
        pairs = slice(self._starts[first], self._starts[last])
        better, worse = self._better[pairs] - self.indptr[first], self._worse[pairs] - self.indptr[first]
        hinge = np.maximum(0.0, 1.0 - (scores[better] - scores[worse]))
        losses, slope = self._loss_and_slope(hinge, self._weight[pairs])
        gradient[:] = _totals(worse, slope, len(gradient)) - _totals(better, slope, len(gradient))
        return _totals(self._query[pairs] - first, losses, last - first)

    @staticmethod
    def _loss_and_slope(hinge: Floats, weight: Floats) -> tuple[Floats, Floats]:
        return weight * hinge**2, 2.0 * weight * hinge

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


def pair_counts(indptr: Integers, levels: Floats) -> Floats:
    """Return, for every query, how many pairs of its documents are of different level."""
    sizes = np.diff(indptr).astype(np.float64)
    n_levels = int(levels.max()) + 1
    cell = np.repeat(np.arange(len(sizes)), np.diff(indptr)) * n_levels + levels.astype(np.int64)
    equal = np.bincount(cell, minlength=len(sizes) * n_levels).reshape(len(sizes), n_levels).astype(np.float64)
    counts: Floats = 0.5 * (sizes**2 - (equal**2).sum(axis=1))
    return counts
