"""What a solver sees and what it hands back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Called after every iteration with the weights and the facts of the iteration; True stops the solver.
Callback = Callable[[Floats, Mapping[str, float]], bool | None]


class Risk(Protocol):
    """A mean over queries as a function of the weights; all that a solver knows of data and objective."""

    n_queries: int
    n_features: int
    seconds: float

    @property
    def n_passes(self) -> float:
        """Passes over the features so far."""

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        """Return the risk and its gradient."""

    def scores(self, w: Floats) -> Floats:
        """Return the scores of all rows."""

    def at_scores(self, scores: Floats) -> tuple[float, Floats]:
        """Return the risk and its gradient by the scores, without a pass over the features."""

    def query(self, q: int, w: Floats) -> tuple[float, Floats, float]:
        """Return loss, gradient and offset of one query."""


class SmoothRisk(Risk, Protocol):
    """A risk that has at least a generalised Hessian."""

    def hessian_product(self, direction: Floats) -> Floats:
        """Return the Hessian at the last ``value_and_gradient`` times a direction."""


@dataclass(frozen=True)
class Result:
    """The weights a solver found, and how good they provably are.

    ``lower_bound`` is a proven bound of the minimum and ``gap = objective - lower_bound``, or NaN where the method
    proves none. ``reason`` is one word, ``message`` a sentence for people.
    """

    w: Floats
    objective: float
    lower_bound: float
    gap: float
    gradient_norm: float
    n_iter: int
    n_passes: float
    converged: bool
    reason: str
    message: str
