"""MART: least squares on the labels, boosted trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.measures.gains import check_gain, gains_of
from argrank.objectives.objective import Objective
from argrank.objectives.pointwise import SquaredError
from argrank.rankers.boosted.trees.boosted_ranker import row_weights
from argrank.rankers.boosted.trees.boosting import Draw, Loss
from argrank.rankers.boosted.trees.lightgbm_ranker import LightGBMRanker


@dataclass(eq=False, repr=False, kw_only=True)
class MART(LightGBMRanker):
    """Boosted regression trees that minimise the squared error of score against label (Friedman 2001).

    Each tree is fitted to the residuals of the earlier trees and added with a small weight. Trees are LightGBM's, grown
    leaf by leaf on binned features; the scores estimate the label itself. Needs the extra ``trees``.

    Parameters
    ----------
    gain : "linear", "exp2", sequence or callable
        What is fitted: the label itself by default, or a gain of it. "exp2" counts the best labels more, as NDCG does.

    Examples
    --------
    >>> import argrank as ar
    >>> train, valid = ar.make_ranking(60, 30, 5, truth="nonlinear", random_state=1).split(0.7, 0.3)
    >>> ranker = ar.make_ranker("mart", n_leaves=8, early_stopping=10).fit(train, eval_set=valid)
    >>> bool(ranker.score(valid) == max(ranker.trace_["validation"]))
    True
    """

    uses_row_weights: ClassVar[bool] = True
    fits_labels: ClassVar[bool] = True
    minimises: ClassVar[str] = "the squared error of the labels"

    gain: Any = "linear"

    def _objective(self) -> Objective:
        return SquaredError(gain=self.gain, intercept=0.0)

    def _loss(self, data: Dataset) -> Loss:
        return Residuals(gains_of(data.y, check_gain(self.gain)), row_weights(data))


class Residuals(Loss):
    """The squared error; half its gradient, so that a leaf's value is the mean residual."""

    def __init__(self, targets: Floats, weight: Floats) -> None:
        self._targets, self._weight = targets, weight

    def slopes(self, scores: Floats, draw: Draw) -> tuple[Floats, Floats]:
        """Return minus the residuals, and the weights."""
        return self._weight * (scores[:, 0] - self._targets), self._weight

    def value(self, scores: Floats) -> float:
        """Return the weighted sum of squared errors."""
        return float((self._weight * (scores[:, 0] - self._targets) ** 2).sum())

    def offset(self, scores: Floats) -> float:
        """Return the mean residual."""
        return float(np.average(self._targets - scores, weights=self._weight))
