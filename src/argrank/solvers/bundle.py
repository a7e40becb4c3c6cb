"""Bundle method (one-slack cutting planes, BMRM) with a line search on scores, for convex risks of at least 0.

Minimises ``F(w) = |w|² / (2C) + risk(w)``. Every evaluation gives a plane below the risk; the minimum over the planes
is a quadratic problem whose dual value bounds F from below. Plain BMRM moves to that minimiser; here, as in OCAS
(Franc & Sonnenburg 2008), the best point so far is improved by a line search towards it, which costs no pass over the
features, and the next plane is taken near the best point.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np

from argrank.solvers import simplex_qp
from argrank.solvers._result import Callback, Floats, Meter, Result, Risk, check_C

TOWARDS = 0.1  # the next plane is taken so far from the best point towards the minimiser of the planes
IDLE_ROUNDS = 20  # a plane without weight for so many rounds is dropped
MOST_STEPS = 10  # oracle calls in a line search
FLAT = 0.05  # a derivative this small, relative to the first, ends a line search


class _Point(NamedTuple):
    """Weights, their scores and what the oracle said of them."""

    w: Floats
    scores: Floats
    value: float
    u: Floats
    objective: float


class _Planes:
    """The planes below the risk, gradient · w + offset; the first is the constant 0 and always stays."""

    def __init__(self, n_features: int, C: float) -> None:
        self.C = C
        self.gradients, self.offsets = np.zeros((1, n_features)), np.zeros(1)
        self.gram = np.zeros((1, 1))  # of the gradients, times C
        self.weights, self.idle = np.ones(1), np.zeros(1, int)

    def add(self, gradient: Floats, offset: float) -> None:
        row = self.C * (self.gradients @ gradient)
        corner = np.full((1, 1), self.C * float(gradient @ gradient))
        self.gram = np.block([[self.gram, row[:, None]], [row[None, :], corner]])
        self.gradients, self.offsets = np.vstack([self.gradients, gradient]), np.append(self.offsets, offset)
        self.weights, self.idle = np.append(self.weights, 0.0), np.append(self.idle, 0)

    def minimise(self, tolerance: float) -> tuple[Floats, float]:
        """Return the minimiser of planes and regulariser together, and a lower bound of that minimum."""
        self.weights = simplex_qp.solve(self.gram, self.offsets, self.weights, tolerance)
        bound = float(self.offsets @ self.weights - 0.5 * self.weights @ self.gram @ self.weights)
        self._drop_idle()
        return -self.C * (self.weights @ self.gradients), bound

    def _drop_idle(self) -> None:
        self.idle = np.where(self.weights > 0, 0, self.idle + 1)
        keep = self.idle <= IDLE_ROUNDS
        keep[0] = True
        if not keep.all():
            self.gradients, self.offsets, self.gram = (
                self.gradients[keep],
                self.offsets[keep],
                self.gram[np.ix_(keep, keep)],
            )
            self.weights, self.idle = self.weights[keep], self.idle[keep]


def minimise(
    risk: Risk,
    C: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = 1000,
    w0: Floats | None = None,
    callback: Callback | None = None,
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
    """
    check_C(C)
    meter, planes = Meter(risk), _Planes(risk.n_features, C)
    start = np.zeros(risk.n_features) if w0 is None else np.array(w0, np.float64)
    best = _at(risk, C, start, risk.scores(start))
    _cut(risk, planes, best)
    bound, n_iter, reason = 0.0, 0, ""
    try:
        while True:
            begin = time.perf_counter()
            target, lower = planes.minimise(0.1 * tol * best.objective)
            meter.master_seconds += time.perf_counter() - begin
            bound, n_iter = max(bound, lower), n_iter + 1
            reason = meter.reason(best, bound, tol, max_iter, callback, len(planes.offsets) - 1)
            if reason:
                break
            target_scores = risk.scores(target)
            best = _line_search(risk, C, best, target - best.w, target_scores - best.scores)
            w = (1 - TOWARDS) * best.w + TOWARDS * target
            near = _at(risk, C, w, (1 - TOWARDS) * best.scores + TOWARDS * target_scores)
            _cut(risk, planes, near)
            best = min(best, near, key=lambda point: point.objective)
    except KeyboardInterrupt:
        reason = "interrupted"
    return meter.result(best.w, best.objective, bound, n_iter, reason)


def _at(risk: Risk, C: float, w: Floats, scores: Floats) -> _Point:
    value, u = risk.at_scores(scores)
    return _Point(w, scores, value, u, value + float(w @ w) / (2 * C))


def _cut(risk: Risk, planes: _Planes, point: _Point) -> None:
    gradient = risk.pull_back(point.u)
    planes.add(gradient, point.value - float(gradient @ point.w))


def _line_search(risk: Risk, C: float, here: _Point, along: Floats, along_scores: Floats) -> _Point:
    """Return the best point seen while looking for the root of the derivative along a direction.

    The derivative (of whichever subgradient the oracle gives) does not fall with the step, so the root is bracketed
    and found by false position, with bisection where that creeps.
    """
    start, square = float(here.w @ along) / C, float(along @ along) / C
    low, low_slope = 0.0, start + float(here.u @ along_scores)
    high, high_slope = math.inf, math.inf
    if low_slope >= 0:
        return here
    best, close, step = here, FLAT * -low_slope, 1.0
    for _ in range(MOST_STEPS):
        there = _at(risk, C, here.w + step * along, here.scores + step * along_scores)
        best = min(best, there, key=lambda point: point.objective)
        slope = start + step * square + float(there.u @ along_scores)
        if abs(slope) <= close:
            break
        if slope < 0:
            low, low_slope = step, slope
        else:
            high, high_slope = step, slope
        if high == math.inf:
            step = 2.0 * low
        else:
            share = low_slope / (low_slope - high_slope)
            step = low + min(max(share, 0.1), 0.9) * (high - low)
    return best
