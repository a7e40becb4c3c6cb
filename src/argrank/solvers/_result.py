"""What a solver sees and what it hands back."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from argrank._types import Floats
from argrank.solvers.collapse import Collapse, Verdict, look_at_zero
from argrank.solvers.regularisers import Regulariser

#: Called after every iteration with the weights and the facts of the iteration; True stops the solver.
Callback = Callable[[Floats, Mapping[str, float]], bool | None]

#: A vector with one number per row. Solvers only add, subtract and scale it: it may live on other machines.
Scores = Any


class Risk(Protocol):
    """A mean loss as a function of the scores ``X @ w``: all that a solver knows of data and objective.

    Only risks with ``per_query`` can be asked query by query, and only those with ``second_order`` have a Hessian (at
    least a generalised one). A risk that is a ``difference`` of two convex ones hands out both as ``parts()``.
    """

    n_features: int
    n_queries: int
    convex: bool
    smooth: bool
    second_order: bool
    difference: bool
    per_query: bool
    query_shares: Floats

    @property
    def n_passes(self) -> float:
        """Passes over the features so far."""

    @property
    def seconds(self) -> float:
        """Time spent in the risk so far."""

    def go_on(self, n_passes: float, seconds: float) -> None:
        """Go on counting passes and seconds from what another process had counted."""

    def zero_scores(self) -> Scores:
        """Return the scores of w = 0, without a pass over the features."""

    def scores(self, w: Floats) -> Scores:
        """Return the scores of all rows: half a pass."""

    def given_scores(self, values: Floats) -> Scores:
        """Return scores of which the values are known, as a kept state has them."""

    def at_scores(self, scores: Scores) -> tuple[float, Scores]:
        """Return the risk and its gradient by the scores, without a pass over the features."""

    def pull_back(self, u: Scores) -> Floats:
        """Return ``X.T @ u``, the gradient by the weights for a gradient u by the scores: half a pass."""

    def dot(self, u: Scores, v: Scores) -> float:
        """Return the inner product of two vectors of scores."""

    def spread(self, scores: Scores) -> float:
        """Return the standard deviation of scores."""

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        """Return the risk and its gradient: one pass."""

    def hessian_product(self, direction: Floats) -> Floats:
        """Return the Hessian at the last ``value_and_gradient`` times a direction: one pass."""

    def query(self, q: int, w: Floats) -> tuple[float, Floats, float]:
        """Return loss, gradient and offset of one query; it counts with its share."""

    def parts(self) -> tuple[Risk, Risk]:
        """Return the convex risk and the convex risk that is subtracted from it."""


@dataclass(frozen=True)
class Problem:
    """Minimise ``regulariser(w) / C + risk(w)``: what every solver is handed."""

    risk: Risk
    C: float
    regulariser: Regulariser
    tol: float
    max_iter: int
    start: Floats | None = None
    callback: Callback | None = None
    random_state: int | None = 0
    keeper: Any = None  # a keeping.Keeper: who keeps the states that the solver offers

    def resumed(self) -> Any:
        """Return the state from which to go on, None to begin."""
        return None if self.keeper is None else self.keeper.resumed()

    def offer(self, **state: Any) -> None:
        """Offer the state after an iteration, see ``keeping``."""
        if self.keeper is not None:
            self.keeper.offer(state)

    def begin(self) -> Floats:
        """Return where to start: the given weights or zero, within the limits."""
        start = np.zeros(self.risk.n_features) if self.start is None else np.array(self.start, np.float64)
        return self.regulariser.project(start)

    def penalty(self, w: Floats) -> float:
        """Return the regulariser's share of the objective."""
        return self.regulariser.value(w) / self.C


@dataclass(frozen=True)
class Result:
    """The weights a solver found, and how good they provably are.

    ``lower_bound`` is a proven bound of the minimum and ``gap = objective - lower_bound``, or NaN where the method
    proves none. ``reason`` is one word, ``message`` a sentence for people.
    """

    w: Floats
    objective: float
    lower_bound: float
    gap: float
    gradient_norm: float
    n_iter: int
    n_passes: float
    converged: bool
    reason: str
    message: str
    collapsed: Collapse | None = None  # the proof that w = 0 is the optimum for every C, where it was found

    def step(self) -> Floats:
        """Return the weights as a step of a larger fit, which Ctrl-C ends together with the step."""
        if self.reason == "interrupted":
            raise KeyboardInterrupt
        return self.w


class Found(Protocol):
    """Weights and their objective."""

    @property
    def w(self) -> Floats:
        """The weights."""

    @property
    def objective(self) -> float:
        """Their objective."""


#: Why a solver stopped, in one word and in a sentence. The first four mean that it is done.
MESSAGES = {
    "gap": "the gap is closed",
    "gradient": "the gradient has vanished",
    "steps": "further steps gain next to nothing",
    "epochs": "made {n_iter} epochs",
    "passes": "stopped after {passes:g} passes over the data",
    "precision": "no step lowers the objective any more",
    "callback": "stopped by the caller",
    "interrupted": "interrupted",
}
DONE = ("gap", "gradient", "steps", "epochs")

