"""Truncated Newton with an exact line search on the scores, for convex risks with a (generalised) Hessian.

Minimises ``F(w) = |w|² / (2C) + risk(w)``. Conjugate gradients solve each Newton system only as accurately as
is useful. The step along the direction is found from the scores alone, without a pass over the features, which makes
the method monotone, so that it needs no trust region (Lee & Lin 2014).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from argrank._types import Floats
from argrank.solvers.meter import NO_SLOPE, PRECISION, Meter
from argrank.solvers.problem import Problem, Result, Scores, Stop

MOST_STEPS = 30  # evaluations in a line search; each costs a fraction of a pass
ITERATION = 2.5  # passes of the shortest iteration: a Hessian product, the scores of the direction, an evaluation


@dataclass
class _Point:
    """Weights and what is known there."""

    w: Floats
    scores: Scores
    objective: float
    gradient: Floats

    @property
    def norm(self) -> float:
        return float(np.sqrt(self.gradient @ self.gradient))


def minimise(problem: Problem) -> Result:
    """Minimise until the norm of the gradient is at most ``tol`` times its norm at w = 0.

    At least one iteration is made, since weights of zero are not useful. The gap of the result is ``C |gradient|² /
    2``: F is 1/C-strongly convex, so its minimum lies no further below.
    """
    risk, meter = problem.risk, Meter(problem)
    reason: Stop | None = None
    n_iter, found = 0, problem.resumed()
    if found is None:
        here = _at(problem, np.zeros(risk.n_features), risk.zero_scores())
        first, start = here.norm, problem.begin()
        if start.any():
            here = _at(problem, start, risk.scores(start))
    else:
        here = _at(problem, found["w"], risk.given_scores(found["scores"]))
        first, n_iter = found["first"], found["n_iter"]
        meter.restore(found["meter"])
    try:
        while not reason:
            if here.norm <= problem.tol * first:
                reason = Stop.GRADIENT
                break
            if n_iter > 0 and meter.n_passes + ITERATION > problem.max_iter:
                reason = Stop.PASSES
                break
            direction = _newton_direction(problem, meter, here.gradient, min(0.1, here.norm / first))
            along = risk.scores(direction)
            step = _line_search(problem, here, direction, along)
            there = _at(problem, here.w + step * direction, here.scores + step * along)
            if not there.objective < here.objective and not _leaves_zero(problem, here, there):
                reason = Stop.PRECISION
                break
            here, n_iter = there, n_iter + 1
            if meter.tell(here.w, here.objective, 0.5 * problem.C * here.norm**2, gradient_norm=here.norm):
                reason = Stop.CALLBACK
            else:
                problem.offer(w=here.w, scores=here.scores, first=first, n_iter=n_iter, meter=meter.state())
    except KeyboardInterrupt:
        reason = Stop.INTERRUPTED
    return meter.result(here.w, here.objective, 0.5 * problem.C * here.norm**2, n_iter, reason, here.norm)


def _leaves_zero(problem: Problem, here: _Point, there: _Point) -> bool:
    """Tell whether a step from w = 0 is justified: on tiny features, its gain is less than rounding.

    The gradient must also exceed rounding: the curvature along it says how large the features are.
    """
    if here.w.any() or not there.w.any() or there.objective > here.objective * (1.0 + PRECISION):
        return False
    along = here.gradient / here.norm
    return here.norm > NO_SLOPE * math.sqrt(max(float(along @ problem.risk.hessian_product(along)), 0.0))


def _at(problem: Problem, w: Floats, scores: Scores) -> _Point:
    value, slope = problem.risk.value_and_gradient(w)
    return _Point(w, scores, problem.penalty(w) + value, w / problem.C + slope)


def _newton_direction(problem: Problem, meter: Meter, gradient: Floats, forcing: float) -> Floats:
    """Solve ``Hessian @ direction = -gradient`` by conjugate gradients to a residual of ``forcing`` times |gradient|.

    Every iterate is a direction of descent, so stopping early (no passes left) is safe. The Hessian is at least the
    identity over C: no breakdown.
    """
    direction = np.zeros_like(gradient)
    residual = -gradient
    search = residual.copy()
    square = float(residual @ residual)
    enough = (forcing**2) * square
    for _ in range(2 * len(gradient) + 10):  # more than exact arithmetic would need
        product = search / problem.C + problem.risk.hessian_product(search)
        length = square / float(search @ product)
        direction += length * search
        residual -= length * product
        before, square = square, float(residual @ residual)
        if square <= enough or meter.n_passes + ITERATION > problem.max_iter:
            break
        search = residual + (square / before) * search
    return direction


def _line_search(problem: Problem, here: _Point, direction: Floats, along: Scores) -> float:
    """Return the step that makes the derivative along the direction (nearly) zero, from scores alone.

    The derivative rises with the step, so its root is bracketed and found by false position (Illinois rule); the full
    Newton step is tried first and usually suffices.
    """
    start, square = float(here.w @ direction), float(direction @ direction)

    def derivative(step: float) -> float:
        _, u = problem.risk.at_scores(here.scores + step * along)
        return (start + step * square) / problem.C + problem.risk.dot(u, along)

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
