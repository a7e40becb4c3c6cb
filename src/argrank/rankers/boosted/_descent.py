"""Weak learners that a line search weighs: LightGBM's trees, or any regressor of scikit-learn.

They are fitted to an objective's gradient and scaled to the step that minimises the objective along them.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.prepare.impute import refuse_missing
from argrank.engines import make_risk
from argrank.errors import OptionError, shown
from argrank.models._tree import Tree
from argrank.models.ensemble import Member
from argrank.objectives.objective import Objective, query_shares
from argrank.objectives.pointwise import SquaredError
from argrank.rankers.boosted._boosting import row_weights
from argrank.rankers.boosted._growth import Growth, Settings

DOUBLINGS, HALVINGS = 40, 12


class Descent:
    """An objective on training data, at any scores.

    For least squares a tree fitted to the residuals already is the best step. For every other objective a tree is
    fitted to minus the gradient and its output is scaled to the minimum of the objective along it (Friedman 2001,
    step 5 of Algorithm 1), so that one range of weights suits all objectives. Least squares leaves out the constant by
    which labels exceed the scores to begin with: it moves no document.
    """

    def __init__(self, data: Dataset, objective: Objective, begin: Floats, n_jobs: int | None) -> None:
        self._risk = make_risk(data, objective, n_jobs)
        some = int(np.argmax(self._risk.query_shares))
        self._n_queries = float(data.n_queries * query_shares(data)[some] / self._risk.query_shares[some])
        self._hessian = np.ones(data.n_documents)
        self._targets: Floats | None = None
        if isinstance(objective, SquaredError):
            self._hessian = row_weights(data)
            targets = objective.targets(data)
            self._targets = targets - float((self._hessian * (targets - begin)).sum() / self._hessian.sum())

    def next(self, source: Source, scores: Floats) -> Weak | None:
        """Return a weak learner whose output, with weight 1, minimises the objective along it."""
        if self._targets is not None:
            return source.next(self._hessian * (scores - self._targets), self._hessian)
        weak = source.next(self._gradient(scores), self._hessian)
        return None if weak is None else weak.scaled(self._minimum(scores, weak.output))

    def _gradient(self, scores: Floats) -> Floats:
        """Return the gradient of the sum over queries: the mean's would shrink as data grows."""
        gradient: Floats = self._risk.at_scores(scores)[1] * self._n_queries
        return gradient

    def _minimum(self, scores: Floats, direction: Floats) -> float:
        """Return where the objective's slope along the direction changes its sign, found by bisection."""

        def slope(step: float) -> float:
            return float((self._risk.at_scores(scores + step * direction)[1] * direction).sum())

        low, high = 0.0, 1.0
        for _ in range(DOUBLINGS):
            if slope(high) >= 0.0:
                break
            low, high = high, 2.0 * high
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
        return 0.5 * (low + high)


class Weak(NamedTuple):
    """One weak learner: its output for the training rows, its part of the model, and for a tree the rows' leaves."""

    output: Floats
    member: Tree | Member
    leaf: Integers | None = None

    def weighed(self, weight: float) -> Tree | Member:
        """Return the part of the model for a weight."""
        if isinstance(self.member, Tree):
            return self.member.with_values(weight * self.member.value)
        return self.member.with_weight(weight * self.member.weight)

    def scaled(self, factor: float) -> Weak:
        """Return the weak learner in other units."""
        return self if factor == 1.0 else Weak(factor * self.output, self.weighed(factor), self.leaf)


class Source(Protocol):
    """What makes one weak learner a round from the gradient and the curvature of every row."""

    def next(self, gradient: Floats, hessian: Floats) -> Weak | None:
        """Return the next weak learner, None where there is no better one than a constant."""


class Trees:
    """LightGBM's trees."""

    def __init__(self, data: Dataset, settings: Settings, n_before: int = 0) -> None:
        self._growth = Growth(data, settings, n_before)

    def next(self, gradient: Floats, hessian: Floats) -> Weak | None:
        """Grow a tree whose leaves hold minus gradient over curvature."""
        grown = self._growth.grow(gradient, hessian)
        return None if grown is None else Weak(grown.output, grown.tree, grown.leaf)


class Regressors:
    """Copies of a regressor of scikit-learn, each fitted to minus gradient over curvature."""

    def __init__(self, data: Dataset, base: Any, random_state: int) -> None:
        if not hasattr(base, "fit") or not hasattr(base, "predict"):
            raise OptionError(f"base_estimator: expected a regressor with fit and predict, got {shown(base)}")
        if not get_tags(base).input_tags.allow_nan:
            refuse_missing(data)
        self._X, self._base = data.X, base
        self._seeds = np.random.default_rng(random_state)

    def next(self, gradient: Floats, hessian: Floats) -> Weak | None:
        """Fit a copy; weights per row are given where they differ."""
        regressor = clone(self._base)
        if "random_state" in regressor.get_params():
            regressor.set_params(random_state=int(self._seeds.integers(2**31)))
        extra = {} if (hessian == hessian[0]).all() else {"sample_weight": hessian}
        regressor.fit(self._X, -gradient / hessian, **extra)
        output = np.asarray(regressor.predict(self._X), np.float64)
        return None if float(np.ptp(output)) == 0.0 else Weak(output, Member(1.0, regressor))
