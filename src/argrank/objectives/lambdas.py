"""LambdaRank's gradients: pairwise logistic, each pair times what swapping its documents changes in the measure.

With the documents of a query sorted by score, the pair of ranks i < j counts where i is among the first ``truncation``
ranks and the labels differ. With sigmoid s, rho = 1 / (1 + exp(s * (score of better - score of worse))) and the
measure's change delta, the better document's gradient falls by s * rho * delta, the worse one's rises by it, and both
curvatures grow by s^2 * rho * (1 - rho) * delta. ``normalised`` is LightGBM's: delta is divided by 0.01 + |difference
of scores| and a query's gradients by their sum S over log2(1 + S).

For products a · b such as NDCG, delta is the mean over all orders of the documents of equal score, so the order of the
rows does not matter, not even in the first round, when all scores are equal. For other measures equal scores keep
the order of their rows. Where rows have weights, which are brought to a mean of 1, delta is multiplied by both
documents'.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from argrank._declared import Count, Positive, check_fields
from argrank._jit import helper, kernel
from argrank._threads import map_threads
from argrank._types import Filled, Floats, Integers
from argrank.data.dataset import Dataset
from argrank.errors import OptionError
from argrank.measures.conventions import Convention, make_convention
from argrank.measures.function import FunctionMeasure, errors_of
from argrank.measures.measure import Measure
from argrank.measures.names import measure as parse_measure
from argrank.measures.structure import Structure
from argrank.objectives.objective import (
    Objective,
    Prepared,
    Sorter,
    descending,
    query_shares,
    refuse_row_weights,
    row_gains,
)
from argrank.objectives.swaps import push_by_swaps

#: The kernel's number for every kind of measure whose change by a swap it knows.
KINDS = {"additive": 0, "precision": 1, "first": 2, "cascade": 3}
BLOCK_ROWS = 24_000
SMALLEST = 1e-200  # power of a score from which quotients are exact to rounding


class Ranked(NamedTuple):
    """The documents of a query by rank."""

    score: Any
    gain: Any
    weight: Any  # of the row, 1 unless given
    power: Any  # exp of the sigmoid times the score, from the first document on
    push: Any  # the gradient
    curve: Any  # the curvature
    best_first: Any  # the ranks themselves, by falling gain
    top_first: Any  # the same, of the ranks above the truncation alone


class Groups(NamedTuple):
    """For every rank, what its group of equal scores has in common; for products."""

    last: Any  # end of the group
    above: Any  # share of its ranks above the truncation
    mean: Any  # mean discount of all its ranks
    mean_above: Any  # sum of the discounts above the truncation, over all its ranks
    inside: Any  # mean difference of two discounts


class Sums(NamedTuple):
    """Sums over the ranks above every rank; for other measures."""

    hits: Any  # relevant documents
    reached: Any  # the chance to get there
    terms: Any  # of the measure


@helper
def group_equal_scores(s: Floats, discounts: Floats, truncation: int, groups: Groups) -> None:
    """Fill in for every rank what its group of equal scores has in common."""
    last, above, mean, mean_above, inside = groups
    n = len(s)
    first = 0
    while first < n:
        end = first + 1
        while end < n and s[end] == s[first]:
            end += 1
        m, total, counted, kept, spread = end - first, 0.0, 0.0, 0.0, 0.0
        for rank in range(end - 1, first - 1, -1):
            if rank < truncation:
                counted += 1.0
                kept += discounts[rank]
                spread += discounts[rank] * (end - 1 - rank) - total
            total += discounts[rank]
        for rank in range(first, end):
            last[rank], above[rank], mean[rank], mean_above[rank] = end, counted / m, total / m, kept / m
            inside[rank] = 2.0 * spread / (m * (m - 1.0)) if m > 1 else 0.0
        first = end


@helper
def add_down_the_ranking(y: Floats, discounts: Floats, kind: int, sums: Sums) -> Any:
    """Fill the sums over the ranks above; return the ranks of the first two relevant documents."""
    hits, reached, terms = sums
    hits[0], reached[0], terms[0] = 0.0, 1.0, 0.0
    n = len(y)
    leader, second = n, n
    for rank in range(n):
        hits[rank + 1] = hits[rank] + (1.0 if y[rank] > 0.0 else 0.0)
        if kind == 1:
            terms[rank + 1] = terms[rank] + (discounts[rank] if y[rank] > 0.0 else 0.0)
        elif kind == 3:
            reached[rank + 1] = reached[rank] * (1.0 - y[rank])
            terms[rank + 1] = terms[rank] + discounts[rank] * y[rank] * reached[rank]
        if y[rank] > 0.0 and second == n:
            leader, second = (rank, n) if leader == n else (leader, rank)
    return leader, second


@helper
def change_of_swap(
    y: Floats, discounts: Floats, kind: int, sums: Sums, leader: int, second: int, i: int, j: int
) -> float:
    """Return the change of average precision (kind 1), reciprocal rank (2) or ERR (3) when ranks i < j are swapped."""
    hits, reached, terms = sums
    delta = 0.0
    if kind == 1:
        between = terms[j] - terms[i + 1]
        if y[i] > 0.0:
            delta = discounts[i] * hits[i + 1] + between - discounts[j] * hits[j + 1]
        else:
            delta = discounts[i] * (hits[i + 1] + 1.0) + between - discounts[j] * hits[j + 1]
    elif kind == 2:
        if y[i] > 0.0 and i == leader:
            delta = discounts[i] - discounts[min(j, second)]
        elif y[i] == 0.0 and i < leader:
            delta = discounts[i] - (discounts[leader] if leader < len(y) else 0.0)
    else:
        keep = (1.0 - y[j]) / (1.0 - y[i])
        past = reached[j] / (1.0 - y[i])
        delta = discounts[i] * reached[i] * (y[j] - y[i]) + (terms[j] - terms[i + 1]) * (keep - 1.0)
        delta += discounts[j] * past * ((1.0 - y[j]) * y[i] - (1.0 - y[i]) * y[j])
    return delta


@kernel()
def lambda_gradients(
    scores: Floats,
    order: Integers,
    by_gain: Integers,
    gains: Floats,
    weights: Floats,
    scale: Floats,
    indptr: Integers,
    discounts: Floats,
    kind: int,
    truncation: int,
    sigmoid: float,
    normalised: int,
    gradient: Filled[np.float64],
    hessian: Filled[np.float64],
    losses: Filled[np.float64],
) -> None:
    """Fill gradient and curvature by the scores of the queries of a block, whose rows alone the arrays hold.

    ``order`` and ``by_gain`` have the rows of every query by falling score and by falling gain.
    A pair counts the product of the ``weights`` of its documents, which are 1 where there are none.
    ``losses``, where it is not empty, is filled with the sums over the pairs of delta * log(1 + exp(-s * difference)),
    of which the gradients are those as long as the ranking stays.
    """
    start, widest = indptr[0], 0
    for query in range(len(indptr) - 1):
        widest = max(widest, indptr[query + 1] - indptr[query])
    valued, weighted = len(losses) > 0, len(weights) > 0
    room = np.empty((13, widest + 1))  # one allocation for all queries: each costs as much as many pairs
    places = np.empty((4, widest), np.int64)
    for query in range(len(indptr) - 1):
        a, b = indptr[query] - start, indptr[query + 1] - start
        n = b - a
        gradient[a:b] = 0.0
        hessian[a:b] = 0.0
        if valued:
            losses[query] = 0.0
        if scale[query] == 0.0:
            continue
        ranked = Ranked(
            room[0, :n], room[1, :n], room[12, :n], room[2, :n], room[3, :n], room[4, :n], places[1, :n], places[3, :n]
        )
        groups = Groups(places[0, :n], room[5, :n], room[6, :n], room[7, :n], room[8, :n])
        sums = Sums(room[9, : n + 1], room[10, : n + 1], room[11, : n + 1])
        rank_documents(scores[a:b], gains[a:b], order[a:b], by_gain[a:b], sigmoid, ranked, places[2, :n])
        if weighted:
            for rank in range(n):
                ranked.weight[rank] = weights[a + order[a + rank]]
        total, loss = push_pairs(
            ranked, groups, sums, discounts, kind, truncation, scale[query], sigmoid, normalised, valued, weighted
        )
        if valued:
            losses[query] = loss
        factor = 1.0
        if normalised != 0 and total > 0.0:
            factor = np.log2(1.0 + total) / total
        for rank in range(n):
            gradient[a + order[a + rank]] = factor * ranked.push[rank]
            hessian[a + order[a + rank]] = factor * ranked.curve[rank]


@helper
def rank_documents(
    scores: Floats, gains: Floats, order: Integers, by_gain: Integers, sigmoid: float, ranked: Ranked, rank_of: Integers
) -> None:
    """Fill in scores and gains by rank, and the ranks by gain; nothing pushes yet."""
    for rank in range(len(scores)):
        ranked.score[rank], ranked.gain[rank] = scores[order[rank]], gains[order[rank]]
        ranked.power[rank] = np.exp(sigmoid * (ranked.score[rank] - ranked.score[0]))
        ranked.push[rank] = ranked.curve[rank] = 0.0
        rank_of[order[rank]] = rank
    for place in range(len(scores)):
        ranked.best_first[place] = rank_of[by_gain[place]]


@helper
def push_pairs(
    ranked: Ranked, groups: Groups, sums: Sums, discounts: Floats, kind: int, truncation: int, scale: float,
    sigmoid: float, normalised: int, valued: bool, weighted: bool,
) -> Any:  # fmt: skip
    """Let every pair push its documents apart; return the sum of the pushes' sizes, and the loss if it is asked for."""
    s, y = ranked.score, ranked.gain
    last, above, mean, mean_above, inside = groups
    n, top = len(s), min(truncation, len(s))
    soften = normalised != 0 and s[0] != s[n - 1]
    leader, second = n, n
    if kind == 0:
        group_equal_scores(s, discounts, truncation, groups)
        top = last[top - 1] if top > 0 else 0
    else:
        leader, second = add_down_the_ranking(y, discounts, kind, sums)
    power, pushes, curves, ranks, tops = ranked.power, ranked.push, ranked.curve, ranked.best_first, ranked.top_first
    n_tops = 0
    for place in range(n):
        if ranks[place] < top:
            tops[n_tops] = ranks[place]
            n_tops += 1
    total, loss, worse, worse_top = 0.0, 0.0, 0, 0
    for place in range(n):
        good = ranks[place]
        while worse < n and y[ranks[worse]] == y[good]:
            worse += 1
        while worse_top < n_tops and y[tops[worse_top]] >= y[good]:
            worse_top += 1
        others, first, end = (ranks, worse, n) if good < top else (tops, worse_top, n_tops)
        own_push, own_curve = pushes[good], curves[good]
        for other in range(first, end):
            bad = others[other]
            i, j = min(good, bad), max(good, bad)
            if kind == 0:
                delta = inside[i] if last[i] == last[j] else mean_above[i] - above[i] * mean[j]
                delta *= y[good] - y[bad]
            else:
                delta = change_of_swap(y, discounts, kind, sums, leader, second, i, j)
            delta = abs(delta) * scale
            if weighted:
                delta *= ranked.weight[good] * ranked.weight[bad]
            if delta == 0.0:
                continue
            ahead, both = s[good] - s[bad], power[good] + power[bad]
            if soften:
                delta /= 0.01 + abs(ahead)
            if valued:
                loss += delta * (max(-sigmoid * ahead, 0.0) + np.log1p(np.exp(-abs(sigmoid * ahead))))
            # too far below the first document the quotient of powers is not exact
            rho = power[bad] / both if both > SMALLEST else 1.0 / (1.0 + np.exp(sigmoid * ahead))
            push, curve = sigmoid * rho * delta, sigmoid * sigmoid * rho * (1.0 - rho) * delta
            own_push -= push
            own_curve += curve
            pushes[bad] += push
            curves[bad] += curve
            total += 2.0 * push
        pushes[good], curves[good] = own_push, own_curve
    return total, loss


