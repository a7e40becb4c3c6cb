"""PairMART: trees on the logistic loss of pairs of documents."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._jit import helper, kernel
from argrank._threads import map_threads
from argrank._types import Filled, Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.grouping import block_borders
from argrank.measures.gains import check_gain, row_targets
from argrank.objectives.objective import query_shares
from argrank.rankers.boosted.trees.boosting import Draw, Loss
from argrank.rankers.boosted.trees.lightgbm_ranker import LightGBMRanker


@dataclass(eq=False, repr=False, kw_only=True)
class PairMART(LightGBMRanker):
    """Boosted trees on the logistic loss of pairs, each weighed by the difference of its labels.

    The loss of a query is the sum over its pairs of |difference of labels| * log(1 + exp(-difference of scores)),
    better minus worse document, divided by the number of its documents: RankNet's cost (Burges et al. 2005), which
    CatBoost calls PairLogit and XGBoost ``rank:pairwise``. It is convex, and no rank counts more than another. A
    pair's weight is multiplied by the weights of both documents (``sample_weight``). Needs the extra ``trees``; as the
    ``objective`` of ``symmetric-mart`` it does not.

    Parameters
    ----------
    gain : "linear", "exp2", sequence or callable
        Whose differences weigh the pairs: the label itself by default, or a gain of it. "exp2" counts pairs with the
        best labels more, as NDCG does.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(40, 30, 5, truth="nonlinear", random_state=1)
    >>> ranker = ar.make_ranker("pair-mart", n_trees=60, learning_rate=0.2, extra_trees=False).fit(data)
    >>> len(ranker.model_.trees), ranker.score(data) > 0.9
    (60, True)
    """

    uses_row_weights: ClassVar[bool] = True
    takes_gains: ClassVar[bool] = True
    minimises: ClassVar[str] = "pairs in the wrong order"

    gain: Any = "linear"

    def _loss(self, data: Dataset) -> Loss:
        return PairLoss(row_targets(data, check_gain(self.gain)), data, self.n_jobs)


class PairLoss(Loss):
    """The logistic loss of pairs, the weighted mean over queries."""

    cheap: ClassVar[bool] = False

    def __init__(self, gains: Floats, data: Dataset, n_jobs: int | None) -> None:
        self._gains, self._indptr, self._n_jobs = np.ascontiguousarray(gains), data.indptr, n_jobs
        self._scale = query_shares(data) * data.n_queries / data.sizes
        self._weight = np.ones(data.n_documents)
        if data.sample_weight is not None:
            self._weight = data.sample_weight / data.sample_weight.mean()
        self._blocks = list(itertools.pairwise(block_borders(data.indptr).tolist()))

    def slopes(self, scores: Floats, draw: Draw) -> tuple[Floats, Floats]:
        """Return gradient and curvature."""
        column, gradient, curvature = np.ascontiguousarray(scores[:, 0]), np.empty(len(scores)), np.empty(len(scores))

        def work(block: tuple[int, int]) -> None:
            push_pairs(column, self._gains, self._weight, self._scale, self._indptr, *block, gradient, curvature)

        map_threads(work, self._blocks, self._n_jobs)
        return gradient, curvature

    def value(self, scores: Floats) -> float:
        """Return the loss on the training data."""
        column = np.ascontiguousarray(scores[:, 0])
        total = loss_of_pairs(column, self._gains, self._weight, self._scale, self._indptr)
        return float(total / (len(self._indptr) - 1))


SHORT = 32  # documents of a query of which all pairs are visited


@kernel()
def push_pairs(
    scores: Floats,
    gains: Floats,
    weights: Floats,
    scale: Floats,
    indptr: Integers,
    first: int,
    last: int,
    gradient: Filled[np.float64],
    curvature: Filled[np.float64],
) -> None:
    """Fill in gradient and curvature of some queries.

    The chance that i is above j is the power of i over the sum of both powers, so that every document needs one
    exponential instead of one for each pair. Scores more than 300 below the best of the query count as 300 below it.
    Where few documents of a long query are above the least gain, the others meet these alone; elsewhere all pairs are
    visited, which vector instructions make faster, and those of equal gains add 0. Both add in the same order.
    """
    for query in range(first, last):
        begin, end = indptr[query], indptr[query + 1]
        best = scores[begin:end].max()
        powers = np.exp(np.maximum(scores[begin:end] - best, -300.0))
        gradient[begin:end] = 0.0
        curvature[begin:end] = 0.0
        least, above, passed = gains[begin:end].min(), np.empty(0, np.int64), 0
        if end - begin > SHORT:
            above = begin + np.flatnonzero(gains[begin:end] > least)
        few, n_above = 0 < 4 * len(above) < end - begin, len(above)
        for i in range(begin, end):
            own, gain, power = scale[query] * weights[i], gains[i], powers[i - begin]
            push, curve = 0.0, 0.0
            if few and gain == least:
                while passed < n_above and above[passed] < i:
                    passed += 1
                for j in above[passed:]:
                    force, bend = forces(gain - gains[j], own * weights[j], power, powers[j - begin])
                    push += force
                    curve += bend
                    gradient[j] -= force
                    curvature[j] += bend
            else:
                for j in range(i + 1, end):
                    force, bend = forces(gain - gains[j], own * weights[j], power, powers[j - begin])
                    push += force
                    curve += bend
                    gradient[j] -= force
                    curvature[j] += bend
            gradient[i] += push
            curvature[i] += curve


@helper
def forces(lead: float, weight: float, power: float, other: float) -> tuple[float, float]:
    """Return gradient and curvature of a pair by its first score."""
    chance = power / (power + other)
    return weight * (abs(lead) * chance - max(lead, 0.0)), weight * abs(lead) * chance * (1.0 - chance)


@kernel()
def loss_of_pairs(scores: Floats, gains: Floats, weights: Floats, scale: Floats, indptr: Integers) -> float:
    """Return the sum over all queries."""
    total = 0.0
    for query in range(len(indptr) - 1):
        for i in range(indptr[query], indptr[query + 1]):
            for j in range(i + 1, indptr[query + 1]):
                lead = gains[i] - gains[j]
                if lead != 0.0:
                    apart = scores[i] - scores[j] if lead > 0.0 else scores[j] - scores[i]
                    loss = math.log1p(math.exp(-apart)) if apart > 0.0 else math.log1p(math.exp(apart)) - apart
                    total += scale[query] * weights[i] * weights[j] * abs(lead) * loss
    return total
