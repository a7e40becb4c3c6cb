"""The pairwise hinge, squared or plain, without ever forming the pairs of graded labels; FRank's fidelity loss.

The squared one is the sum over pairs (i better than j) of ``max(0, 1 - (s_i - s_j))^2``. Of two lists sorted by score,
one all better than the other, the pairs that a document takes part in are those within a moving border (Lee & Lin
2014; Airola et al. 2011), so running sums give value, gradient and Hessian products in one pass. Halving the label
levels makes log L such passes: O(n log n) for any labels, even if every document has its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from argrank._jit import helper, kernel, query_kernel
from argrank._types import Filled, Floats, Integers
from argrank.data.checks import Preferences
from argrank.data.dataset import Dataset
from argrank.measures.structure import level_numbers
from argrank.objectives.objective import Kernels, Objective, Prepared, refuse_row_weights, require_labels
from argrank.objectives.row_gain_pairs import hinge_of_gains, weight_of_pairs

Shape = Literal["squared", "hinge"]


@helper
def count_levels(gains: Floats, sums: Floats) -> int:
    """Return how many levels there may be; clear the sums."""
    n_levels = 1
    for row in range(len(gains)):
        n_levels = max(n_levels, int(gains[row]) + 1)
        sums[row] = 0.0
    return n_levels


@helper
def halve(below: Integers, lowest: int, end: int) -> int:
    """Return the level that splits a range of levels into halves of about as many documents."""
    split = lowest + 1
    while split < end - 1 and 2 * below[split] < below[lowest] + below[end]:
        split += 1
    return split


@helper
def lie_by_rank(
    scores: Floats, order: Integers, gains: Floats, rows: Integers, values: Floats, below: Integers
) -> None:
    """Fill in rows and scores by rank, and for every level the number of documents of lower levels."""
    for level in range(len(below)):
        below[level] = 0
    for place in range(len(rows)):
        rows[place] = order[place]
        values[place] = scores[rows[place]]
        below[int(gains[place]) + 1] += 1
    for level in range(len(below) - 1):
        below[level + 1] += below[level]


@helper
def part_levels(
    gains: Floats, rows: Integers, values: Floats, spare_rows: Integers, spare_values: Floats, split: int, start: int,
    middle: int, stop: int,
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


@helper
def hinges_of_query(
    scores: Floats,
    order: Integers,
    levels: Floats,
    weights: Floats,
    squared: bool,
    places: Integers,
    room: Floats,
    gradient: Floats,
) -> float:
    """Split the levels in two, compare all documents of the upper with all of the lower half, recurse into each half.

    Documents lie by level half, sorted by score inside. A hinge is ``s_j - border`` with the border ``s_i - 1``. While
    i moves down the ranking the border only falls, so weight, sum and sum of squares of the hinges reached are updated
    by adding positive amounts: nothing cancels, at any scale of the scores.
    """
    n, n_levels, weighted = len(scores), count_levels(levels, gradient), len(weights) > 0
    below = places[0, : n_levels + 1]  # how many documents have a lower level
    rows, spare_rows, values, spare_values = places[1, :n], places[2, :n], room[0, :n], room[1, :n]
    lie_by_rank(scores, order, levels, rows, values, below)
    begins, ends = places[3], places[4]  # ranges of levels that are still to be split
    begins[0], ends[0] = 0, n_levels
    n_waiting = 1
    loss = 0.0
    while n_waiting > 0:
        n_waiting -= 1
        lowest, end = begins[n_waiting], ends[n_waiting]
        if end - lowest < 2:
            continue
        split = halve(below, lowest, end)
        start, middle, stop = below[lowest], below[split], below[end]
        part_levels(levels, rows, values, spare_rows, spare_values, split, start, middle, stop)
        count, hinges, squares, border, reached = 0.0, 0.0, 0.0, values[middle], start
        for place in range(middle, stop):  # better documents, best score first
            fall = border - (values[place] - 1.0)
            border = values[place] - 1.0
            squares += fall * (2.0 * hinges + fall * count)
            hinges += fall * count
            while reached < middle and values[reached] > border:
                hinge, weight = values[reached] - border, weights[rows[reached]] if weighted else 1.0
                count += weight
                hinges += weight * hinge
                squares += weight * hinge * hinge
                reached += 1
            own = weights[rows[place]] if weighted else 1.0
            loss += own * (squares if squared else hinges)
            gradient[rows[place]] -= own * (2.0 * hinges if squared else count)
        count, hinges, border, reached = 0.0, 0.0, values[middle - 1], stop - 1
        for place in range(middle - 1, start - 1, -1):  # worse documents, worst first: the border s_j + 1 only rises
            hinges += (values[place] + 1.0 - border) * count
            border = values[place] + 1.0
            while reached >= middle and values[reached] < border:
                weight = weights[rows[reached]] if weighted else 1.0
                count += weight
                hinges += weight * (border - values[reached])
                reached -= 1
            own = weights[rows[place]] if weighted else 1.0
            gradient[rows[place]] += own * (2.0 * hinges if squared else count)
        begins[n_waiting], ends[n_waiting], begins[n_waiting + 1], ends[n_waiting + 1] = lowest, split, split, end
        n_waiting += 2
    return loss


@helper
def curvature_of_query(
    scores: Floats,
    order: Integers,
    levels: Floats,
    weights: Floats,
    direction: Floats,
    places: Integers,
    room: Floats,
    product: Floats,
) -> None:
    """Sum ``2 (v_i - v_j)`` over the active pairs of every document, from weights and sums of v, split by split.

    Whether a pair is active is computed by the same expression for both of its documents, so rounding cannot make the
    matrix asymmetric.
    """
    n, n_levels, weighted = len(scores), count_levels(levels, product), len(weights) > 0
    below = places[0, : n_levels + 1]  # how many documents have a lower level
    rows, spare_rows, values, spare_values = places[1, :n], places[2, :n], room[0, :n], room[1, :n]
    lie_by_rank(scores, order, levels, rows, values, below)
    begins, ends = places[3], places[4]
    begins[0], ends[0] = 0, n_levels
    n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        lowest, end = begins[n_waiting], ends[n_waiting]
        if end - lowest < 2:
            continue
        split = halve(below, lowest, end)
        start, middle, stop = below[lowest], below[split], below[end]
        part_levels(levels, rows, values, spare_rows, spare_values, split, start, middle, stop)
        count, total, reached = 0.0, 0.0, start
        for place in range(middle, stop):
            while reached < middle and values[place] - values[reached] < 1.0:
                weight = weights[rows[reached]] if weighted else 1.0
                count += weight
                total += weight * direction[rows[reached]]
                reached += 1
            own = weights[rows[place]] if weighted else 1.0
            product[rows[place]] += 2.0 * own * (count * direction[rows[place]] - total)
        count, total, reached = 0.0, 0.0, stop - 1
        for place in range(middle - 1, start - 1, -1):
            while reached >= middle and values[reached] - values[place] < 1.0:
                weight = weights[rows[reached]] if weighted else 1.0
                count += weight
                total += weight * direction[rows[reached]]
                reached -= 1
            own = weights[rows[place]] if weighted else 1.0
            product[rows[place]] += 2.0 * own * (count * direction[rows[place]] - total)
        begins[n_waiting], ends[n_waiting], begins[n_waiting + 1], ends[n_waiting + 1] = lowest, split, split, end
        n_waiting += 2


@kernel()
def _hinges(
    scores: Floats, order: Integers, levels: Floats, weights: Floats, indptr: Integers, squared: bool,
    losses: Filled[np.float64], gradient: Filled[np.float64],
) -> None:  # fmt: skip
    """Fill the losses of the queries of a block, and their gradients; no weights are weights of 1."""
    widest = 0
    for query in range(len(indptr) - 1):
        widest = max(widest, indptr[query + 1] - indptr[query])
    places, room = np.empty((5, widest + 2), np.int64), np.empty((2, widest))
    for query in range(len(indptr) - 1):
        a, b = indptr[query] - indptr[0], indptr[query + 1] - indptr[0]
        own = weights[a:b] if len(weights) > 0 else weights
        losses[query] = hinges_of_query(scores[a:b], order[a:b], levels[a:b], own, squared, places, room, gradient[a:b])


@kernel()
def _curvature(
    scores: Floats, order: Integers, levels: Floats, weights: Floats, indptr: Integers, direction: Floats,
    product: Filled[np.float64],
) -> None:  # fmt: skip
    """Fill the product of the Hessian of the squared hinges and a direction."""
    widest = 0
    for query in range(len(indptr) - 1):
        widest = max(widest, indptr[query + 1] - indptr[query])
    places, room = np.empty((5, widest + 2), np.int64), np.empty((2, widest))
    for query in range(len(indptr) - 1):
        a, b = indptr[query] - indptr[0], indptr[query + 1] - indptr[0]
        own = weights[a:b] if len(weights) > 0 else weights
        curvature_of_query(scores[a:b], order[a:b], levels[a:b], own, direction[a:b], places, room, product[a:b])


@dataclass(frozen=True, kw_only=True)
class PairwiseHinge(Objective):
    """Sum over a query's pairs of ``max(0, 1 - (s_better - s_worse))``, squared or not.

    Pairs are all documents of different label, or the data's ``preferences``, with their weights, if it has any; the
    risk is the mean over all pairs. If rows have weights, a pair's weight is the product of those of its documents, as
    if a row of weight 2 occurred twice. The plain hinge is that of SVMauc on another scale. If rows have gains, the
    pairs are all ordered ones, weighted by the gain of the first (Propensity SVM-Rank).
    """

    name: ClassVar[str] = "pairwise hinge"
    mean_over: ClassVar[str] = "pairs"

    loss: Shape

    @property
    def second_order(self) -> bool:  # type: ignore[override]
        """Whether there is a Hessian: the plain hinge has none."""
        return self.loss == "squared"

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        """Whether there is a gradient everywhere."""
        return self.loss == "squared"

    def n_pairs(self, data: Dataset) -> Floats:
        """Add up the weights of the pairs of different label, of the given preferences, or of rows' gains."""
        if data.gains is not None:
            return weight_of_pairs(data, data.gains)
        if data.preferences is not None:
            query = np.searchsorted(data.indptr, data.preferences.better, side="right") - 1
            return _totals(query, _weights_of(data.preferences, data.sample_weight), data.n_queries)
        if data.sample_weight is None:
            return super().n_pairs(data)
        levels = level_numbers(require_labels(data, self.name), data.indptr)
        n_levels = int(levels.max()) + 1
        level = data.query_of_row * n_levels + levels.astype(np.int64)
        by_level = _totals(level, data.sample_weight, data.n_queries * n_levels).reshape(-1, n_levels)
        lower = np.cumsum(by_level, axis=1)[:, :-1]
        return np.asarray((by_level[:, 1:] * lower).sum(axis=1))

    def prepare(self, data: Dataset) -> Prepared:
        """Prepare the loss on graded labels or on given preferences."""
        if data.gains is not None:
            refuse_row_weights(data, self.name)
            return hinge_of_gains(data, data.gains, self.loss == "squared", self.name)
        squared, weight = self.loss == "squared", data.sample_weight
        if data.preferences is not None:
            pairs = data.preferences._replace(weight=_weights_of(data.preferences, weight))
            return ExplicitPairs(data.indptr, pairs, squared)
        return GradedPairs(data.indptr, level_numbers(require_labels(data, self.name), data.indptr), squared, weight)