@dataclass(frozen=True, kw_only=True)
class LambdaForces(Objective):
    """LambdaRank's forces (Burges et al. 2006) as the gradient of what they are, between changes of the ranking.

    With the weights |change of the measure| held at the present ranking, the forces are the gradient of the weighted
    logistic loss. That jumps wherever two documents change places, so no function of the scores has these gradients
    everywhere and a line search has nothing to hold on to. For products a · b the weights of documents of equal score
    are means over their orders. Unlike LambdaMART's, the forces are not normalised.
    """

    name: ClassVar[str] = "lambda forces"
    convex: ClassVar[bool] = False

    measure: Measure
    convention: Convention

    def __post_init__(self) -> None:
        _structure(self.measure, self.convention)

    def prepare(self, data: Dataset) -> Prepared:
        """Find gains, discounts and divisors."""
        refuse_row_weights(data, self.name)
        structure = _structure(self.measure, self.convention)
        return PreparedForces(structure, data, row_gains(structure, data, self.name))


class PreparedForces(Prepared):
    """LambdaRank's forces made ready for one Dataset."""

    ranks = True

    def __init__(self, structure: Structure, data: Dataset, gains: Floats) -> None:
        self.indptr, self._kind = data.indptr, KINDS[structure.kind]
        self._gains = np.ascontiguousarray(gains)
        self._by_gain = descending(self._gains, data.indptr)
        self._scale = structure.factors(data.y, data.indptr)
        self._discounts = structure.discounts(data.longest)
        self._truncation = int(np.count_nonzero(self._discounts))  # past the cut-off no swap changes anything

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Return the weighted logistic losses of a block of queries and fill in the forces."""
        indptr, losses = self.indptr[first : last + 1], np.empty(last - first)
        gains = self._gains[indptr[0] : indptr[-1]]
        by_gain, forces = self._by_gain[indptr[0] : indptr[-1]], (gradient, np.empty(len(scores)), losses)
        lambda_gradients(
            scores, order, by_gain, gains, np.empty(0), self._scale[first:last], indptr, self._discounts, self._kind,
            self._truncation, 1.0, 0, *forces,
        )  # fmt: skip
        return losses


def has_swaps(measure: Measure) -> bool:
    """Tell whether the change of a measure by a swap can be found: it is known, or the documents are swapped."""
    return measure.of_labels if isinstance(measure, FunctionMeasure) else has_lambdas(measure)


def has_lambdas(measure: Measure) -> bool:
    """Tell whether a measure is of a kind whose change by a swap is known."""
    structure = measure.structure(make_convention("default"))
    return structure is not None and structure.kind in KINDS


def _structure(measure: Measure, convention: Convention) -> Structure:
    structure = measure.structure(convention)
    if structure is None or structure.kind not in KINDS:
        raise OptionError(
            f"lambdas: expected a measure that is a sum over ranks, such as NDCG, AP, RR or ERR, got {measure.name}"
        )
    return structure


@dataclass(frozen=True)
class Lambdas:
    """LambdaRank's gradients for a measure, as trees are grown on them; no function of the scores has them.

    As in LightGBM, ``truncation`` stands for the cut-off of a product such as NDCG@k: documents at all ranks teach.
    """

    measure: Any = "ndcg@10"
    truncation: Count = 30
    sigmoid: Positive = 1.0
    normalised: bool = True

    def prepare(self, data: Dataset, n_jobs: int | None = None) -> PreparedLambdas:
        """Look at the labels once."""
        check_fields(self)
        measure, convention, widest = parse_measure(self.measure), make_convention("default"), data.longest
        if isinstance(measure, FunctionMeasure) and has_swaps(measure):
            return PreparedSwaps(self, data, measure, np.ascontiguousarray(measure.worths(data.y, convention)), n_jobs)
        structure, depth = _structure(measure, convention), None
        if structure.kind == "additive":
            depth = self.truncation
            whole = _structure(measure.whole_list(), convention)
            if np.ptp(whole.discounts(widest + 1)) > 0:  # else no swap would change anything, as with precision
                structure = whole
        gains, scale = structure.row_gains(data), structure.factors(data.y, data.indptr, depth)
        return PreparedLambdas(
            self, data, KINDS[structure.kind], np.ascontiguousarray(gains), scale, structure.discounts(widest), n_jobs
        )


class PreparedLambdas:
    """Lambdas made ready for one Dataset; all rows in stored order."""

    def __init__(
        self,
        lambdas: Lambdas,
        data: Dataset,
        kind: int,
        gains: Floats,
        scale: Floats,
        by_rank: Floats,
        n_jobs: int | None,
    ) -> None:
        self._lambdas, self._kind, self._gains, self._scale, self._discounts = lambdas, kind, gains, scale, by_rank
        self._indptr, self._n_jobs, self._by_gain = data.indptr, n_jobs, descending(gains, data.indptr)
        self._weight, self._row_weight = None, np.empty(0)
        if data.sample_weight is not None:
            self._row_weight = data.sample_weight / data.sample_weight.mean()
        if data.query_weight is not None:
            self._weight = np.repeat(query_shares(data) * data.n_queries, data.sizes)
        cuts = np.arange(0, data.n_documents + BLOCK_ROWS, BLOCK_ROWS)
        borders = np.unique(np.append(np.searchsorted(data.indptr, cuts), data.n_queries))
        blocks = itertools.pairwise(borders[borders <= data.n_queries].tolist())
        self._blocks = [(first, last, Sorter(data.indptr[first : last + 1])) for first, last in blocks]

    def __call__(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return gradient and curvature by the scores."""
        gradient, hessian = np.empty(len(scores)), np.empty(len(scores))

        def work(block: tuple[int, int, Sorter]) -> None:
            first, last, sorter = block
            indptr = self._indptr[first : last + 1]
            rows = slice(int(indptr[0]), int(indptr[-1]))
            order = sorter.descending(scores[rows], stable=True)
            self._push((first, last), indptr, scores[rows], order, gradient[rows], hessian[rows])

        map_threads(work, self._blocks, self._n_jobs)
        if self._weight is not None:
            gradient, hessian = gradient * self._weight, hessian * self._weight
        return gradient, hessian

    def _push(
        self,
        block: tuple[int, int],
        indptr: Integers,
        scores: Floats,
        order: Integers,
        gradient: Floats,
        hessian: Floats,
    ) -> None:
        """Fill in gradient and curvature of the queries of a block."""
        options, rows = self._lambdas, slice(int(indptr[0]), int(indptr[-1]))
        lambda_gradients(
            scores, order, self._by_gain[rows], self._gains[rows], self._row_weight[rows], self._scale[slice(*block)],
            indptr, self._discounts, self._kind, options.truncation, options.sigmoid, int(options.normalised),
            gradient, hessian, np.empty(0),
        )  # fmt: skip


