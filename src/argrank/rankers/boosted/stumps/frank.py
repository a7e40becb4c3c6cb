"""FRank: boosting of threshold rankers on the fidelity loss of pairs."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from argrank._jit import kernel
from argrank._threads import map_threads
from argrank._types import Filled, FilledMatrix, Floats, Integers, Matrix
from argrank.data.dataset import Dataset
from argrank.engines import AnyRisk, make_risk
from argrank.measures.structure import level_numbers, pair_counts
from argrank.objectives.objective import Objective, query_shares
from argrank.objectives.pairwise import Fidelity
from argrank.rankers.boosted.stumps._thresholds import MOST_THRESHOLDS, Choice, Search, ThresholdRanker, Thresholds

BLOCKS = 16  # blocks of queries for threads; sums are added in order, so results do not depend on the number of threads
LEAST_SHARE = 1e-9  # of the pairs' weight: a threshold that orders no pair wrongly would get an infinite step


@kernel()
def _weigh(
    scores: Floats,
    levels: Floats,
    indptr: Integers,
    shares: Floats,
    places: Matrix[np.uint8],
    lowest: FilledMatrix[np.float64],
    weights: Filled[np.float64],
) -> None:
    """Add the weight of every pair to those of its documents, and by feature to that of its lower place.

    A pair weighs minus the slope of its loss, 1/2 sqrt(P) (1 - P), times the share of its query's pairs.
    """
    n_features = places.shape[1]
    for query in range(len(indptr) - 1):
        for better in range(indptr[query], indptr[query + 1]):
            for worse in range(indptr[query], indptr[query + 1]):
                if levels[better] > levels[worse]:
                    right = 1.0 / (1.0 + np.exp(scores[worse] - scores[better]))
                    weight = 0.5 * shares[query] * np.sqrt(right) * (1.0 - right)
                    weights[better] += weight
                    weights[worse] += weight
                    for feature in range(n_features):
                        lowest[feature, min(places[better, feature], places[worse, feature])] += weight


@dataclass(eq=False, repr=False, kw_only=True)
class FRank(ThresholdRanker):
    """Additive step functions of single features by boosting on the fidelity loss of pairs (Tsai et al. 2007).

    A weak ranker is 1 where a feature exceeds a threshold and 0 elsewhere. Let R be the weight of the pairs it orders
    rightly and W of those it orders wrongly, a pair weighing minus the slope of its loss. That weight falls no faster
    than exp(-t) when a pair moves apart by t and rises no faster than exp(t) when it moves together, so a step t lowers
    the objective by at least R (1 - exp(-t)) - W (exp(t) - 1). The paper's step, 1/2 log(R / W), maximises this bound,
    to (sqrt(R) - sqrt(W))², and the threshold with the greatest bound is taken. A round costs the number of pairs times
    that of features; pairs are not stored.

    ``objective_`` is the mean over queries of the mean over their pairs of the loss.
    """

    minimises: ClassVar[str] = "pairs in the wrong order"

    def _objective(self) -> Objective:
        return Fidelity()

    def _search(self, data: Dataset) -> Search:
        return _Search(data, make_risk(data, self._objective(), self.n_jobs), self.n_jobs)


class _Search:
    """Finds the threshold with the greatest guaranteed decrease.

    Sums over documents give the difference of R and W above every threshold. Their sum is what pairs weigh of which one
    document is above: the weights of all documents above, less twice the pairs that are above as a whole.
    """

    def __init__(self, data: Dataset, risk: AnyRisk, n_jobs: int | None) -> None:
        self.thresholds, self._risk, self._n_jobs = Thresholds(data), risk, n_jobs
        self._by_document = np.ascontiguousarray(self.thresholds.places.T)
        self._levels, self._indptr = level_numbers(data.y, data.indptr), data.indptr
        self._shares = query_shares(data) / np.maximum(pair_counts(data.indptr, self._levels), 1.0)
        borders = np.unique(np.linspace(0, data.n_queries, BLOCKS + 1).astype(np.int64)).tolist()
        self._blocks = list(itertools.pairwise(borders))

    def look(self, scores: Floats) -> tuple[float, Floats]:
        """Return the mean loss and its potentials, minus its slopes by the scores."""
        value, slopes = self._risk.at_scores(scores)
        return value, -slopes

    def choose(self, scores: Floats, objective: float, potentials: Floats) -> Choice | None:
        """Return the threshold with the greatest guaranteed decrease."""
        weights = np.zeros(len(scores))

        def weigh(block: tuple[int, int]) -> Floats:
            first, last = block
            lowest = np.zeros((len(self.thresholds.places), MOST_THRESHOLDS + 1))
            indptr, shares = self._indptr[first : last + 1], self._shares[first:last]
            _weigh(scores, self._levels, indptr, shares, self._by_document, lowest, weights)
            return lowest

        lowest = functools.reduce(np.add, map_threads(weigh, self._blocks, self._n_jobs))
        total = 0.5 * float(weights.sum())
        above = total - np.cumsum(lowest, axis=1)[:, :-1]  # pairs of which both are above
        split = self.thresholds.sums_above(weights) - 2.0 * above
        margin = self.thresholds.sums_above(potentials)
        right, wrong = (np.maximum(0.5 * (split + sign * margin), LEAST_SHARE * total) for sign in (1.0, -1.0))
        gains = (np.sqrt(right) - np.sqrt(wrong)) ** 2
        feature, cut = (int(i) for i in np.unravel_index(int(np.argmax(gains)), gains.shape))
        gain, step = float(gains[feature, cut]), 0.5 * float(np.log(right[feature, cut] / wrong[feature, cut]))
        return None if gain < 1e-12 * objective else Choice(feature, cut, step, ("promised", gain))
