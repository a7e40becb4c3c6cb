"""What the bundle method adds to the risk: |w|² / 2 or |w|₁, both over C, with or without limits on the weights."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from argrank._types import Floats


class Regulariser(ABC):
    """A penalty on the weights, to be divided by C, and the interval in which every weight must stay."""

    def __init__(self, low: Floats | None = None, high: Floats | None = None) -> None:
        self.low, self.high = low, high

    @property
    def is_free(self) -> bool:
        """Whether no weight has a limit."""
        return self.low is None and self.high is None

    @abstractmethod
    def value(self, w: Floats) -> float:
        """Return the penalty."""

    @abstractmethod
    def slope(self, w: Floats, along: Floats) -> float:
        """Return the derivative of the penalty at w along a direction."""

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

    def around(self, centre: Floats) -> Regulariser:
        """Return this penalty for the distance ``v = w - centre``, with the limits of w."""
        low = None if self.low is None else self.low - centre
        return type(self)(low, None if self.high is None else self.high - centre)


class Squared(Regulariser):
    """Half the squared length."""

    def value(self, w: Floats) -> float:
        """Return |w|² / 2."""
        return 0.5 * float(w @ w)

    def slope(self, w: Floats, along: Floats) -> float:
        """Return w · along."""
        return float(w @ along)


class Absolute(Regulariser):
    """The sum of the absolute weights, which sets many of them to 0."""

    def value(self, w: Floats) -> float:
        """Return |w|₁."""
        return float(np.abs(w).sum())

    def slope(self, w: Floats, along: Floats) -> float:
        """Return the derivative on the side of the direction: a weight of 0 grows."""
        return float(np.where(w == 0, np.abs(along), np.sign(w) * along).sum())
