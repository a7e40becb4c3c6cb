"""Successive convex approximation (CCCP, DC programming) for a difference of two convex risks.

Minimises ``F(w) = |w|² / (2C) + convex(w) - subtracted(w)``, where the difference is never negative (a tight bound);
other regularisers go as well.
At the current weights the subtracted risk is replaced by its tangent, which lies below it: what is left is convex, lies
above F and touches it, so minimising it lowers F or leaves it. Repeated until F stops falling.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from argrank._types import Floats
from argrank.errors import check_positive
from argrank.solvers import bundle
from argrank.solvers._result import Callback, Result, Risk
from argrank.solvers.regularisers import Regulariser, Squared


class _Majorant:
    """The convex risk less a tangent plane: ``slope · scores + height``, both from the point of contact."""

    def __init__(self, convex: Risk, slope: Floats, height: float) -> None:
        self._convex, self._slope, self._height = convex, slope, height
        self.n_features = convex.n_features
        self.scores, self.pull_back = convex.scores, convex.pull_back

    @property
    def n_passes(self) -> float:
        return self._convex.n_passes

    @property
    def seconds(self) -> float:
        return self._convex.seconds

    def at_scores(self, scores: Floats) -> tuple[float, Floats]:
        value, u = self._convex.at_scores(scores)
        return value - float(self._slope @ scores) - self._height, u - self._slope


def minimise(
    convex: Risk,
    subtracted: Risk,
    C: float,
    tol: float,
    max_iter: int,
    w0: Floats,
    callback: Callback | None = None,
    regulariser: Regulariser | None = None,
) -> Result:
    """Minimise the difference from ``w0``; ends at a point that no convex approximation improves by more than ``tol``.

    The result's objective is F itself and never rises from step to step. Its gap is that of the last convex
    approximation: F is not convex, and nothing is proven about other minima.
    """
    check_positive("C", C)
    penalty = Squared() if regulariser is None else regulariser
    before, w, n_iter = np.inf, penalty.project(np.array(w0, np.float64)), 0
    passes = convex.n_passes
    while True:
        scores = convex.scores(w)
        held, slope = subtracted.at_scores(scores)
        majorant = _Majorant(convex, slope, held - float(slope @ scores))
        left = max_iter - int(convex.n_passes - passes)
        result = bundle.minimise(majorant, C, tol, left, w, regulariser=penalty)
        n_iter, w = n_iter + 1, result.w
        scores = convex.scores(w)
        slack = convex.at_scores(scores)[0] - subtracted.at_scores(scores)[0]
        objective = slack + penalty.value(w) / C
        facts = {"objective": objective, "average_slack": slack, "norm": float(np.sqrt(w @ w)), "gap": result.gap}
        facts["n_passes"] = convex.n_passes - passes
        if callback is not None and callback(w, facts):
            return _finish(result, objective, n_iter, facts["n_passes"], "callback")
        if result.reason != "gap":  # out of passes, or interrupted
            return _finish(result, objective, n_iter, facts["n_passes"], result.reason)
        if before - objective <= tol * objective:
            return _finish(result, objective, n_iter, facts["n_passes"], "gap")
        before = objective


def _finish(result: Result, objective: float, n_iter: int, n_passes: float, reason: str) -> Result:
    message = f"{result.message} (of the last of {n_iter} convex approximations)"
    return replace(
        result,
        objective=objective,
        lower_bound=float("nan"),
        n_iter=n_iter,
        n_passes=n_passes,
        converged=reason == "gap",
        reason=reason,
        message=message,
    )
