"""Truncated Newton with an exact line search on the scores, for smooth risks.

Minimises ``F(w) = |w|^2 / 2 + C * n_queries * risk(w)``, the scaling of Lee & Lin (2014). Conjugate gradients solve
each Newton system as far as it is worth; the step along the direction is found from scores alone, without a pass over
the features, which makes the method monotone and lets it do without a trust region.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from argrank._types import Floats
from argrank.errors import check_positive
from argrank.solvers._result import Callback, Result, SmoothRisk

MOST_STEPS = 30  # evaluations in a line search; each costs a fraction of a pass


@dataclass
class _Point:
    """Weights and what is known there."""

    w: Floats
    scores: Floats
    risk: float
    objective: float
    gradient: Floats

    @property
    def norm(self) -> float:
        return float(np.sqrt(self.gradient @ self.gradient))


class _Problem:
    """F, its gradient and Hessian products, with the count of passes since the start."""

    def __init__(self, risk: SmoothRisk, C: float) -> None:
        self.risk, self.scale = risk, C * risk.n_queries
        self._passes, self._seconds = risk.n_passes, risk.seconds

    @property
    def n_passes(self) -> float:
        return self.risk.n_passes - self._passes

    @property
    def seconds(self) -> float:
        return self.risk.seconds - self._seconds

    def at(self, w: Floats, scores: Floats) -> _Point:
        risk, slope = self.risk.value_and_gradient(w)
        return _Point(w, scores, risk, 0.5 * float(w @ w) + self.scale * risk, w + self.scale * slope)

    def curve(self, direction: Floats) -> Floats:
        return direction + self.scale * self.risk.hessian_product(direction)


def minimise(
    risk: SmoothRisk,
    C: float = 1.0,
    tol: float = 1e-6,
    max_iter: int = 1000,
    w0: Floats | None = None,
    callback: Callback | None = None,
) -> Result:
    """Minimise ``|w|^2 / 2 + C * n_queries * risk(w)``.

    Parameters
    ----------
    risk : SmoothRisk
        Convex, with ``hessian_product``.
    tol : float
        Stop when the norm of the gradient is at most this share of its norm at w = 0.
    max_iter : int
        At most so many passes over the data, though one iteration is always made.
    w0 : array, optional
        Where to start (a regularisation path); zero otherwise.
    callback : callable, optional
        Gets the weights and the facts of every iteration; returns True to stop.

    The gap of the result is ``|gradient|^2 / 2``: F is 1-strongly convex, so its minimum lies no further below.
    """
    check_positive("C", C)
    problem = _Problem(risk, C)
    origin = np.zeros(risk.n_features)
    here = problem.at(origin, np.zeros(risk.n_documents))
    first = here.norm
    target = tol * first
    if w0 is not None and np.any(w0):
        start = np.array(w0, np.float64)
        here = problem.at(start, risk.scores(start))
    n_iter, reason = 0, ""
    try:
        while not (reason := _reason_to_stop(here.norm, target, n_iter, problem.n_passes, max_iter)):
            direction = _newton_direction(problem, here.gradient, min(0.1, here.norm / first), max_iter)
            along = risk.scores(direction)
            step = _line_search(problem, here, direction, along)
            there = problem.at(here.w + step * direction, here.scores + step * along)
            if not there.objective < here.objective:
                reason = "precision"
                break
            here, n_iter = there, n_iter + 1
            if callback is not None and callback(here.w, _facts(here, problem)):
                reason = "callback"
                break
    except KeyboardInterrupt:
        reason = "interrupted"
    gap = 0.5 * here.norm**2
    return Result(
        w=here.w,
        objective=here.objective,
        lower_bound=here.objective - gap,
        gap=gap,
        gradient_norm=here.norm,
        n_iter=n_iter,
        n_passes=problem.n_passes,
        converged=reason == "gradient",
        reason=reason,
        message=MESSAGES[reason].format(norm=here.norm, share=here.norm / (first or 1.0), passes=problem.n_passes),
    )


MESSAGES = {
    "gradient": "the gradient norm fell to {norm:.3g}, {share:.1e} of its size at w = 0",
    "passes": "stopped after {passes:g} passes over the data with a gradient norm of {share:.1e} of its size at w = 0",
    "precision": "no step lowers the objective any more; the gradient norm is {share:.1e} of its size at w = 0",
    "callback": "stopped by the caller with a gradient norm of {share:.1e} of its size at w = 0",
    "interrupted": "interrupted with a gradient norm of {share:.1e} of its size at w = 0",
}


def _reason_to_stop(norm: float, target: float, n_iter: int, n_passes: float, max_iter: int) -> str:
    if norm <= target:
        return "gradient"
    # An iteration takes a Hessian product, the scores of the direction (half a pass) and an evaluation. The first is
    # always made: weights of zero would be no answer.
    return "passes" if n_iter > 0 and n_passes + 2.5 > max_iter else ""


def _facts(here: _Point, problem: _Problem) -> dict[str, float]:
    gap = 0.5 * here.norm**2
    return {
        "objective": here.objective,
        "lower_bound": here.objective - gap,
        "gap": gap,
        "risk": here.risk,
        "gradient_norm": here.norm,
        "norm": float(np.sqrt(here.w @ here.w)),
        "n_passes": problem.n_passes,
        "oracle_seconds": problem.seconds,
    }


def _newton_direction(problem: _Problem, gradient: Floats, forcing: float, max_iter: int) -> Floats:
    """Solve ``Hessian @ direction = -gradient`` by conjugate gradients to a residual of ``forcing`` times |gradient|.

    Every iterate is a direction of descent, so stopping early (no passes left) is safe. The Hessian is at least the
    identity: no breakdown.
    """
    direction = np.zeros_like(gradient)
    residual = -gradient
    search = residual.copy()
    square = float(residual @ residual)
    enough = (forcing**2) * square
    for _ in range(2 * len(gradient) + 10):  # more than exact arithmetic would need
        product = problem.curve(search)
        length = square / float(search @ product)
        direction += length * search
        residual -= length * product
        before, square = square, float(residual @ residual)
        if square <= enough or problem.n_passes + 2.5 > max_iter:
            break
        search = residual + (square / before) * search
    return direction


def _line_search(problem: _Problem, here: _Point, direction: Floats, along: Floats) -> float:
    """Return the step that makes the derivative along the direction (nearly) zero, from scores alone.

    The derivative rises with the step, so its root is bracketed and found by false position (Illinois rule); the
    full Newton step is tried first and usually is the answer.
    """
    start, square = float(here.w @ direction), float(direction @ direction)

    def derivative(step: float) -> float:
        _, u = problem.risk.at_scores(here.scores + step * along)
        return start + step * square + problem.scale * float(u @ along)

    low, low_slope = 0.0, float(here.gradient @ direction)
    high, high_slope = math.inf, math.inf
    close = 0.01 * abs(low_slope)
    step = 1.0
    for _ in range(MOST_STEPS):
        slope = derivative(step)
        if abs(slope) <= close:
            break
        if slope < 0:
            low, low_slope = step, slope
            high_slope *= 0.5
        else:
            high, high_slope = step, slope
            low_slope *= 0.5
        step = 2.0 * low if high == math.inf else low - low_slope * (high - low) / (high_slope - low_slope)
    return step
