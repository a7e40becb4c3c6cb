"""L-BFGS with a line search on the scores, for smooth risks, convex or not; also nonlinear conjugate gradients.

Minimises ``F(w) = |w|² / (2C) + risk(w)``, and for convex steps also with ``|w|₁ / C``. The scores of a direction are
computed once; then every trial step of the line search is an evaluation at known scores without a pass over the
features, so an iteration takes one pass for any number of trials. The risk must be the same function throughout:
sampled objectives draw their rankings before the first call.

If the risk is convex, F is 1/C-strongly convex and its minimum lies at most ``C |gradient|² / 2`` below; this gap is
compared with ``tol``. For other smooth risks the same number measures flatness, no gap is proven, and the best of
several starts is used. On risks with kinks the method often comes close (Lewis and Overton 2009), without proof, and
ends when steps gain almost nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.solvers.meter import Meter
from argrank.solvers.problem import Problem, Result, Scores, Stop, random_state, restore_random

CUT_SHORT = (Stop.CALLBACK, Stop.INTERRUPTED, Stop.PASSES)  # no further start after these
MEMORY = 20  # pairs of steps and gradient changes that approximate the inverse Hessian
REFRESH = 20  # iterations after which scores are recomputed, to bound rounding errors
MOST_TRIALS = 30
ENOUGH, FLATTER = 1e-4, 0.5  # strong Wolfe conditions: decrease per slope, and share of the slope that may remain
RISEN = 0.9  # weak Wolfe conditions on risks with kinks
KINKED = 1e-4  # on risks with kinks a descent ends when an iteration gains less than this times ``tol``
ZERO = 1e-30  # an objective this small is rounding: the gradient may still be nonzero

#: A step and the change of the gradient along it.
Pair = tuple[Floats, Floats]

#: Computes a direction from the gradient and the pairs so far.
Direction = Callable[[Floats, list[Pair]], Floats]


@dataclass
class _Point:
    """Weights and what is known there; the gradient is filled in where a line search ends."""

    w: Floats
    scores: Scores
    u: Scores
    objective: float
    gradient: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def norm(self) -> float:
        return float(np.sqrt(self.gradient @ self.gradient))


def two_loops(gradient: Floats, pairs: list[Pair]) -> Floats:
    """Return minus the approximate inverse Hessian times the gradient (Nocedal 1980)."""
    direction, shares = -gradient, []
    for s, y in reversed(pairs):
        shares.append(float(s @ direction) / float(s @ y))
        direction = direction - shares[-1] * y
    if pairs:
        s, y = pairs[-1]
        direction = direction * (float(s @ y) / float(y @ y))
    for (s, y), share in zip(pairs, reversed(shares), strict=True):
        direction = direction + (share - float(y @ direction) / float(s @ y)) * s
    return direction


def polak_ribiere(gradient: Floats, pairs: list[Pair]) -> Floats:
    """Return the direction of conjugate gradients, from the last step and change of the gradient alone."""
    if not pairs:
        return -gradient
    s, y = pairs[-1]
    slope = float(s @ y)
    return -gradient if slope <= 0 else -gradient + (float(gradient @ y) / slope) * s


class Descent:
    """A descent from one start; iteration counts continue from earlier descents."""

    def __init__(self, problem: Problem, meter: Meter, start: Floats, n_iter: int, direction: Direction) -> None:
        self.problem, self.meter, self._direction = problem, meter, direction
        self.pairs: list[Pair] = []
        self.reason: Stop | None = None
        self.n_iter = n_iter
        self.here = self._refreshed(start)

    def kept(self) -> dict[str, Any]:
        """Return the state for a checkpoint, with the scores, so that results are bit-identical."""
        steps, changes = ([pair[i] for pair in self.pairs] for i in (0, 1))
        here = {"w": self.here.w, "scores": self.here.scores, "steps": steps, "changes": changes}
        return here | {"n_iter": self.n_iter, "reason": None if self.reason is None else self.reason.value}

    @classmethod
    def restored(cls, problem: Problem, meter: Meter, kept: Any, direction: Any) -> Descent:
        """Restore a descent from a checkpoint."""
        descent = object.__new__(cls)
        descent.problem, descent.meter, descent._direction = problem, meter, direction
        descent.pairs = list(zip(kept["steps"], kept["changes"], strict=True))
        descent.n_iter, descent.reason = kept["n_iter"], None if kept["reason"] is None else Stop(kept["reason"])
        here = descent._look(kept["w"], problem.risk.given_scores(kept["scores"]))
        descent.here = descent._with_gradient(here)
        return descent

    def _refreshed(self, w: Floats) -> _Point:
        risk = self.problem.risk
        here = self._look(w, risk.scores(w) if w.any() else risk.zero_scores())
        return self._with_gradient(here)

    def _look(self, w: Floats, scores: Scores) -> _Point:
        value, u = self.problem.risk.at_scores(scores)
        return _Point(w, scores, u, value + self.problem.penalty(w))

    def _with_gradient(self, point: _Point) -> _Point:
        problem = self.problem
        point.gradient = problem.risk.pull_back(point.u) + problem.regulariser.gradient(point.w) / problem.C
        return point

    @property
    def flatness(self) -> float:
        """``C |gradient|² / 2``: for convex risks a bound of how far the minimum lies below."""
        return 0.5 * self.problem.C * self.here.norm**2

    @property
    def gap(self) -> float:
        """The proven gap, NaN if there is none."""
        return self.flatness if self.problem.risk.convex and self.problem.risk.smooth else math.nan

    def report(self) -> bool:
        """Report an iteration to the callback."""
        return self.meter.tell(self.here.w, self.here.objective, self.gap, gradient_norm=self.here.norm)

    def run(self, offer: Callable[[], None]) -> None:
        """Descend until a stopping condition holds; offer the state after every step."""
        try:
            if self._is_flat() and not self.reason:
                self.reason, self.n_iter = Stop.GRADIENT, self.n_iter + 1
                self.reason = Stop.CALLBACK if self.report() else Stop.GRADIENT
            while not self.reason:
                self.reason = self._step()
                offer()
        except KeyboardInterrupt:
            self.reason = Stop.INTERRUPTED

    def _is_flat(self) -> bool:
        return self.flatness <= self.problem.tol * max(abs(self.here.objective), ZERO)

    def _step(self) -> Stop | None:
        here, problem = self.here, self.problem
        direction = self._direction(here.gradient, self.pairs)
        slope = float(here.gradient @ direction)
        if not slope < 0:
            direction, self.pairs = -here.gradient, []
            slope = float(here.gradient @ direction)
        there = self._search(direction, slope, 1.0 if self.pairs else 1.0 / here.norm)  # at first a step of length 1
        if there is None and self.pairs:  # restart with steepest descent
            self.pairs = []
            return None
        if there is None:
            return Stop.PRECISION if problem.risk.smooth else Stop.STEPS
        s, y = there.w - here.w, there.gradient - here.gradient
        if float(s @ y) > 1e-12 * float(y @ y) * problem.C:
            self.pairs = [*self.pairs[-(MEMORY - 1) :], (s, y)]
        self.here, self.n_iter = there, self.n_iter + 1
        if self.n_iter % REFRESH == 0:
            self.here = self._refreshed(there.w)
        if self.report():
            return Stop.CALLBACK
        if self._is_flat():
            return Stop.GRADIENT
        gained = here.objective - there.objective
        if not problem.risk.smooth and gained <= KINKED * problem.tol * abs(there.objective):
            return Stop.STEPS
        return Stop.PASSES if self.meter.n_passes >= problem.max_iter else None

    def _search(self, direction: Floats, slope: float, step: float) -> _Point | None:
        """Return a lower point along the direction, with its gradient, that meets Wolfe's conditions.

        Steps grow until a minimum is bracketed; then cubic interpolation narrows the bracket down. If rounding or a
        kink prevents the conditions, the best point seen is used; None if no step is lower.
        """
        here, risk, R, C = self.here, self.problem.risk, self.problem.regulariser, self.problem.C
        along = risk.scores(direction)
        low, low_value, low_slope = 0.0, here.objective, slope
        high, high_value, high_slope = math.inf, math.nan, math.nan
        best: _Point | None = None
        for _ in range(MOST_TRIALS):
            there = self._look(here.w + step * direction, here.scores + step * along)
            value, now = there.objective, risk.dot(there.u, along) + R.slope(there.w, direction) / C
            if value < (here.objective if best is None else best.objective):
                best = there
            decreased = value <= here.objective + ENOUGH * step * slope
            flat = abs(now) <= -FLATTER * slope if risk.smooth else now >= RISEN * slope
            if decreased and value <= low_value and flat:
                return self._with_gradient(there)
            if not (decreased and value <= low_value):
                high, high_value, high_slope = step, value, now
            else:
                if now * (high - low) >= 0 or now >= 0:
                    high, high_value, high_slope = low, low_value, low_slope
                low, low_value, low_slope = step, value, now
            if math.isinf(high):
                step = min(10.0 * low, max(2.0 * low, _cubic(0.0, here.objective, slope, low, low_value, low_slope)))
                continue
            left, right = min(low, high), max(low, high)
            if right - left <= 1e-14 * right:
                break
            step = _cubic(low, low_value, low_slope, high, high_value, high_slope)
            margin = 0.1 * (right - left)
            step = min(max(step, left + margin), right - margin) if math.isfinite(step) else 0.5 * (left + right)
        return None if best is None else self._with_gradient(best)


def _cubic(a: float, f: float, df: float, b: float, g: float, dg: float) -> float:
    """Return the minimiser of the cubic with these values and slopes at a and b; infinite where it has none."""
    if not math.isfinite(g + dg):
        return 0.5 * (a + b)
    one = df + dg - 3.0 * (f - g) / (a - b)
    square = one * one - df * dg
    if square < 0:
        return math.inf
    two = math.copysign(math.sqrt(square), b - a)
    below = dg - df + 2.0 * two
    return b - (b - a) * (dg + two - one) / below if below != 0 else math.inf


def minimise(problem: Problem, n_starts: int = 1) -> Result:
    """Minimise by L-BFGS; the best of ``n_starts`` descents counts.

    Those after the first begin at random weights whose scores have standard deviation 1.
    """
    return _best_of(problem, n_starts, two_loops)


def conjugate_gradients(problem: Problem, n_starts: int = 1) -> Result:
    """Minimise by nonlinear conjugate gradients with the same line search."""
    return _best_of(problem, n_starts, polak_ribiere)


def _best_of(problem: Problem, n_starts: int, direction: Direction) -> Result:
    meter, random, risk = Meter(problem), np.random.default_rng(problem.random_state), problem.risk
    found = problem.resumed()
    best: Descent | None = None
    if found is None:
        descent = Descent(problem, meter, problem.begin(), 0, direction)
    else:
        descent = Descent.restored(problem, meter, found["descent"], direction)
        best = None if found["best"] is None else Descent.restored(problem, meter, found["best"], direction)
        restore_random(random, found["random"])
        meter.restore(found["meter"])
    starts_made = 1 if found is None else found["starts_made"]

    def offer() -> None:
        kept = {"descent": descent.kept(), "best": None if best is None else best.kept(), "starts_made": starts_made}
        problem.offer(**kept, random=random_state(random), meter=meter.state())

    descent.run(offer)
    best = descent if best is None else min(best, descent, key=lambda one: one.here.objective)
    while starts_made < n_starts and descent.reason not in CUT_SHORT:
        starts_made += 1
        start = random.standard_normal(risk.n_features)
        spread = risk.spread(risk.scores(start))
        start = start / spread if spread > 0 else start
        descent = Descent(problem, meter, start, descent.n_iter, direction)
        descent.run(offer)
        best = min(best, descent, key=lambda one: one.here.objective)
    reason = descent.reason if descent.reason in CUT_SHORT else best.reason
    if best is not descent and reason is not Stop.CALLBACK:
        best.report()  # so that the last row of a trace is the result
    here = best.here
    return meter.result(here.w, here.objective, best.gap, descent.n_iter, reason, here.norm)
