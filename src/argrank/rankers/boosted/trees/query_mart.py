"""QueryMART: least squares on the differences within queries, boosted trees on a linear start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from argrank._declared import AtLeast, AtMost, Count32
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.measures.gains import check_gain, row_targets
from argrank.rankers.boosted.trees.boosted_ranker import row_weights
from argrank.rankers.boosted.trees.boosting import Draw, Loss
from argrank.rankers.boosted.trees.lightgbm_ranker import LightGBMRanker
from argrank.rankers.boosted.trees.linear_start import centred


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
