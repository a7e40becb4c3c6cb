"""Quasi-Newton (SciPy's L-BFGS) for smooth risks, convex or not.

Minimises ``F(w) = |w|^2 / C + n_queries * risk(w)``, the scaling of LogRank. The risk must be one and the same function
throughout: sampled objectives draw their rankings before the first call. Where it is convex, F is 2/C-strongly convex
and its minimum lies at most ``|gradient|^2 * C / 4`` below; elsewhere the best of several starts is taken and no gap
is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import minimize as scipy_minimize

from argrank._types import Floats
from argrank.errors import check_positive
from argrank.solvers._result import Callback, Result, Risk

MEMORY = 20  # pairs of steps and gradient changes that approximate the Hessian


class ValueRisk(Risk, Protocol):
    """A smooth risk that gives its value and gradient by the weights."""

    n_queries: int

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        """Return the risk and its gradient: one pass."""


@dataclass
class _Point:
    w: Floats
    risk: float
    objective: float
    gradient: Floats

    @property
    def norm(self) -> float:
        return float(np.sqrt(self.gradient @ self.gradient))


class _Stop(Exception):  # noqa: N818  not an error
    """Ends SciPy's loop, with the reason."""


def minimise(
    risk: ValueRisk,
    C: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = 1000,
    w0: Floats | None = None,
    callback: Callback | None = None,
    *,
    convex: bool = True,
    n_starts: int = 1,
    random_state: int = 0,
) -> Result:
    """Minimise ``|w|^2 / C + n_queries * risk(w)``.

    Parameters
    ----------
    tol : float
        Stop when ``|gradient|^2 * C / 4`` is at most this share of the objective.
    max_iter : int
        At most so many passes over the data, all starts together.
    w0 : array, optional
        Where the first start begins; zero otherwise.
    callback : callable, optional
        Gets the weights and the facts of every iteration; returns True to stop.
    convex : bool
        Whether the risk is convex, so that the gap is proven.
    n_starts : int
        Descents from different weights; the best counts. Those after the first begin at random weights whose scores
        have standard deviation 1.
    """
    check_positive("C", C)
    descent = _Descent(risk, C, tol, max_iter, callback, convex)
    generator = np.random.default_rng(random_state)
    best = descent.run(np.zeros(risk.n_features) if w0 is None else np.array(w0, np.float64))
    reason = descent.reason
    for _ in range(n_starts - 1):
        if descent.reason in ("callback", "interrupted", "passes"):
            break
        start = generator.standard_normal(risk.n_features)
        spread = float(np.std(risk.scores(start)))
        found = descent.run(start / spread if spread > 0 else start)
        if found.objective < best.objective:
            best, reason = found, descent.reason
    if descent.reason in ("callback", "interrupted", "passes"):
        reason = descent.reason
    elif not np.array_equal(descent.reported, best.w):
        descent.report(best)  # the last row of a trace is that of the result
    gap = 0.25 * C * best.norm**2 if convex else math.nan
    return Result(
        w=best.w,
        objective=best.objective,
        lower_bound=best.objective - gap,
        gap=gap,
        gradient_norm=best.norm,
        n_iter=descent.n_iter,
        n_passes=descent.n_passes,
        converged=reason == "gradient",
        reason=reason,
        message=MESSAGES[reason].format(norm=best.norm, passes=descent.n_passes),
    )


MESSAGES = {
    "gradient": "the gradient norm fell to {norm:.3g}",
    "passes": "stopped after {passes:g} passes over the data with a gradient norm of {norm:.3g}",
    "precision": "no step lowers the objective any more; the gradient norm is {norm:.3g}",
    "callback": "stopped by the caller with a gradient norm of {norm:.3g}",
    "interrupted": "interrupted with a gradient norm of {norm:.3g}",
}


class _Descent:
    """Runs SciPy's routine from several starts and keeps the count of iterations and passes."""

    def __init__(
        self, risk: ValueRisk, C: float, tol: float, max_iter: int, callback: Callback | None, convex: bool
    ) -> None:
        self.risk, self.C, self.tol, self.max_iter = risk, C, tol, max_iter
        self.callback, self.convex = callback, convex
        self.n_iter, self.reason, self.reported = 0, "", np.empty(0)
        self._passes, self._seconds = risk.n_passes, risk.seconds
        self._last: _Point
        self._best: _Point

    @property
    def n_passes(self) -> float:
        return self.risk.n_passes - self._passes

    def run(self, start: Floats) -> _Point:
        """Descend from a start; ``reason`` says why it ended."""
        self._best = self._at(start)
        options = {"maxcor": MEMORY, "maxiter": 10**9, "maxfun": 10**9, "ftol": 0.0, "gtol": 0.0, "maxls": 30}
        try:
            if self._is_flat(self._best):
                self.report(self._best)
                raise _Stop("gradient")
            scipy_minimize(self._evaluate, start, jac=True, method="L-BFGS-B", callback=self._step, options=options)
            self.reason = "precision"
        except _Stop as stop:
            self.reason = str(stop)
        except KeyboardInterrupt:
            self.reason = "interrupted"
        return self._best

    def _at(self, w: Floats) -> _Point:
        value, slope = self.risk.value_and_gradient(w)
        scale = self.risk.n_queries
        self._last = _Point(w.copy(), value, float(w @ w) / self.C + scale * value, 2.0 * w / self.C + scale * slope)
        return self._last

    def _evaluate(self, w: Floats) -> tuple[float, Floats]:
        if self.n_passes >= self.max_iter and self.n_iter > 0:
            raise _Stop("passes")
        point = self._best if np.array_equal(w, self._best.w) else self._at(w)
        return point.objective, point.gradient

    def _step(self, w: Floats) -> None:
        here = self._last if np.array_equal(w, self._last.w) else self._at(w)
        if here.objective <= self._best.objective:
            self._best = here
        self.report(here)
        if self._is_flat(here):
            raise _Stop("gradient")

    def report(self, here: _Point) -> None:
        """Tell the callback of an iteration."""
        self.n_iter, self.reported = self.n_iter + 1, here.w
        if self.callback is not None and self.callback(here.w, self._facts(here)):
            raise _Stop("callback")

    def _is_flat(self, here: _Point) -> bool:
        return 0.25 * self.C * here.norm**2 <= self.tol * abs(here.objective)

    def _facts(self, here: _Point) -> dict[str, float]:
        gap = 0.25 * self.C * here.norm**2 if self.convex else math.nan
        return {
            "objective": here.objective,
            "lower_bound": here.objective - gap,
            "gap": gap,
            "risk": here.risk,
            "gradient_norm": here.norm,
            "norm": float(np.sqrt(here.w @ here.w)),
            "n_passes": self.n_passes,
            "oracle_seconds": self.risk.seconds - self._seconds,
        }
