"""A ranker with a user's loss: linear, or boosted trees."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from argrank._declared import Count, Count32, Positive
from argrank._types import Floats
from argrank.data.arranged import arranged
from argrank.data.dataset import Dataset
from argrank.data.prepare.normalise import Normaliser
from argrank.engines import is_distributed, make_risk
from argrank.errors import OptionError, shown
from argrank.objectives.function import FunctionObjective
from argrank.objectives.objective import Objective
from argrank.rankers.boosted.trees.boosted_ranker import row_weights
from argrank.rankers.boosted.trees.boosting import Draw, Loss
from argrank.rankers.boosted.trees.lightgbm_ranker import LightGBMRanker
from argrank.rankers.linear.linear_ranker import LinearRanker, Restarted
from argrank.rankers.registry import objective
from argrank.rankers.trace import Outcome, Watcher


@dataclass(eq=False, repr=False, kw_only=True)
class Custom(Restarted, LinearRanker):
    """Ranker that minimises your own loss, with a linear model or with boosted trees.

    The linear model minimises ``|w|² / (2C)`` plus the mean over queries of the loss. Trees, which need the extra
    ``trees``, use only the gradient, divided by its initial size: a leaf's value is the mean of the gradients there.
    The loss may have any scale, but its margins should be near 1. The saved model does not contain the function.

    Parameters
    ----------
    objective : function, str or Objective
        ``f(scores, labels) -> (value, gradient)`` for one query: its scores and labels as arrays of floats, in the
        order of the rows; the loss, and its derivatives by the scores. Also the name of a ranker, whose objective is
        used, or the result of `ar.objective`, for instance to train trees on it.
    model
        What is learned.
    convex
        Whether you know the loss to be convex in the scores; solvers that need it then prove how far the optimum is.
    smooth
        Whether the loss has a gradient everywhere. False for hinges: with ``convex`` it takes the bundle method.
    check
        Compare the gradient with finite differences before the function is first used. Turn it off for forces that are
        the gradient of no function.
    n_trees, n_leaves, min_documents
        Of trees: how many, their leaves at most, and the fewest documents in a leaf.
    learning_rate
        Of trees: weight of each of them.
    early_stopping
        Of trees: stop when ``scoring`` on the first ``eval_set``, or on a fifth of the queries, has not improved for
        this many rounds, and keep the best round.

    Examples
    --------
    >>> import argrank as ar
    >>> def squares(scores, labels):
    ...     difference = scores - labels
    ...     return (difference**2).sum(), 2.0 * difference
    >>> data = ar.make_ranking(40, 30, 5, random_state=1)
    >>> ranker = ar.make_ranker("custom", objective=squares, convex=True).fit(data)
    >>> value, gradient = ar.objective("custom", objective=squares)(ranker.predict(data), data)
    >>> ranker.score(data) > 0.8, bool(value < ranker.objective_)
    (True, True)
    """

    minimises: ClassVar[str] = "a loss of your own"

    objective: Any = "listnet"
    model: Literal["linear", "trees"] = "linear"
    convex: bool = False
    smooth: bool = True
    check: bool = True
    C: Positive = 100.0
    n_starts: Count = 1
    n_trees: Count32 = 180
    n_leaves: Count32 = 31
    min_documents: Count32 = 20
    learning_rate: Positive = 0.05
    early_stopping: Count32 | None = None

    def _objective(self) -> Objective:
        given = self.objective
        if isinstance(given, Objective):
            return given
        if isinstance(given, str):
            return objective(given)
        if isinstance(given, type) or not isinstance(given, Hashable) or not callable(given):
            raise OptionError(
                "objective: expected a function f(scores, labels) -> (value, gradient), an objective or its name, got "
                f"{shown(given)}"
            )
        kind = {"convex": bool(self.convex), "smooth": bool(self.smooth)}
        return FunctionObjective(function=given, check=self.check, **kind)

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        if self.model == "linear":
            return super()._train(data, watcher, start)
        if is_distributed(data):
            raise OptionError("model: expected 'linear' on a cluster, where a loss of one's own grows no trees")
        return self._trees()._train(data, watcher, start)

    def _trees(self) -> ObjectiveTrees:
        growth = ("n_trees", "n_leaves", "min_documents", "learning_rate", "early_stopping")
        shared = {name: vars(self)[name] for name in (*growth, "scoring", "n_jobs", "verbose")}
        seed = 0 if self.random_state is None else self.random_state
        return ObjectiveTrees(objective=self._objective(), random_state=seed, **shared)

    def _arranged(self, data: Dataset) -> Dataset:
        """Return the data in the order of its content where trees draw rows of it."""
        if self.model == "linear" or is_distributed(data):
            return data
        return arranged(data, whole=self.normalise is not None or self.prepare is not None)

    def _scaled(self, scaling: Normaliser, data: Dataset) -> Dataset:
        return super()._scaled(scaling, data) if self.model == "linear" else scaling.transform(data, np.float32)


@dataclass(eq=False, repr=False, kw_only=True)
class ObjectiveTrees(LightGBMRanker):
    """Boosted trees on the gradient of any objective.

    Parameters
    ----------
    objective : Objective
        What is minimised.
    """

    objective: Any = None

    def _objective(self) -> Objective:
        found: Objective = self.objective
        return found

    def _loss(self, data: Dataset) -> Loss:
        return ObjectiveLoss(self._objective(), data, self.n_jobs)


class ObjectiveLoss(Loss):
    """An objective; the curvature of a row is its weight, and the first gradients have a mean square of 1 by it."""

    cheap: ClassVar[bool] = False

    def __init__(self, objective: Objective, data: Dataset, n_jobs: int | None) -> None:
        self._risk = make_risk(data, objective, n_jobs)
        self._weight = row_weights(data) if data.examinations is None else np.ones(data.n_documents)
        first = self._risk.at_scores(np.zeros(data.n_documents))[1]
        each = np.divide(first, self._weight, out=np.zeros_like(first), where=self._weight > 0)
        self._unit = float(np.sqrt(np.average(each**2, weights=self._weight))) or 1.0 / data.n_documents

    def slopes(self, scores: Floats, draw: Draw) -> tuple[Floats, Floats]:
        """Return the gradients in their unit, and the weights as curvature."""
        gradient = self._risk.at_scores(np.ascontiguousarray(scores[:, 0]))[1]
        return gradient / self._unit, self._weight

    def value(self, scores: Floats) -> float:
        """Return the mean loss."""
        return float(self._risk.at_scores(np.ascontiguousarray(scores[:, 0]))[0])