GAINED = 0.1  # an optimum is found when the gap is at most this share of what any weights gain over w = 0
PRECISION = 1e-12  # the share of the objective below which a gap is rounding


class Meter:
    """Counts the passes and seconds of a solver, tells its callback and decides when it stops."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self._risk = problem, problem.risk
        self._passes, self._seconds = self._risk.n_passes, self._risk.seconds
        self.master_seconds = 0.0
        self._starts_at_zero = problem.start is None or not problem.start.any()
        self._at_zero: float | None = None
        self._verdict: Verdict | None = None
        self._looked: float | None = None  # passes that were left when w = 0 was looked at

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
        """Go on counting from a state, whatever finding the way back has cost."""
        self._passes, self._seconds = state["first_passes"], state["first_seconds"]
        self.master_seconds = state["master_seconds"]
        if state["looked"] is not None:
            self._zero(state["looked"])
        self._risk.go_on(state["n_passes"], state["seconds"])

    def tell(self, w: Floats, objective: float, gap: float, **more: float) -> bool:
        """Tell the callback of an iteration; True where it wants to stop."""
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

    def stop(self, w: Floats, objective: float, bound: float, **more: float) -> str:
        """Tell the callback of an iteration with a proven bound and return why to stop, or an empty word."""
        if self.tell(w, objective, objective - bound, **more):
            return "callback"
        if objective - bound <= self.enough(objective, bound):
            return "gap"
        if objective - bound <= self.problem.tol * abs(objective) and self._zero().proof is not None:
            return "gap"
        return "passes" if self.n_passes >= self.problem.max_iter else ""

    def enough(self, objective: float, bound: float) -> float:
        """Return the gap at which to stop: ``tol`` times the objective, or a share of what w = 0 leaves to gain.

        A small share of the objective may be more than the best weights gain, so that 0 would pass for an optimum.
        """
        share, regulariser = self.problem.tol * abs(objective), self.problem.regulariser
        if not self._starts_at_zero or regulariser.name != "l2" or not regulariser.is_free:
            return share
        if self._at_zero is None:
            self._at_zero = self._risk.at_scores(self._risk.zero_scores())[0]
        return min(share, max(GAINED * (self._at_zero - bound), PRECISION * abs(objective)))

    def proven(self, best: Found, bound: float, n_iter: int, reason: str) -> Result:
        """Return the result of a solver with a bound; weights of 0 are left where the risk falls along some direction.

        That happens where the optimum gains less than rounding, as with features of 1e-8.
        """
        w, objective, zero = best.w, best.objective, self._verdict
        if reason == "gap" and self._starts_at_zero and not w.any() and self.problem.regulariser.name == "l2":
            zero = self._zero()
            if zero.descent is not None:
                w, objective = self._step_off_zero(zero.descent, zero.slope, objective)
        found = self.result(w, objective, objective - bound, n_iter, reason)
        return found if zero is None else replace(found, collapsed=zero.proof)

    def _zero(self, left: float | None = None) -> Verdict:
        """Look at w = 0, once; smooth risks have a gradient there and need no proof, limits would need another one."""
        if self._verdict is None:
            asked = not self._risk.smooth and self._starts_at_zero and self.problem.regulariser.is_free
            self._looked = max(self.problem.max_iter - self.n_passes, 0.0) if left is None else left
            self._verdict = look_at_zero(self._risk, self._looked) if asked else Verdict()
        return self._verdict

    def _step_off_zero(self, descent: Floats, slope: float, objective: float) -> tuple[Floats, float]:
        """Return the step along the descent that is best while the risk is linear, shortened where it is not."""
        w = -slope * self.problem.C / float(descent @ descent) * descent
        for _ in range(60):
            there = self._risk.at_scores(self._risk.scores(w))[0] + self.problem.penalty(w)
            if there <= objective + PRECISION * abs(objective):
                return w, there
            w = 0.5 * w
        return np.zeros_like(w), objective

    def result(
        self, w: Floats, objective: float, gap: float, n_iter: int, reason: str, gradient_norm: float = math.nan
    ) -> Result:
        """Return the result, with a sentence on why the solver stopped."""
        message = MESSAGES[reason].format(n_iter=n_iter, passes=self.n_passes)
        if math.isfinite(gap):
            message += f" with a gap of {gap / abs(objective) if objective else 0.0:.1e} of the objective"
        elif math.isfinite(gradient_norm):
            message += f" with a gradient norm of {gradient_norm:.3g}"
        return Result(
            w=w,
            objective=objective,
            lower_bound=objective - gap,
            gap=gap,
            gradient_norm=gradient_norm,
            n_iter=n_iter,
            n_passes=self.n_passes,
            converged=reason in DONE,
            reason=reason,
            message=message,
        )


class Best:
    """The best weights looked at so far."""

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
        objective = self._problem.risk.at_scores(self._problem.risk.scores(w))[0] + self._problem.penalty(w)
        if objective < self.objective:
            self.w, self.objective = w, objective
