"""Bundle method (one-slack cutting planes, BMRM) with a line search on scores, for convex risks of at least 0.

Minimises ``F(w) = |w|² / (2C) + risk(w)``, with limits on the weights where asked. Every evaluation gives a plane below
the risk; the minimum over the planes is a quadratic problem whose dual value bounds F from below. Plain BMRM moves to
that minimiser; here, as in OCAS (Franc & Sonnenburg 2008), the best point so far is improved by a line search towards
it, which costs no pass over the features, and the next plane is taken near the best point. With ``|w|₁ / C`` in the
place of the squares the next point is chosen otherwise, see ``level``.
"""

from __future__ import annotations

import math
import time

import numpy as np

from argrank._types import Floats
from argrank.errors import check_positive
from argrank.solvers import level
from argrank.solvers._result import Callback, Meter, Result, Risk
from argrank.solvers.planes import FreePlanes, Point, SquaredPlanes, look
from argrank.solvers.regularisers import Absolute, Regulariser, Squared

TOWARDS = 0.1  # the next plane is taken so far from the best point towards the minimiser of the planes
MOST_STEPS = 10  # oracle calls in a line search
FLAT = 0.05  # a derivative this small, relative to the first, ends a line search


def minimise(
    risk: Risk,
    C: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = 1000,
    w0: Floats | None = None,
    callback: Callback | None = None,
    regulariser: Regulariser | None = None,
) -> Result:
    """Minimise ``|w|² / (2C) + risk(w)`` until the gap is at most ``tol`` times the objective.

    Parameters
    ----------
    risk : Risk
        Convex and never negative.
    max_iter : int
        At most so many passes over the data.
    w0 : array, optional
        Where to start (a regularisation path); zero otherwise.
    callback : callable, optional
        Gets the best weights and the facts of every iteration; returns True to stop.
    regulariser : Regulariser, optional
        Another penalty in the place of |w|² / 2, or limits on the weights.
    """
    check_positive("C", C)
    penalty = Squared() if regulariser is None else regulariser
    if isinstance(penalty, Absolute):
        return level.minimise(risk, C, tol, max_iter, w0, callback, penalty)
    meter, planes = Meter(risk), (FreePlanes if penalty.is_free else SquaredPlanes)(risk.n_features, C, penalty)
    start = penalty.project(np.zeros(risk.n_features) if w0 is None else np.array(w0, np.float64))
    best = look(risk, C, penalty, start, risk.scores(start))
    planes.cut(risk, best)
    bound, n_iter, reason = 0.0, 0, ""
    try:
        while True:
            begin = time.perf_counter()
            target, lower = planes.minimise(0.1 * tol * best.objective)
            meter.master_seconds += time.perf_counter() - begin
            bound, n_iter = max(bound, lower), n_iter + 1
            reason = meter.reason(best, bound, tol, max_iter, callback, len(planes))
            if reason:
                break
            target_scores = risk.scores(target)
            best = _line_search(risk, C, penalty, best, target - best.w, target_scores - best.scores)
            w = (1 - TOWARDS) * best.w + TOWARDS * target
            near = look(risk, C, penalty, w, (1 - TOWARDS) * best.scores + TOWARDS * target_scores)
            planes.cut(risk, near)
            best = min(best, near, key=lambda point: point.objective)
    except KeyboardInterrupt:
        reason = "interrupted"
    return meter.result(best.w, best.objective, bound, n_iter, reason)


def _line_search(risk: Risk, C: float, penalty: Regulariser, here: Point, along: Floats, along_scores: Floats) -> Point:
    """Return the best point seen while looking for the root of the derivative along a direction.

    The derivative (of whichever subgradient the oracle gives) does not fall with the step, so the root is bracketed
    and found by false position, with bisection where that creeps.
    """
    low, low_slope = 0.0, penalty.slope(here.w, along) / C + float(here.u @ along_scores)
    high, high_slope = math.inf, math.inf
    if low_slope >= 0:
        return here
    best, close, step = here, FLAT * -low_slope, 1.0
    furthest = max(1.0, penalty.room(here.w, along))
    for _ in range(MOST_STEPS):
        there = look(risk, C, penalty, here.w + step * along, here.scores + step * along_scores)
        best = min(best, there, key=lambda point: point.objective)
        slope = penalty.slope(there.w, along) / C + float(there.u @ along_scores)
        if abs(slope) <= close or (slope < 0 and step == furthest):
            break
        if slope < 0:
            low, low_slope = step, slope
        else:
            high, high_slope = step, slope
        if high == math.inf:
            step = min(2.0 * low, furthest)
        else:
            share = low_slope / (low_slope - high_slope)
            step = low + min(max(share, 0.1), 0.9) * (high - low)
    return best
