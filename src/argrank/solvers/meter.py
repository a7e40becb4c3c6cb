"""Common tasks of solvers: count passes, report to the caller, decide when to stop, check whether w = 0 is optimal.

``R(w) / C + risk(w)`` has its minimum at 0, for this and every other C, exactly where 0 is a subgradient of the risk
there. The subgradients at 0 are the mixtures of the slopes that the oracle gives a little away from 0, in any
direction. So we search for the mixture of least length: if its length is (nearly) 0, w = 0 is the optimum; if the risk
falls along its opposite, that is a descent direction. Each round costs a pass over the features. If a weight may not
fall (or rise) from 0, a slope against that limit counts as 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from argrank._types import Floats
from argrank.solvers.planes import Inner, Point, best_mixture
from argrank.solvers.problem import Collapse, Problem, Result, Risk, Stop
from argrank.solvers.regularisers import Regulariser, Squared

GAINED = 0.1  # stop when the gap is at most this share of the largest possible gain over w = 0
PRECISION = 1e-12  # the share of the objective below which a gap is rounding

NO_SLOPE = 1e-6  # a subgradient this short, relative to the longest seen, is 0
AWAY = 1e-3  # the spread of the scores at the first evaluation
NEAREST = 1e-11  # and at the last: below it, rounding dominates
ACTIVE = 1e-12  # a plane that lies no lower than this share below the risk at 0 touches it


class Meter:
    """Counts the passes and seconds of a solver, reports to its callback and decides when it stops."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self._risk = problem, problem.risk
        self._passes, self._seconds = self._risk.n_passes, self._risk.seconds
        self.master_seconds = 0.0
        self._starts_at_zero = not problem.begin().any()
        self._at_zero: float | None = None
        self._verdict: Verdict | None = None
        self._looked: float | None = None  # passes that were left when w = 0 was checked

    @property
    def n_passes(self) -> float:
        """Passes over the features since the start."""
        return self._risk.n_passes - self._passes

    def state(self) -> dict[str, Any]:
        """Return the counts so far."""
        begin = {"first_passes": self._passes, "first_seconds": self._seconds}
        now = {"n_passes": self._risk.n_passes, "seconds": self._risk.seconds}
        return {**begin, **now, "master_seconds": self.master_seconds, "looked": self._looked}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue counting from a state, without the cost of restoring it."""
        self._passes, self._seconds = state["first_passes"], state["first_seconds"]
        self.master_seconds = state["master_seconds"]
        if state["looked"] is not None:
            self._zero(state["looked"])
        self._risk.go_on(state["n_passes"], state["seconds"])

    def tell(self, w: Floats, objective: float, gap: float, **more: float) -> bool:
        """Report an iteration to the callback; True if it requests a stop."""
        if self.problem.callback is None:
            return False
        risk = objective - self.problem.penalty(w)
        facts = {
            "objective": objective,
            "lower_bound": objective - gap,
            "gap": gap,
            "risk": risk,
            "norm": float(np.sqrt(w @ w)),
            **more,
            "n_passes": self.n_passes,
            "oracle_seconds": self._risk.seconds - self._seconds,
            "master_seconds": self.master_seconds,
        }
        if not self._risk.smooth:  # the risk of a structured ranker is its average slack
            facts["average_slack"] = risk
        return bool(self.problem.callback(w, facts))

    def stop(self, w: Floats, objective: float, bound: float, **more: float) -> Stop | None:
        """Report an iteration with a proven bound to the callback, and return the reason to stop, if any."""
        if self.tell(w, objective, objective - bound, **more):
            return Stop.CALLBACK
        if objective - bound <= self.enough(objective, bound):
            return Stop.GAP
        if objective - bound <= self.problem.tol * abs(objective) and self._zero().proof is not None:
            return Stop.GAP
        return Stop.PASSES if self.n_passes >= self.problem.max_iter else None

    def enough(self, objective: float, bound: float) -> float:
        """Return the gap at which to stop: ``tol`` times the objective, or a share of the possible gain over w = 0.

        A small share of the objective may exceed the gain of the best weights, so that 0 would look optimal.
        """
        share = self.problem.tol * abs(objective)
        if not self._starts_at_zero or self.problem.regulariser.name != "l2":
            return share
        if self._at_zero is None:
            self._at_zero = self._risk.at_scores(self._risk.zero_scores())[0]
        return min(share, max(GAINED * (self._at_zero - bound), PRECISION * abs(objective)))

    def proven(self, best: Best | Point, bound: float, n_iter: int, reason: Stop | None) -> Result:
        """Return the result of a solver with a bound; weights of 0 are replaced if the risk falls along some direction.

        That happens where the optimum gains less than rounding, as with features of 1e-8.
        """
        w, objective, zero = best.w, best.objective, self._verdict
        if reason is Stop.GAP and self._starts_at_zero and not w.any():
            zero = self._zero()
            if zero.descent is not None and self.problem.regulariser.name == "l2":
                w, objective = self._step_off_zero(zero.descent, zero.slope, objective)
        found = self.result(w, objective, objective - bound, n_iter, reason)
        return found if zero is None else replace(found, collapsed=zero.proof)

    def _zero(self, left: float | None = None) -> Verdict:
        """Check w = 0, once; smooth risks have a gradient there and need no proof."""
        if self._verdict is None:
            asked = not self._risk.smooth and self._starts_at_zero
            self._looked = max(self.problem.max_iter - self.n_passes, 0.0) if left is None else left
            regulariser = self.problem.regulariser
            self._verdict = look_at_zero(self._risk, regulariser, self._looked) if asked else Verdict()
        return self._verdict

    def _step_off_zero(self, descent: Floats, slope: float, objective: float) -> tuple[Floats, float]:
        """Return the best step along the descent while the risk is linear, shortened if it is not."""
        w = -slope * self.problem.C / float(descent @ descent) * descent
        for _ in range(60):
            there = self.problem.objective(w)
            if there <= objective + PRECISION * abs(objective):
                return w, there
            w = 0.5 * w
        return np.zeros_like(w), objective

    def result(
        self, w: Floats, objective: float, gap: float, n_iter: int, reason: Stop | None, gradient_norm: float = math.nan
    ) -> Result:
        """Return the result; a solver that does not say why it stopped has used up its passes."""
        bound = objective - gap
        return Result(w, objective, bound, gap, gradient_norm, n_iter, self.n_passes, reason or Stop.PASSES)


class Best:
    """The best weights so far."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.w, self.objective = np.zeros(problem.risk.n_features), math.inf

    def state(self) -> dict[str, Any]:
        """Return the weights and their objective."""
        return {"w": self.w, "objective": self.objective}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self.w, self.objective = state["w"], state["objective"]

    def look(self, w: Floats) -> None:
        """Evaluate weights and keep them if they are better."""
        objective = self._problem.objective(w)
        if objective < self.objective:
            self.w, self.objective = w, objective


