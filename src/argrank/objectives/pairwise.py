"""The pairwise hinge, squared or plain, without ever forming the pairs of graded labels; FRank's fidelity loss.

The squared one is the sum over pairs (i better than j) of ``max(0, 1 - (s_i - s_j))^2``. Of two lists sorted by score,
one all better than the other, the pairs that a document takes part in are those within a moving border (Lee & Lin
2014; Airola et al. 2011), so running sums give value, gradient and Hessian products in one walk. Halving the label
levels makes log L such walks: O(n log n) for any labels, also where every document has its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._jit import curvature_kernel, helper, query_kernel
from argrank._types import Floats, Integers
from argrank.data.checks import Preferences
from argrank.data.dataset import Dataset
from argrank.errors import check_choice
from argrank.measures.structure import level_numbers, pair_counts
from argrank.objectives.objective import Kernels, Objective, Prepared, refuse_row_weights, require_labels
from argrank.objectives.structured.pairs.auc import of_levels

LOSSES = ("squared", "hinge")


@helper
def count_levels(gains: Any, sums: Any) -> int:
    """Return how many levels there may be; clear the sums."""
    n_levels = 1
    for row in range(len(gains)):
        n_levels = max(n_levels, int(gains[row]) + 1)
        sums[row] = 0.0
    return n_levels


@helper
def halve(below: Any, lowest: int, end: int) -> int:
    """Return the level that splits a range of levels into halves of about as many documents."""
    split = lowest + 1
    while split < end - 1 and 2 * below[split] < below[lowest] + below[end]:
        split += 1
    return split


@helper
def lie_by_rank(scores: Any, order: Any, gains: Any, rows: Any, values: Any, below: Any) -> None:
    """Fill in rows and scores by rank, and for every level the number of documents of lower levels."""
    for place in range(len(rows)):
        rows[place] = order[place]
        values[place] = scores[rows[place]]
        below[int(gains[place]) + 1] += 1
    for level in range(len(below) - 1):
        below[level + 1] += below[level]


@helper
def part_levels(
    gains: Any, rows: Any, values: Any, spare_rows: Any, spare_values: Any, split: int, start: int, middle: int,
    stop: int,
) -> None:  # fmt: skip
    """Put the levels below ``split`` before the others; both parts stay sorted by score. Without branches."""
    lower, upper = start, 0
    for place in range(start, stop):
        is_lower = int(gains[rows[place]] < split)
        spare_rows[upper], spare_values[upper] = rows[place], values[place]
        rows[lower], values[lower] = rows[place], values[place]
        lower += is_lower
        upper += 1 - is_lower
    for place in range(upper):
        rows[middle + place], values[middle + place] = spare_rows[place], spare_values[place]


@query_kernel
def _squared_hinge(scores: Any, order: Any, gains: Any, constants: Any, gradient: Any) -> float:
    """Split the levels in two, compare all documents of the upper with all of the lower half, go on with each half.

    ``gains`` are level numbers. Documents lie by level half, sorted by score inside. A hinge is ``s_j - border`` with
    the border ``s_i - 1``. While i moves down the ranking the border only falls, so count, sum and sum of squares of
    the hinges reached are moved along by adding positive amounts: nothing cancels, whatever the scale of the scores.
    """
    n, n_levels = len(scores), count_levels(gains, gradient)
    below = np.zeros(n_levels + 1, np.int64)  # how many documents have a lower level
    rows, spare_rows = np.empty(n, np.int64), np.empty(n, np.int64)
    values, spare_values = np.empty(n), np.empty(n)
    lie_by_rank(scores, order, gains, rows, values, below)
    waiting = np.empty((n_levels + 1, 2), np.int64)  # ranges of levels that are still to be split
    waiting[0, 0], waiting[0, 1] = 0, n_levels
    n_waiting = 1
    loss = 0.0
    while n_waiting > 0:
        n_waiting -= 1
        lowest, end = waiting[n_waiting, 0], waiting[n_waiting, 1]
        if end - lowest < 2:
            continue
        split = halve(below, lowest, end)
        start, middle, stop = below[lowest], below[split], below[end]
        part_levels(gains, rows, values, spare_rows, spare_values, split, start, middle, stop)
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
    n, n_levels = len(scores), count_levels(gains, product)
    below = np.zeros(n_levels + 1, np.int64)  # how many documents have a lower level
    rows, spare_rows = np.empty(n, np.int64), np.empty(n, np.int64)
    values, spare_values = np.empty(n), np.empty(n)
    lie_by_rank(scores, order, gains, rows, values, below)
    waiting = np.empty((n_levels + 1, 2), np.int64)
    waiting[0, 0], waiting[0, 1] = 0, n_levels
    n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        lowest, end = waiting[n_waiting, 0], waiting[n_waiting, 1]
        if end - lowest < 2:
            continue
        split = halve(below, lowest, end)
        start, middle, stop = below[lowest], below[split], below[end]
        part_levels(gains, rows, values, spare_rows, spare_values, split, start, middle, stop)
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


@dataclass(frozen=True, kw_only=True)
class PairwiseHinge(Objective):
    """Sum over a query's pairs of ``max(0, 1 - (s_better - s_worse))``, squared or not.

    Pairs are all documents of different label, or the data's ``preferences``, with their weights, where it has them;
    the risk is the mean over all pairs. The plain hinge is that of SVMauc on another scale.
    """

    name: ClassVar[str] = "pairwise hinge"
    mean_over: ClassVar[str] = "pairs"

    loss: str

    def __post_init__(self) -> None:
        check_choice("loss", self.loss, LOSSES)

    @property
    def second_order(self) -> bool:  # type: ignore[override]
        """Whether there is a Hessian: the plain hinge has none."""
        return self.loss == "squared"

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        """Whether there is a gradient everywhere."""
        return self.loss == "squared"

    def n_pairs(self, data: Dataset) -> Floats:
        """Count the pairs of different label, or add up the weights of the given preferences."""
        if data.preferences is None:
            return super().n_pairs(data)
        query = np.searchsorted(data.indptr, data.preferences.better, side="right") - 1
        return _totals(query, data.preferences.weight, data.n_queries)

    def prepare(self, data: Dataset) -> Prepared:
        """Prepare the loss on graded labels or on given preferences."""
        refuse_row_weights(data, self.name)
        if data.preferences is not None:
            return ExplicitPairs(data.indptr, data.preferences, self.loss == "squared")
        levels = level_numbers(require_labels(data, self.name), data.indptr)
        if self.loss == "hinge":
            return GradedHinge(data.indptr, levels)
        return Kernels(data.indptr, levels, np.empty(0), _squared_hinge, _squared_hinge_curvature)


class GradedHinge(Prepared):
    """SVMauc is the mean over the M pairs of ``max(0, 1 - 2 (s_i - s_j))``: the sum is M times that at s / 2."""

    ranks = True

    def __init__(self, indptr: Integers, levels: Floats) -> None:
        self.indptr = indptr
        self._auc = of_levels(indptr, levels, np.ones(1))
        self._n_pairs = pair_counts(indptr, levels)

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Rescale SVMauc's losses and gradients."""
        n_pairs = self._n_pairs[first:last]
        losses = self._auc.evaluate(first, last, 0.5 * scores, order, gradient)
        gradient *= 0.5 * np.repeat(n_pairs, np.diff(self.indptr[first : last + 1]))
        return losses * n_pairs


