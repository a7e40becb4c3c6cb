"""Successive convex approximation (CCCP, DC programming) for a difference of two convex risks.

Minimises ``F(w) = R(w) / C + convex(w) - subtracted(w)``, where the difference is never negative (a tight bound). At
the current weights the subtracted risk is replaced by its tangent, which lies below it: what is left is convex, lies
above F and touches it, so minimising it lowers F or leaves it. Repeated until F stops falling. Successive
approximations differ by a linear function, so the bundle method's planes of one serve the next.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from argrank._types import Floats
from argrank.solvers import bundle
from argrank.solvers.meter import Meter
from argrank.solvers.planes import planes_for
from argrank.solvers.problem import Nested, Problem, Result, Risk, Scores, Wrapped


class _Majorant(Wrapped):
    """The convex risk less a tangent plane: ``slope · scores + height``, both from the point of contact."""

    def __init__(self, convex: Risk, slope: Scores, height: float) -> None:
        super().__init__(convex)
        self._slope, self._height = slope, height

    def at_scores(self, scores: Scores) -> tuple[float, Scores]:
        value, u = self._risk.at_scores(scores)
        return value - self._risk.dot(self._slope, scores) - self._height, u - self._slope


def minimise(problem: Problem) -> Result:
    """Minimise the difference; ends at a point that no convex approximation improves by more than ``tol``.

    The result's objective is F itself and never rises from step to step. Its gap is that of the last convex
    approximation: F is not convex, and nothing is proven about other minima.
    """
    convex, subtracted = problem.risk.parts()
    meter, w = Meter(replace(problem, risk=convex)), problem.begin()

    def value(w: Floats) -> float:
        scores = convex.scores(w)
        return convex.at_scores(scores)[0] - subtracted.at_scores(scores)[0] + problem.penalty(w)

    planes = None if problem.regulariser.name == "l1" else planes_for(problem)
    tangent, at_zero = np.zeros(convex.n_features), 0.0  # what the planes have taken off: its gradient, its height
    before, n_iter, gap, reason, found = np.inf, 0, math.nan, "", problem.resumed()
    if found is not None:
        w, before, n_iter, gap = (found["outer"][name] for name in ("w", "before", "n_iter", "gap"))
        meter.restore(found["outer"]["meter"])
    try:
        while not reason:
            outer = {"w": w, "before": before, "n_iter": n_iter, "gap": gap, "meter": meter.state()}
            keeper = None if problem.keeper is None else Nested(problem.keeper, outer, found and found["inner"])
            scores = convex.scores(w)
            held, slope = subtracted.at_scores(scores)
            height = held - convex.dot(slope, scores)
            if planes is not None:
                gradient = convex.pull_back(slope)
                planes.tilt(tangent - gradient, at_zero - height)
                tangent, at_zero = gradient, height
            majorant = _Majorant(convex, slope, height)
            left = problem.max_iter - int(meter.n_passes)
            found = None
            inner = bundle.minimise(
                replace(problem, risk=majorant, max_iter=left, start=w, callback=None, keeper=keeper), planes
            )
            n_iter, w, gap = n_iter + 1, inner.w, inner.gap
            objective = value(w)
            if meter.tell(w, objective, gap):
                reason = "callback"
            elif inner.reason != "gap":  # out of passes, or interrupted
                reason = inner.reason
            elif before - objective <= problem.tol * abs(objective):  # rounding may leave it below 0
                reason = "gap"
            before = objective
    except KeyboardInterrupt:
        reason, objective = "interrupted", value(w)
    found = meter.result(w, objective, gap, n_iter, reason)
    return replace(
        found, lower_bound=math.nan, message=f"{found.message} (of the last of {n_iter} convex approximations)"
    )