class GradedPairs(Prepared):
    """The hinge on all pairs of different level, squared or plain; a pair weighs the product of its rows' weights."""

    ranks = True

    def __init__(self, indptr: Integers, levels: Floats, squared: bool, weight: Floats | None) -> None:
        self.indptr, self._levels, self._squared, self._weight = indptr, levels, squared, weight

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Add up the hinges of the block's pairs."""
        losses = np.empty(last - first)
        _hinges(scores, order, *self._block(first, last), self._squared, losses, gradient)
        return losses

    def curve(self, first: int, last: int, scores: Floats, order: Integers, direction: Floats, product: Floats) -> None:
        """Sum the differences of the direction over the active pairs."""
        if not self._squared:
            super().curve(first, last, scores, order, direction, product)
        _curvature(scores, order, *self._block(first, last), direction, product)

    def _block(self, first: int, last: int) -> tuple[Floats, Floats, Integers]:
        indptr = self.indptr[first : last + 1]
        rows = slice(indptr[0], indptr[-1])
        return self._levels[rows], np.empty(0) if self._weight is None else self._weight[rows], indptr


def _weights_of(pairs: Preferences, weight: Floats | None) -> Floats:
    return pairs.weight if weight is None else pairs.weight * weight[pairs.better] * weight[pairs.worse]


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
def _fidelity(scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats) -> float:
    """Mean over pairs of 1 - sqrt(P) = (1 - P) / (1 + sqrt(P)), without cancellation; ``gains`` are level numbers."""
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

    Tsai et al. 2007, the better document being better for certain (their P* = 1). The loss of a pair is at most 1, so
    no query outweighs others; not convex.
    """

    name: ClassVar[str] = "fidelity loss"
    convex: ClassVar[bool] = False
    smooth: ClassVar[bool] = True

    def prepare(self, data: Dataset) -> Prepared:
        """Number the label levels."""
        refuse_row_weights(data, self.name)
        levels = level_numbers(require_labels(data, self.name), data.indptr)
        return Kernels(data.indptr, levels, np.empty(0), _fidelity, ranks=False)