class Verdict(NamedTuple):
    """The result of checking w = 0: a proof that it is optimal, or a descent direction; neither if undecided."""

    proof: Collapse | None = None
    descent: Floats | None = None
    slope: float = 0.0  # of the risk along the descent


def look_at_zero(risk: Risk, regulariser: Regulariser, max_passes: float) -> Verdict:
    """Check whether the risk is least at 0 within the limits of the weights."""
    at_zero, u = risk.at_scores(risk.zero_scores())
    slopes, (low, high) = risk.pull_back(u)[None, :], regulariser.limits(risk.n_features)
    sides = Squared(np.where(low < 0, -np.inf, 0.0), np.where(high > 0, np.inf, 0.0))  # allowed directions from 0
    inner = Inner(sides, np.zeros(risk.n_features), 1.0)
    weights, away, last = np.ones(1), AWAY, risk.n_passes + max_passes
    while risk.n_passes < last:
        tolerance = NO_SLOPE * float(np.linalg.norm(slopes, axis=1).max())
        weights = best_mixture(slopes, np.zeros(len(slopes)), weights, inner, 0.01 * tolerance**2)
        descent = inner.best(weights @ slopes)
        norm = float(np.linalg.norm(descent))
        if norm <= tolerance:
            return Verdict(proof=Collapse(norm, tolerance))
        scores = risk.scores(descent)
        spread = risk.spread(scores)
        while True:  # move closer to 0 until the plane there touches the risk at 0
            here = (away / spread if spread > 0 else 1.0) * scores
            value, u = risk.at_scores(here)
            if at_zero - (value - risk.dot(u, here)) <= ACTIVE * abs(at_zero):
                break
            away *= 0.1
            if away < NEAREST:
                return Verdict()
        slope = risk.pull_back(u)
        along = float(slope @ descent)
        if along < -tolerance * norm:
            return Verdict(descent=descent, slope=along)
        slopes, weights = np.vstack([slopes, slope]), np.append(weights, 0.0)
    return Verdict()
