"""What is added to the risk: |w|² / 2 or |w|₁, both over C, around a centre, in units and within limits where asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from argrank._types import Floats


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

    def limits(self, n_features: int) -> tuple[Floats, Floats]:
        """Return the least and greatest value of every weight; infinite where there is none."""
        low = np.full(n_features, -np.inf) if self.low is None else self.low
        return low, np.full(n_features, np.inf) if self.high is None else self.high

    def project(self, w: Floats) -> Floats:
        """Return the nearest weights within the limits."""
        return w if self.is_free else np.clip(w, self.low, self.high)

    def room(self, w: Floats, along: Floats) -> float:
        """Return how far one may go along a direction before a limit."""
        if self.is_free:
            return np.inf
        low, high = self.limits(len(w))
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.where(along > 0, (high - w) / along, (low - w) / along)
        return float(steps[along != 0].min(initial=np.inf))

    def around_zero(self) -> Regulariser:
        """Return this penalty as a function of the distance from the centre, with the limits moved accordingly."""
        centre, units = 0.0 if self.centre is None else self.centre, 1.0 if self.units is None else self.units
        low = None if self.low is None else units * (self.low - centre)
        return type(self)(low, None if self.high is None else units * (self.high - centre))


class Squared(Regulariser):
    """Half the squared length."""

    name: ClassVar[str] = "l2"

    def _value(self, w: Floats) -> float:
        return 0.5 * float(w @ w)

    def slope(self, w: Floats, along: Floats) -> float:
        """Return w · along."""
        return float(w @ along)


class Absolute(Regulariser):
    """The sum of the absolute weights, which sets many of them to 0."""

    name: ClassVar[str] = "l1"

    def _value(self, w: Floats) -> float:
        return float(np.abs(w).sum())

    def slope(self, w: Floats, along: Floats) -> float:
        """Return the derivative on the side of the direction: a weight of 0 grows."""
        return float(np.where(w == 0, np.abs(along), np.sign(w) * along).sum())