class ExplicitPairs(Prepared):
    """The hinge on given preferences, squared or plain: O(m) for m of them."""

    ranks = False

    def __init__(self, indptr: Integers, pairs: Preferences, squared: bool) -> None:
        self.indptr, self._squared = indptr, squared
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
        weight = self._weight[pairs]
        losses, slope = weight * hinge, weight * (hinge > 0)
        if self._squared:
            losses, slope = losses * hinge, 2.0 * weight * hinge
        gradient[:] = _totals(worse, slope, len(gradient)) - _totals(better, slope, len(gradient))
        return _totals(self._query[pairs] - first, losses, last - first)

    def curve(self, first: int, last: int, scores: Floats, order: Integers, direction: Floats, product: Floats) -> None:
        """Sum the weighted differences of the direction over the active pairs."""
        pairs = slice(self._starts[first], self._starts[last])
        better, worse = self._better[pairs] - self.indptr[first], self._worse[pairs] - self.indptr[first]
        active = scores[better] - scores[worse] < 1.0
        slope = np.where(active, self._weight[pairs] * (direction[better] - direction[worse]), 0.0)
        product[:] = 2.0 * (_totals(better, slope, len(product)) - _totals(worse, slope, len(product)))


def _totals(where: Integers, values: Floats, n: int) -> Floats:
    return np.bincount(where, weights=values, minlength=n).astype(np.float64, copy=False)


@query_kernel
def _fidelity(scores: Any, order: Any, gains: Any, constants: Any, gradient: Any) -> float:
    """Mean over pairs of 1 - sqrt(P) = (1 - P) / (1 + sqrt(P)), which cancels nothing; ``gains`` are level numbers."""
    n = len(scores)
    for row in range(n):
        gradient[row] = 0.0
    loss, n_pairs = 0.0, 0
    for better in range(n):
        for worse in range(n):
            if gains[better] > gains[worse]:
                apart = scores[better] - scores[worse]
                tail = np.exp(-abs(apart))
                wrong = tail / (1.0 + tail) if apart >= 0.0 else 1.0 / (1.0 + tail)  # 1 - P
                root = np.sqrt(1.0 / (1.0 + tail) if apart >= 0.0 else tail / (1.0 + tail))
                loss += wrong / (1.0 + root)
                gradient[better] -= 0.5 * root * wrong
                gradient[worse] += 0.5 * root * wrong
                n_pairs += 1
    if n_pairs == 0:
        return 0.0
    for row in range(n):
        gradient[row] /= n_pairs
    return float(loss / n_pairs)


@dataclass(frozen=True, kw_only=True)
class Fidelity(Objective):
    """Mean over a query's pairs of the fidelity loss 1 - sqrt(P), P = 1 / (1 + exp(-(s_better - s_worse))).

    Tsai et al. 2007, the better document being better for certain (their P* = 1). A pair costs at most 1 however
    wrong it is, so no query outweighs others; not convex.
    """

    name: ClassVar[str] = "fidelity loss"
    convex: ClassVar[bool] = False
    smooth: ClassVar[bool] = True

    def prepare(self, data: Dataset) -> Prepared:
        """Number the label levels."""
        refuse_row_weights(data, self.name)
        levels = level_numbers(require_labels(data, self.name), data.indptr)
        return Kernels(data.indptr, levels, np.empty(0), _fidelity, ranks=False)
