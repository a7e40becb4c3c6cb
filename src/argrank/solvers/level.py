"""The level method, for ``F(w) = |w|₁ / C + risk(w)`` with a convex risk of at least 0, with or without limits on w.

Planes below the risk and |w|₁ make a model of F. Its minimum, a linear program, is the lower bound; its minimiser jumps
between corners and is a bad next point (it needed thirteen times the passes). The next point is the one nearest to the
best so far at which the model is half-way between bound and best (Lemaréchal, Nemirovskii and Nesterov 1995): either F
is nearly as low there, or a new plane lifts the bound. Weights of 0 are exactly 0.
"""

from __future__ import annotations

import time

import numpy as np
from scipy.optimize import linprog

from argrank._types import Floats
from argrank.solvers.meter import Meter
from argrank.solvers.planes import Inner, Planes, best_mixture, look
from argrank.solvers.problem import Problem, Result, Stop

LEVEL = 0.5  # the target height of the next point between bound (0) and best (1)
CLOSE = 0.1  # tolerance of that height
TRIALS = 12  # values of reach to try


class AbsolutePlanes(Planes):
    """Planes below the risk, with |v|₁ / C."""

    def bound(self, objective: float) -> float:
        """Return a lower bound of the minimum of planes and penalty, given a value of F that is reached.

        It is the dual value of the linear program in the positive and the negative parts of v, taken from the planes'
        weights: a true bound despite small errors of the linear program.
        """
        n = self.gradients.shape[1]
        low, high = self.regulariser.limits(n)
        least = np.concatenate((np.maximum(low, 0.0), np.maximum(-high, 0.0)))
        most = np.concatenate((np.maximum(high, 0.0), np.maximum(-low, 0.0)))
        limits = np.column_stack((np.append(least, 0.0), np.append(most, np.inf)))
        cost = np.append(np.full(2 * n, 1.0 / self.C), 1.0)
        planes = np.column_stack((self.gradients, -self.gradients, -np.ones(len(self.offsets))))[1:]
        found = linprog(cost, planes, -self.offsets[1:], bounds=limits, method="highs")
        a = np.maximum(-found.ineqlin.marginals, 0.0)
        a = np.append(max(1.0 - a.sum(), 0.0), a) / max(a.sum(), 1.0)
        z = a @ self.gradients
        rates = 1.0 / self.C + np.concatenate((z, -z))
        # |w|₁ <= C F at the minimum, so no part needs to be longer than that
        parts = np.where(rates > 0, least, np.minimum(most, least + self.C * objective))
        bound = float(a @ self.offsets + rates @ parts)
        self.drop_idle((a > 0) | (self.weights > 0))
        return bound

    def near(self, centre: Floats, reach: float, tolerance: float) -> tuple[Floats, float]:
        """Return the minimiser with ``|v - centre|² / (2 reach)`` added, and the height of planes and penalty there."""
        inner = Inner(self.regulariser, centre, reach, reach / self.C)
        self.weights = best_mixture(self.gradients, self.offsets, self.weights, inner, tolerance)
        v = inner.best(self.weights @ self.gradients)
        return v, float((self.offsets + self.gradients @ v).max()) + self.regulariser.value(v) / self.C

    def at_level(self, centre: Floats, goal: float, close: float, reach: float) -> tuple[Floats, float]:
        """Return the point nearest to the centre at which the model is about as high as the goal, and its reach."""
        shorter, longer = 0.0, np.inf
        for _ in range(TRIALS):
            v, height = self.near(centre, reach, 0.2 * close)
            if abs(height - goal) <= close:
                break
            if height > goal:
                shorter = reach
            else:
                longer = reach
            middle = np.sqrt(shorter * longer) if shorter > 0 and longer < np.inf else 0.0
            reach = float(middle or (4.0 * shorter or 0.25 * longer))
        return v, reach


def minimise(problem: Problem) -> Result:
    """Minimise ``|w|₁ / C + risk(w)`` until the gap is at most ``tol`` times the objective."""
    risk, regulariser = problem.risk, problem.regulariser
    meter, planes, start = Meter(problem), AbsolutePlanes(risk.n_features, problem.C, regulariser), problem.begin()
    reason: Stop | None = None
    bound, n_iter, found = 0.0, 0, problem.resumed()
    if found is None:
        best = look(problem, start, risk.scores(start) if start.any() else risk.zero_scores())
        planes.cut(risk, best)
        square = float(planes.gradients[1] @ planes.gradients[1])
        reach = best.objective / square if square > 0 else 1.0
    else:
        best = look(problem, found["w"], risk.given_scores(found["scores"]))
        bound, n_iter = found["bound"], found["n_iter"]
        reach = found["reach"]
        planes.restore(found["planes"])
        meter.restore(found["meter"])
    try:
        while True:
            begin = time.perf_counter()
            bound, n_iter = max(bound, planes.bound(best.objective)), n_iter + 1
            meter.master_seconds += time.perf_counter() - begin
            reason = meter.stop(best.w, best.objective, bound, n_constraints=len(planes))
            if reason:
                break
            begin, gap = time.perf_counter(), best.objective - bound
            w, reach = planes.at_level(best.w, bound + LEVEL * gap, CLOSE * gap, reach)
            meter.master_seconds += time.perf_counter() - begin
            there = look(problem, w, risk.scores(w))
            planes.cut(risk, there)
            best = min(best, there, key=lambda point: point.objective)
            kept = {"w": best.w, "scores": best.scores, "bound": bound, "n_iter": n_iter, "reach": reach}
            problem.offer(**kept, planes=planes.state(), meter=meter.state())
    except KeyboardInterrupt:
        reason = Stop.INTERRUPTED
    return meter.proven(best, bound, n_iter, reason)