class PreparedSwaps(PreparedLambdas):
    """Lambdas of a function of the user's own: what a swap changes is found by swapping, and calling it."""

    def __init__(
        self, lambdas: Lambdas, data: Dataset, measure: FunctionMeasure, worths: Floats, n_jobs: int | None
    ) -> None:
        super().__init__(lambdas, data, 0, worths, np.ones(data.n_queries), np.empty(0), n_jobs)
        self._measure, self._labels = measure, data.y

    def _push(
        self,
        block: tuple[int, int],
        indptr: Integers,
        scores: Floats,
        order: Integers,
        gradient: Floats,
        hessian: Floats,
    ) -> None:
        """Fill in gradient and curvature; without machine code of the function, all of it runs as Python."""
        options, rows = self._lambdas, slice(int(indptr[0]), int(indptr[-1]))
        by_row = (self._labels[rows], self._gains[rows], self._row_weight[rows])
        how = (options.truncation, options.sigmoid, int(options.normalised))
        compiled = self._measure.compiled
        with errors_of(self._measure):
            if compiled is None:
                push_by_swaps.function(self._measure.call, scores, order, *by_row, indptr, *how, gradient, hessian)
            else:
                push_by_swaps(compiled, scores, order, *by_row, indptr, *how, gradient, hessian)
