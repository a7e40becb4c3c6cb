"""LambdaMART: trees grown on LambdaRank's gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._declared import Count, Positive
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.evaluation.evaluate import mean_of
from argrank.measures.measure import Measure
from argrank.objectives.lambdas import Lambdas, has_swaps
from argrank.rankers.boosted.trees.boosting import Draw, Loss
from argrank.rankers.boosted.trees.lightgbm_ranker import LightGBMRanker
from argrank.rankers.estimator import Measured


@dataclass(eq=False, repr=False, kw_only=True)
class LambdaMART(Measured, LightGBMRanker):
    """Boosted trees on LambdaRank's gradients for NDCG, DCG, MAP, MRR or ERR (Burges 2010).

    For NDCG the gradients are those of LightGBM's ``lambdarank``, except that tied documents count as the mean over
    their orders instead of in the order of the rows. A pair's weight is the product of the weights of its documents
    (``sample_weight``). Trees are LightGBM's. Needs the extra ``trees``.

    Parameters
    ----------
    truncation
        Use only pairs with at least one document above this rank. Set it slightly above the cut-off that you report;
        fewer pairs train faster.
    sigmoid
        Steepness of the pairwise logistic function. Leave it at 1 and change ``learning_rate`` instead, which
        does nearly the same.
    lambda_norm
        Whether gradients are normalised within a query, as LightGBM does by default. Turn it on to compare with
        LightGBM, or if a few long lists dominate training.
    measure : str, Measure or function
        What the gradients are for: NDCG, DCG, MAP, MRR or ERR, with or without a cut-off; or your own function, called
        for every swap of two documents, which is slower. Use the one that you report.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(40, 30, 5, truth="nonlinear", random_state=1)
    >>> settings = {"n_trees": 20, "n_leaves": 8, "learning_rate": 0.5, "extra_trees": False}
    >>> ranker = ar.make_ranker("lambda-mart", measure="map", **settings).fit(data)
    >>> len(ranker.model_.trees), ranker.score(data) > 0.8
    (20, True)
    """

    takes_gains: ClassVar[bool] = True
    uses_row_weights: ClassVar[bool] = True

    truncation: Count = 30
    sigmoid: Positive = 1.0
    lambda_norm: bool = False

    def _trains(self, measure: Measure, data: Dataset | None) -> bool:
        return has_swaps(measure)

    def _loss(self, data: Dataset) -> Loss:
        lambdas = Lambdas(self.measure, self.truncation, self.sigmoid, self.lambda_norm).prepare(data, self.n_jobs)
        return LambdaLoss(lambdas, data, self.measure, self.n_jobs)


class LambdaLoss(Loss):
    """Lambdas as gradients; the loss that is reported is 1 - measure, which costs a sort of every query."""

    cheap: ClassVar[bool] = False

    def __init__(self, lambdas: Any, data: Dataset, measure: Any, n_jobs: int | None) -> None:
        self._lambdas, self._data, self._measure, self._n_jobs = lambdas, data, measure, n_jobs

    def slopes(self, scores: Floats, draw: Draw) -> tuple[Floats, Floats]:
        """Return the lambdas and their curvatures."""
        gradient, curvature = self._lambdas(np.ascontiguousarray(scores[:, 0]))
        return gradient, curvature

    def value(self, scores: Floats) -> float:
        """Return 1 - measure on the training data, 1 if the measure is undefined for every query."""
        value = mean_of(self._data.to_caller(scores[:, 0]), self._data, self._measure, n_jobs=self._n_jobs)
        return 1.0 if np.isnan(value) else 1.0 - value
