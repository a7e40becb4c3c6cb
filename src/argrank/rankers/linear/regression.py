"""Least squares on the labels: the simplest ranker, and a strong baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._declared import NotNegative
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.measures.gains import check_gain
from argrank.models.linear import LinearModel
from argrank.objectives.objective import Objective
from argrank.objectives.pointwise import SquaredError
from argrank.rankers.base_ranker import BaseRanker
from argrank.rankers.cheap_models import regression
from argrank.rankers.trace import Outcome, Watcher
from argrank.rankers.training_data import LEAST_SQUARES, Work


@dataclass(eq=False, repr=False, kw_only=True)
class Regression(BaseRanker):
    """Linear ranker that minimises ``sum of (w·x + intercept - label)² + ridge * |w|²``.

    The intercept is fitted and then dropped, since it changes no ranking (``intercept_`` holds it). If the solution is
    not unique, the shortest weights are used.

    Parameters
    ----------
    gain : "linear", "exp2", sequence or callable
        What is fitted: the label itself by default, or a gain of it. "exp2" counts the best labels more, as NDCG does.
    ridge
        Weight of the regulariser, none by default, on the scale of scikit-learn's Ridge. Raise it if features are
        redundant or queries are few.
    """

    takes_gains: ClassVar[bool] = True

    uses_row_weights: ClassVar[bool] = True
    fits_labels: ClassVar[bool] = True
    minimises: ClassVar[str] = "the squared error of the labels"
    scales_lazily: ClassVar[bool] = True
    work: ClassVar[Work] = LEAST_SQUARES

    gain: Any = "linear"
    ridge: NotNegative = 0.0

    def _objective(self) -> Objective:
        return SquaredError(gain=self.gain, intercept=self.intercept_ if self.__sklearn_is_fitted__() else 0.0)

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        solution = regression(data, check_gain(self.gain), self.ridge, True, self.n_jobs)
        self.intercept_ = solution.intercept
        watcher(solution.w, {"objective": solution.objective, "norm": float(np.linalg.norm(solution.w))})
        return Outcome(LinearModel(solution.w), solution.objective, 0.0, 1)
