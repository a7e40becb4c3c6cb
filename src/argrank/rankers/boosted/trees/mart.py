"""MART and QueryMART: boosted trees by least squares, on the labels or on their differences within queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from argrank._declared import AtLeast, AtMost, Count32
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.measures.gains import check_gain, gains_of, row_targets
from argrank.objectives.objective import Objective
from argrank.objectives.pointwise import SquaredError
from argrank.rankers.boosted.trees.boosted_ranker import row_weights
from argrank.rankers.boosted.trees.boosting import Draw, Loss
from argrank.rankers.boosted.trees.lightgbm_ranker import LightGBMRanker
from argrank.rankers.boosted.trees.linear_start import centred


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


@dataclass(eq=False, repr=False, kw_only=True)
class QueryMART(LightGBMRanker):
    """Boosted trees that minimise the squared error of scores against labels, both relative to the mean of their query.

    Differences between queries, which change no ranking, are not learned (CatBoost calls the loss QueryRMSE). Trees are
    fitted to the residuals of a linear model, and the model is the mean of several seeds: the strongest single tree
    ranker here on most data. A row of weight 2 (``sample_weight``) counts as two equal rows, in the error and in the
    mean of its query. Needs the extra ``trees``.

    Parameters
    ----------
    gain : "linear", "exp2", sequence or callable
        What is fitted: the label itself by default, or a gain of it. "exp2" counts the best labels more, as NDCG does.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(40, 30, 5, random_state=1)
    >>> ranker = ar.make_ranker("query-mart", n_trees=20).fit(data)
    >>> [type(part).__name__ for part in ranker.model_.members], ranker.score(data) > 0.8
    (['LinearModel', 'TreesModel'], True)
    """

    uses_row_weights: ClassVar[bool] = True
    takes_gains: ClassVar[bool] = True
    minimises: ClassVar[str] = "the squared error of differences within queries"

    n_trees: Count32 = 100
    start: Literal["linear"] | None = "linear"
    n_seeds: Annotated[int, AtLeast(1), AtMost(1000)] = 5
    gain: Any = "linear"

    def _loss(self, data: Dataset) -> Loss:
        return QueryResiduals(centred(row_targets(data, check_gain(self.gain)), data), data, row_weights(data))


class QueryResiduals(Loss):
    """Half the squared error of scores that are centred within queries."""

    def __init__(self, targets: Floats, data: Dataset, weight: Floats) -> None:
        self._targets, self._data, self._weight = targets, data, weight

    def slopes(self, scores: Floats, draw: Draw) -> tuple[Floats, Floats]:
        """Return the centred errors, and the weights as curvature."""
        return self._weight * (centred(scores[:, 0], self._data) - self._targets), self._weight

    def value(self, scores: Floats) -> float:
        """Return half the weighted sum of squared errors."""
        return 0.5 * float((self._weight * (centred(scores[:, 0], self._data) - self._targets) ** 2).sum())
