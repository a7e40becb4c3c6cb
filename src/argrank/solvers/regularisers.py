"""Regularisers: |w|² / 2 or |w|₁, both over C, optionally around a centre, in units and within limits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np

from argrank._types import Floats
from argrank.solvers.problem import Offset, Problem, Result, Risk, Scores


class Regulariser(ABC):
    """A penalty on the distance of the weights from a centre, and the interval in which every weight must stay.

    ``units`` scale the distance: each weight's difference from the centre is multiplied by its unit.
    """

    name: ClassVar[str]

    def __init__(
        self,
        low: Floats | None = None,
        high: Floats | None = None,
        centre: Floats | None = None,
        units: Floats | None = None,
    ) -> None:
        self.low, self.high, self.centre, self.units = low, high, centre, units

    @property
    def is_free(self) -> bool:
        """Whether no weight has a limit."""
        return self.low is None and self.high is None

    def value(self, w: Floats) -> float:
        """Return the penalty."""
        away = w if self.centre is None else w - self.centre
        return self._value(away if self.units is None else self.units * away)

    @abstractmethod
    def _value(self, w: Floats) -> float: ...

    @abstractmethod
    def slope(self, w: Floats, along: Floats) -> float:
        """Return the derivative of the penalty around 0 at w along a direction."""

    @abstractmethod
    def gradient(self, w: Floats) -> Floats:
        """Return a subgradient of the penalty around 0 at w."""

    def limits(self, n_features: int) -> tuple[Floats, Floats]:
        """Return the least and greatest value of every weight; infinite where there is none."""
        low = np.full(n_features, -np.inf) if self.low is None else self.low
        return low, np.full(n_features, np.inf) if self.high is None else self.high

    def project(self, w: Floats) -> Floats:
        """Return the nearest weights within the limits."""
        return w if self.is_free else np.clip(w, self.low, self.high)

    def room(self, w: Floats, along: Floats) -> float:
        """Return the largest step along a direction within the limits."""
        if self.is_free:
            return np.inf
        low, high = self.limits(len(w))
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.where(along > 0, (high - w) / along, (low - w) / along)
        return float(steps[along != 0].min(initial=np.inf))


class Squared(Regulariser):
    """Half the squared length."""

    name: ClassVar[str] = "l2"

    def _value(self, w: Floats) -> float:
        return 0.5 * float(w @ w)

    def slope(self, w: Floats, along: Floats) -> float:
        """Return w · along."""
        return float(w @ along)

    def gradient(self, w: Floats) -> Floats:
        """Return w."""
        return w


class Absolute(Regulariser):
    """The sum of the absolute weights, which sets many of them to 0."""

    name: ClassVar[str] = "l1"

    def _value(self, w: Floats) -> float:
        return float(np.abs(w).sum())

    def slope(self, w: Floats, along: Floats) -> float:
        """Return the one-sided derivative along the direction."""
        return float(np.where(w == 0, np.abs(along), np.sign(w) * along).sum())

    def gradient(self, w: Floats) -> Floats:
        """Return the signs of the weights."""
        return np.sign(w)


class Shifted(Offset):
    """The risk of ``centre + v / units`` as a function of v."""

    def __init__(self, risk: Risk, centre: Floats, units: Floats | None = None) -> None:
        super().__init__(risk, risk.scores(centre))
        self._centre, self._units = centre, units
        self.per_query, self.second_order = risk.per_query, risk.second_order

    def _away(self, v: Floats) -> Floats:
        """Return the offset of v's weights from the centre; it also maps gradients by w to gradients by v."""
        return v if self._units is None else v / self._units

    def scores(self, v: Floats) -> Scores:
        """Return the scores of v relative to the centre."""
        return self._risk.scores(self._away(v))

    def pull_back(self, u: Scores) -> Floats:
        """Return the gradient by v."""
        return self._away(self._risk.pull_back(u))

    def value_and_gradient(self, v: Floats) -> tuple[float, Floats]:
        """Return the risk and its gradient."""
        value, gradient = self._risk.value_and_gradient(self._centre + self._away(v))
        return value, self._away(gradient)

    def hessian_product(self, direction: Floats) -> Floats:
        """Return the Hessian by v times a direction."""
        return self._away(self._risk.hessian_product(self._away(direction)))

    def query(self, q: int, v: Floats) -> tuple[float, Floats, float]:
        """Return loss, gradient and offset of one query, the offset by v."""
        loss, gradient, _ = self._risk.query(q, self._centre + self._away(v))
        gradient = self._away(gradient)
        return loss, gradient, loss - float(gradient @ v)

    def parts(self) -> tuple[Risk, Risk]:
        """Return both parts, seen from the centre."""
        convex, subtracted = self._risk.parts()
        return Shifted(convex, self._centre, self._units), Shifted(subtracted, self._centre, self._units)


def solve_around(problem: Problem, solve: Callable[[Problem], Result]) -> Result:
    """Solve a problem whose regulariser has a centre or units by transforming it to one around 0."""
    callback, R = problem.callback, problem.regulariser
    centre = np.zeros(problem.risk.n_features) if R.centre is None else R.centre
    units = 1.0 if R.units is None else R.units
    limits = (None if end is None else units * (end - centre) for end in (R.low, R.high))

    def weights(v: Floats) -> Floats:
        return R.project(centre + v / units)  # a limit at 0 gives exactly 0

    def tell(v: Floats, facts: Mapping[str, float]) -> bool | None:
        w = weights(v)
        return None if callback is None else callback(w, {**facts, "norm": float(np.sqrt(w @ w))})

    result = solve(
        replace(
            problem,
            risk=Shifted(problem.risk, centre, R.units),
            regulariser=type(R)(*limits),
            start=None if problem.start is None else units * (problem.start - centre),
            callback=None if callback is None else tell,
        )
    )
    return replace(result, w=weights(result.w))
