"""Pairwise squared hinge: RankSVM's loss, without ever forming the pairs of graded labels.

For a query, the sum over pairs (i better than j) of ``max(0, 1 - (s_i - s_j))^2``. Sorted by score, the pairs that a
document takes part in are those within a moving border (Lee & Lin 2014; Airola et al. 2011), so running sums give
value, gradient and Hessian products in O(n L) for L label levels after the sort.
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
    """Take level after level as the worse documents, all higher levels as the better; ``gains`` are level numbers.

    A hinge is ``s_j - border`` with the border ``s_i - 1``. While i moves down the ranking the border only falls, so
    count, sum and sum of squares of the hinges reached are moved along by adding positive amounts: nothing cancels,
    whatever the scale of the scores.
    """
    n = len(scores)
    rows, worse_rows = np.empty(n, np.int64), np.empty(n, np.int64)
    values, levels, worse_values = np.empty(n), np.empty(n), np.empty(n)
    top = 0.0
    for place in range(n):
        rows[place] = order[place]
        values[place] = scores[rows[place]]
        levels[place] = gains[rows[place]]
        top = max(top, levels[place])
        gradient[place] = 0.0
    loss = 0.0
    remaining = n
    for level in range(int(top)):
        n_better, n_worse = 0, 0
        for place in range(remaining):  # split without branches; both lists stay sorted
            worse_rows[n_worse], worse_values[n_worse] = rows[place], values[place]
            is_worse = int(levels[place] == level)
            rows[n_better], values[n_better], levels[n_better] = rows[place], values[place], levels[place]
            n_worse += is_worse
            n_better += 1 - is_worse
        remaining = n_better
        count, hinges, squares, border, reached = 0.0, 0.0, 0.0, values[0], 0
        for place in range(n_better):  # best score first
            fall = border - (values[place] - 1.0)
            border = values[place] - 1.0
            squares += fall * (2.0 * hinges + fall * count)
            hinges += fall * count
            while reached < n_worse and worse_values[reached] > border:
                hinge = worse_values[reached] - border
                count += 1.0
                hinges += hinge
                squares += hinge * hinge
                reached += 1
            loss += squares
            gradient[rows[place]] -= 2.0 * hinges
        count, hinges, border, reached = 0.0, 0.0, worse_values[n_worse - 1], n_better - 1
        for place in range(n_worse - 1, -1, -1):  # worst score first: the border s_j + 1 only rises
            hinges += (worse_values[place] + 1.0 - border) * count
            border = worse_values[place] + 1.0
            while reached >= 0 and values[reached] < border:
                count += 1.0
                hinges += border - values[reached]
                reached -= 1
            gradient[worse_rows[place]] += 2.0 * hinges
    return loss


@curvature_kernel
def _squared_hinge_curvature(scores: Any, order: Any, gains: Any, constants: Any, direction: Any, product: Any) -> None:
    """Sum ``2 (v_i - v_j)`` over the active pairs of every document, from counts and sums of v, level after level."""
    n = len(scores)
    rows, worse_rows = np.empty(n, np.int64), np.empty(n, np.int64)
    values, levels, worse_values = np.empty(n), np.empty(n), np.empty(n)
    top = 0.0
    for place in range(n):
        rows[place] = order[place]
        values[place] = scores[rows[place]]
        levels[place] = gains[rows[place]]
        top = max(top, levels[place])
        product[place] = 0.0
    remaining = n
    for level in range(int(top)):
        n_better, n_worse = 0, 0
        for place in range(remaining):
            worse_rows[n_worse], worse_values[n_worse] = rows[place], values[place]
            is_worse = int(levels[place] == level)
            rows[n_better], values[n_better], levels[n_better] = rows[place], values[place], levels[place]
            n_worse += is_worse
            n_better += 1 - is_worse
        remaining = n_better
        total, reached = 0.0, 0
        for place in range(n_better):
            while reached < n_worse and worse_values[reached] > values[place] - 1.0:
                total += direction[worse_rows[reached]]
                reached += 1
            product[rows[place]] += 2.0 * (reached * direction[rows[place]] - total)
        total, reached = 0.0, 0
        for place in range(n_worse - 1, -1, -1):
            while reached < n_better and values[n_better - 1 - reached] < worse_values[place] + 1.0:
                total += direction[rows[n_better - 1 - reached]]
                reached += 1
            product[worse_rows[place]] += 2.0 * (reached * direction[worse_rows[place]] - total)


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
