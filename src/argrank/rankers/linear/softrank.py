"""SoftRank: a linear ranker by the expected measure of noisy scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from argrank._declared import Positive
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.engines import AnyRisk
from argrank.measures.conventions import Convention
from argrank.objectives.objective import Objective
from argrank.objectives.smooth import ExpectedMeasure
from argrank.rankers.cheap_models import best_length, regression_weights
from argrank.rankers.linear._product_measure import ProductMeasure
from argrank.rankers.linear.linear_ranker import LinearRanker, Restarted
from argrank.solvers import Regulariser


@dataclass(eq=False, repr=False, kw_only=True)
class SoftRank(Restarted, ProductMeasure, LinearRanker):
    """Linear SoftRank (Taylor et al. 2008): the loss of the expected measure under Gaussian noise on the scores.

    The paper trains a neural network by gradient steps with NDCG; here ``|w|² / (2C)`` regularises the weights. Halving
    sigma is the same as doubling the weights, so it can stay 1 while C is tuned. Not convex; the first descent starts
    from a regression at its best length, since at w = 0 every document beats half of the others and hardly any reaches
    the top ranks.

    Parameters
    ----------
    sigma
        Standard deviation of the noise on every score. Smaller ones are closer to the measure and harder to optimise.
    """

    takes_gains: ClassVar[bool] = True

    C: Positive = 1000.0
    sigma: Positive = 1.0

    def _objective(self) -> Objective:
        return ExpectedMeasure(measure=self._optimised, convention=Convention(**self._counting()), sigma=self.sigma)

    def _start(self, data: Dataset, risk: AnyRisk, R: Regulariser, C: float, given: Floats | None) -> Floats | None:
        """Return the weights of a regression at the best length.

        Long lists need long weights: if scores differ by no more than their noise, no document of a thousand is likely
        to reach the top ranks, and the risk is flat.
        """
        if given is not None:
            return given
        return best_length([regression_weights(data, self.n_jobs)], risk, lambda w: R.value(w) / C)
