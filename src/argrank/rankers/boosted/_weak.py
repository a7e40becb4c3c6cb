"""Weak learners that a line search weighs: LightGBM's trees, or any regressor of scikit-learn."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.prepare.impute import refuse_missing
from argrank.errors import OptionError, shown
from argrank.models._tree import Tree
from argrank.models.ensemble import Member
from argrank.rankers.boosted._growth import Growth, Settings


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
        """Return the ranker in other units."""
        return self if factor == 1.0 else Weak(factor * self.output, self.weighed(factor), self.leaf)


class Source(Protocol):
    """What makes one weak learner a round from the gradient and the curvature of every row."""

    def next(self, gradient: Floats, hessian: Floats) -> Weak | None:
        """Return the next weak learner, None where there is no better one than a constant."""


class Trees:
    """LightGBM's trees."""

    def __init__(self, data: Dataset, settings: Settings) -> None:
        self._growth = Growth(data, settings)

    def next(self, gradient: Floats, hessian: Floats) -> Weak | None:
        """Grow a tree whose leaves hold minus gradient over curvature."""
        grown = self._growth.grow(gradient, hessian)
        return None if grown is None else Weak(grown[0].output, grown[0].tree, grown[0].leaf)


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
