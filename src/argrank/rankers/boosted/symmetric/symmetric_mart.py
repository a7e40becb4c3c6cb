"""SymmetricMART: our own boosted symmetric trees, for any objective."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.base import clone

from argrank._declared import AtLeast, AtMost, Count32, NotNegative, Share
from argrank.data.dataset import Dataset
from argrank.errors import OptionError
from argrank.models.model import Model
from argrank.models.sum import SumModel
from argrank.objectives.objective import Objective
from argrank.rankers.base_ranker import BaseRanker
from argrank.rankers.boosted.symmetric.symmetric_boosters import SymmetricBoosters
from argrank.rankers.boosted.trees.boosting import Boosters, Loss, Starts, State
from argrank.rankers.boosted.trees.gradient_boosted_ranker import GradientBoostedRanker
from argrank.rankers.boosted.trees.mcrank import McRank
from argrank.rankers.custom import Custom, ObjectiveLoss
from argrank.rankers.registry import make_judged
from argrank.rankers.training_data import check_training


@dataclass(eq=False, repr=False, kw_only=True)
class SymmetricMART(GradientBoostedRanker):
    """Boosted symmetric (oblivious) trees: all nodes of a level have the same split.

    A tree is ``depth`` questions and a table of values, indexed by the answers: the fastest tree model to serve. Using
    the same split everywhere also regularises, which helps most on large data. The trees are grown by argrank itself
    and need no other package. A missing value gets the answer that gained more in training. Categories are encoded by a
    number: how far their documents are above the start's prediction, estimated on held-out queries.

    Parameters
    ----------
    objective : str, ranker, Objective or function
        What is minimised: the name of a ranker of trees ("query-mart": squared error of differences within queries,
        "mart", "pair-mart", "xendcg-mart", "lambda-mart"), a ranker with parameters of its own, such as
        ``ar.make_ranker("lambda-mart", measure="map")``, or anything that `custom` accepts: another ranker that has an
        objective, or a function ``f(scores, labels) -> (value, gradient)``.
    depth
        Questions of a tree, which has 2^depth leaves. Fewer are faster and overfit less.
    n_bins
        Most bins for the values of a feature; splits are at their borders.
    l2
        Penalty on the values of the leaves, as a number of documents: a leaf of this many documents gets half the value
        that it would have without the penalty. So one default suits every objective, at any scale. Raise it if training
        is far better than validation.
    bagging_fraction
        Share of the queries, drawn for each tree, that it is grown on. Less than all is faster, and was less accurate
        on most data.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(40, 30, 5, truth="nonlinear", random_state=1)
    >>> ranker = ar.make_ranker("symmetric-mart", n_trees=60, objective="lambda-mart").fit(data)
    >>> ranker.model_.members[-1].values.shape, ranker.score(data) > 0.8
    ((60, 64), True)
    """

    uses_row_weights: ClassVar[bool] = True
    takes_gains: ClassVar[bool] = True

    objective: Any = "query-mart"
    n_trees: Count32 = 400
    depth: Annotated[int, AtLeast(1), AtMost(10)] = 6
    n_bins: Annotated[int, AtLeast(2), AtMost(255)] = 128
    feature_fraction: Share = 0.8
    bagging_fraction: Share = 1.0
    l2: NotNegative = 10.0
    start: Literal["linear"] | None = "linear"

    def _inner(self) -> BaseRanker:
        """Return the ranker whose objective it is."""
        inner: BaseRanker
        if isinstance(self.objective, BaseRanker):
            inner = clone(self.objective)
        elif isinstance(self.objective, str):
            inner = make_judged(self.objective)
        else:
            inner = Custom(objective=self.objective)
        if isinstance(inner, McRank):
            raise OptionError("objective: expected one of a single score, got mcrank, which has one for every label")
        inner.set_params(n_jobs=self.n_jobs)
        return inner

    @property
    def _optimised(self) -> Any:
        return self._inner()._optimised

    @property
    def _minimised(self) -> str:
        return self._inner().minimises

    def _objective(self) -> Objective:
        return self._inner()._objective()

    def _loss(self, data: Dataset) -> Loss:
        inner = self._inner()
        check_training(inner, data)
        if isinstance(inner, GradientBoostedRanker):
            return inner._loss(data)
        return ObjectiveLoss(inner._objective(), data, self.n_jobs)

    def _boosters(self, data: Dataset, parts: Sequence[Dataset], loss: Loss, starts: Starts, kept: State) -> Boosters:
        return SymmetricBoosters(data, parts, self, loss, starts, kept)

    def finished_model(
        self, boosters: SymmetricBoosters, sizes: Sequence[int], start: Model | None, offset: float, data: Dataset
    ) -> Model:
        """Return the model of the given number of rounds of each booster."""
        trees = boosters.model(sizes, offset)
        return trees if start is None else SumModel((start, trees), np.ones(2))
