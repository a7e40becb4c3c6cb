"""XE-NDCG MART: trees on the cross entropy that bounds NDCG, with random targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from argrank._declared import NotNegative
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.measures.gains import check_gain, gains_of
from argrank.objectives.objective import query_shares
from argrank.rankers.boosted.trees.boosting import Draw, Loss
from argrank.rankers.boosted.trees.lightgbm_ranker import LightGBMRanker

TINY = 1e-15
MOST_STEPS, PRECISION = 50, 1e-9  # of Newton's method


@dataclass(eq=False, repr=False, kw_only=True)
class XendcgMART(LightGBMRanker):
    """Boosted trees on XE-NDCG, a convex bound of NDCG (Bruch 2021); LightGBM calls it ``rank_xendcg``.

    The target distribution over a query's documents is proportional to 2^label - u, with u drawn between 0 and 1 for
    every document and round; the loss is its cross entropy with the softmax of the scores. ``objective_`` is that of
    the mean of the draws, u = 1/2. Trees start from a linear model, scaled to minimise the loss. Needs the extra
    ``trees``.

    Parameters
    ----------
    l2
        Penalty on the values of the leaves. Documents of long queries have little curvature, so that without the
        penalty leaves would follow the random draws; LightGBM's default is 0.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(40, 30, 5, random_state=1)
    >>> ranker = ar.make_ranker("xendcg-mart", n_trees=20).fit(data)
    >>> [type(part).__name__ for part in ranker.model_.members], ranker.score(data) > 0.8
    (['LinearModel', 'TreesModel'], True)
    """

    minimises: ClassVar[str] = "a cross entropy that bounds NDCG"

    l2: NotNegative = 10.0
    start: Literal["linear"] | None = "linear"

    def _loss(self, data: Dataset) -> Loss:
        return RandomCrossEntropy(data)


class RandomCrossEntropy(Loss):
    """Cross entropy of random targets and the softmax of the scores."""

    cheap: ClassVar[bool] = False

    def __init__(self, data: Dataset) -> None:
        self._begin, self._sizes = data.indptr[:-1], data.sizes
        self._powers = gains_of(data.y, check_gain("exp2")) + 1.0
        self._weight = np.repeat(query_shares(data) * data.n_queries, data.sizes)

    def slopes(self, scores: Floats, draw: Draw) -> tuple[Floats, Floats]:
        """Return LightGBM's gradient, which has the first three terms of a series, and its curvature."""
        uniform = np.random.default_rng([draw.seed, draw.number]).random(len(self._powers))
        chances = self._softmax(scores[:, 0])
        rest = np.maximum(1.0 - chances, TINY)
        first = chances - self._targets(self._powers - uniform)
        terms = first / rest
        second = chances * (self._sums(terms) - terms)
        terms = second / rest
        third = chances * (self._sums(terms) - terms)
        alone = np.repeat(self._sizes > 1, self._sizes)  # nothing can be learned from a single document
        return alone * self._weight * (first + second + third), alone * self._weight * chances * rest

    def value(self, scores: Floats) -> float:
        """Return the weighted mean over queries of the cross entropy at the mean of the draws."""
        chances = np.maximum(self._softmax(scores[:, 0]), 1e-300)
        terms = -self._weight * self._targets(self._powers - 0.5) * np.log(chances)
        return float(terms.sum() / len(self._begin))

    def scale(self, scores: Floats) -> float:
        """Return the factor that minimises the loss, which is convex in it, by Newton's method in a bracket."""
        targets = self._targets(self._powers - 0.5)
        factor, low, high = 1.0, 0.0, np.inf
        for _ in range(MOST_STEPS):
            chances = self._softmax(factor * scores)
            means = self._sums(chances * scores)
            slope = float((self._weight * (chances - targets) * scores).sum())
            curvature = float((self._weight * chances * (scores - means) ** 2).sum())
            low, high = (factor, high) if slope < 0 else (low, factor)
            step = factor - slope / curvature if curvature > 0 else low
            if not low < step < high:
                step = 2 * factor if high == np.inf else 0.5 * (low + high)
            if abs(step - factor) <= PRECISION * factor:
                break
            factor = step
        return factor

    def _targets(self, wanted: Floats) -> Floats:
        return np.asarray(wanted / np.maximum(self._sums(wanted), TINY))

    def _softmax(self, scores: Floats) -> Floats:
        powers = np.exp(scores - np.repeat(np.maximum.reduceat(scores, self._begin), self._sizes))
        return np.asarray(powers / self._sums(powers))

    def _sums(self, values: Floats) -> Floats:
        return np.repeat(np.add.reduceat(values, self._begin), self._sizes)
