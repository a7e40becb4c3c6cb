"""What a solver sees and what it hands back."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from argrank._types import Floats

#: Called after every iteration with the weights and the facts of the iteration; True stops the solver.
Callback = Callable[[Floats, Mapping[str, float]], bool | None]


class Risk(Protocol):
    """A mean over queries as a function of the scores ``X @ w``; all that a solver knows of data and objective."""

    @property
    def n_features(self) -> int:
        """Number of weights."""

    @property
    def n_passes(self) -> float:
        """Passes over the features so far."""

    @property
    def seconds(self) -> float:
        """Time spent in the risk so far."""

    def scores(self, w: Floats) -> Floats:
        """Return the scores of all rows: half a pass."""

    def at_scores(self, scores: Floats) -> tuple[float, Floats]:
        """Return the risk and its gradient by the scores, without a pass over the features."""

    def pull_back(self, u: Floats) -> Floats:
        """Return ``X.T @ u``, the gradient by the weights for a gradient u by the scores: half a pass."""


class QueryRisk(Risk, Protocol):
    """A risk whose queries can be asked one by one; each counts with its share."""

    n_queries: int
    query_shares: Floats

    def query(self, q: int, w: Floats) -> tuple[float, Floats, float]:
        """Return loss, gradient and offset of one query."""


class SmoothRisk(Risk, Protocol):
    """A risk that has at least a generalised Hessian."""

    n_queries: int
    n_documents: int

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        """Return the risk and its gradient: one pass."""

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


class Judged(Protocol):
    """Weights with the risk and the objective there."""

    @property
    def w(self) -> Floats:
        """The weights."""

    @property
    def value(self) -> float:
        """The risk."""

    @property
    def objective(self) -> float:
        """The risk with the regulariser."""


class Best:
    """The best weights looked at so far, by ``|w|² / (2C) + risk``."""

    def __init__(self, risk: Risk, C: float) -> None:
        self._risk, self._C = risk, C
        self.w, self.value, self.objective = np.zeros(risk.n_features), math.inf, math.inf

    def look(self, w: Floats) -> None:
        """Evaluate weights and keep them if they are better."""
        value, _ = self._risk.at_scores(self._risk.scores(w))
        objective = value + float(w @ w) / (2 * self._C)
        if objective < self.objective:
            self.w, self.value, self.objective = w, value, objective


class Meter:
    """Counts the passes and the seconds of a solver that minimises ``|w|² / (2C) + risk`` with a proven gap."""

    def __init__(self, risk: Risk) -> None:
        self._risk, self._passes, self._seconds = risk, risk.n_passes, risk.seconds
        self.master_seconds = 0.0

    @property
    def n_passes(self) -> float:
        """Passes over the features since the start."""
        return self._risk.n_passes - self._passes

    def facts(self, w: Floats, objective: float, bound: float, slack: float, n_constraints: int) -> dict[str, float]:
        """Return what the trace shows of an iteration; the risk of a structured ranker is its average slack."""
        return {
            "objective": objective,
            "lower_bound": bound,
            "gap": objective - bound,
            "average_slack": slack,
            "norm": float(np.sqrt(w @ w)),
            "n_constraints": n_constraints,
            "n_passes": self.n_passes,
            "oracle_seconds": self._risk.seconds - self._seconds,
            "master_seconds": self.master_seconds,
        }

    def reason(
        self, best: Judged, bound: float, tol: float, max_iter: int, callback: Callback | None, n_constraints: int
    ) -> str:
        """Tell the callback of an iteration and return why to stop, or an empty word."""
        facts = self.facts(best.w, best.objective, bound, best.value, n_constraints)
        if callback is not None and callback(best.w, facts):
            return "callback"
        if best.objective - bound <= tol * best.objective:
            return "gap"
        return "passes" if self.n_passes >= max_iter else ""

    def result(self, w: Floats, objective: float, bound: float, n_iter: int, reason: str) -> Result:
        """Return the result, with a sentence on why the solver stopped."""
        gap = objective - bound
        share = gap / objective if objective > 0 else 0.0
        why = {
            "gap": "the gap is closed to {share:.1e} of the objective",
            "passes": "stopped after {passes:g} passes over the data with a gap of {share:.1e} of the objective",
            "callback": "stopped by the caller with a gap of {share:.1e} of the objective",
            "interrupted": "interrupted with a gap of {share:.1e} of the objective",
        }[reason]
        return Result(
            w=w,
            objective=objective,
            lower_bound=bound,
            gap=gap,
            gradient_norm=float("nan"),
            n_iter=n_iter,
            n_passes=self.n_passes,
            converged=reason == "gap",
            reason=reason,
            message=why.format(share=share, passes=self.n_passes),
        )
