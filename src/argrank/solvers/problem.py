"""The inputs and outputs of solvers: a risk, a problem, a result, and states for resuming.

A solver can be resumed in a new process: it offers its state after every iteration, and starts from a stored one. A
state is a mapping of names to arrays, numbers, texts, None, lists and further mappings. It contains everything that the
remaining work depends on, so that the result is bit-identical. A solver never changes an array that it has offered.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from argrank._types import Floats

if TYPE_CHECKING:
    from argrank.solvers.regularisers import Regulariser

#: Called after every iteration with the weights and the facts of the iteration; True stops the solver.
Callback = Callable[[Floats, Mapping[str, float]], bool | None]

#: A vector with one number per row. Solvers only add, subtract and scale it: it may be stored on other machines.
Scores = Any

State = Mapping[str, Any]


class Risk(Protocol):
    """A mean loss as a function of the scores ``X @ w``: a solver's only interface to data and objective.

    Only risks with ``per_query`` can be evaluated query by query, and only those with ``second_order`` have a Hessian
    (at least a generalised one). A risk that is a ``difference`` of two convex ones returns both as ``parts()``.
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
        """Continue counting passes and seconds from another process's counts."""

    def zero_scores(self) -> Scores:
        """Return the scores of w = 0, without a pass over the features."""

    def scores(self, w: Floats) -> Scores:
        """Return the scores of all rows: half a pass."""

    def given_scores(self, values: Floats) -> Scores:
        """Return scores from given values, for instance of a stored state."""

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


class Wrapped:
    """A risk that delegates to another one unless a subclass overrides it."""

    def __init__(self, risk: Risk) -> None:
        self._risk = risk

    def __getattr__(self, name: str) -> Any:
        return getattr(self._risk, name)


class Offset(Wrapped):
    """A risk whose rows have offsets that are added to the scores of the weights."""

    per_query = False
    second_order = False

    def __init__(self, risk: Risk, base: Scores) -> None:
        super().__init__(risk)
        self._base = base

    def at_scores(self, scores: Scores) -> tuple[float, Scores]:
        """Return risk and gradient at the scores of the weights together with the rows' own."""
        return self._risk.at_scores(scores + self._base)

    def parts(self) -> tuple[Risk, Risk]:
        """Return both parts, with the rows' own scores."""
        convex, subtracted = self._risk.parts()
        return Offset(convex, self._base), Offset(subtracted, self._base)


class Keeper:
    """Who keeps the states of one solve after the other; this one keeps nothing."""

    def resumed(self) -> State | None:
        """Return the state to resume from, once; None to start from the beginning."""
        return None

    def offer(self, state: State | Callable[[], State], now: bool = False) -> None:
        """Record a state that may be written to a file, ``now`` or later; a function is called only then."""

    def finished(self) -> State | None:
        """Begin the next solve: return its result, as ``finish`` got it, if it was finished before."""
        return None

    def finish(self, result: State) -> None:
        """Receive the result of a solve."""


@dataclass(frozen=True)
class Problem:
    """Minimise ``regulariser(w) / C + risk(w)``: the input of every solver."""

    risk: Risk
    C: float
    regulariser: Regulariser
    tol: float
    max_iter: int
    start: Floats | None = None
    callback: Callback | None = None
    random_state: int | None = 0
    keeper: Keeper = field(default_factory=Keeper)  # stores the states that the solver offers

    def resumed(self) -> Any:
        """Return the state to resume from, or None."""
        return self.keeper.resumed()

    def offer(self, **state: Any) -> None:
        """Offer the state after an iteration."""
        self.keeper.offer(state)

    def begin(self) -> Floats:
        """Return where to start: the given weights or zero, within the limits."""
        start = np.zeros(self.risk.n_features) if self.start is None else np.array(self.start, np.float64)
        return self.regulariser.project(start)

    def penalty(self, w: Floats) -> float:
        """Return the regulariser's share of the objective."""
        return self.regulariser.value(w) / self.C

    def objective(self, w: Floats) -> float:
        """Return the objective of weights."""
        return self.risk.at_scores(self.risk.scores(w))[0] + self.penalty(w)


class Stop(Enum):
    """Why a solver or a fit ended; code compares these values, never the sentences made from them."""

    DONE = "done"
    GAP = "gap"
    GRADIENT = "gradient"
    STEPS = "steps"
    EPOCHS = "epochs"
    PASSES = "passes"
    ROUNDS = "rounds"
    PRECISION = "precision"
    CALLBACK = "callback"
    TIME = "time"
    INTERRUPTED = "interrupted"

    @property
    def is_done(self) -> bool:
        """Whether the solver finished."""
        return self in (Stop.DONE, Stop.GAP, Stop.GRADIENT, Stop.STEPS, Stop.EPOCHS)


#: The text of a solver's reason.
SENTENCES = {
    Stop.GAP: "the gap is closed",
    Stop.GRADIENT: "the gradient has vanished",
    Stop.STEPS: "further steps gain almost nothing",
    Stop.EPOCHS: "made {n_iter} epochs",
    Stop.PASSES: "stopped after {n_passes:g} passes over the data",
    Stop.PRECISION: "no step lowers the objective further",
    Stop.CALLBACK: "stopped by the caller",
    Stop.INTERRUPTED: "interrupted",
}


class Collapse(NamedTuple):
    """The proof that w = 0 is the optimum for every C: a subgradient of the risk at 0 of (nearly) no length.

    No optimum is longer than 2 C times ``norm``; up to ``tolerance`` that counts as 0.
    """

    norm: float
    tolerance: float


@dataclass(frozen=True)
class Result:
    """The weights found by a solver, with a bound on their suboptimality.

    ``lower_bound`` is a proven bound of the minimum and ``gap = objective - lower_bound``, or NaN if the method has
    none; a gap without a bound is that of a convex approximation. ``message`` is a sentence for people.
    """

    w: Floats
    objective: float
    lower_bound: float
    gap: float
    gradient_norm: float
    n_iter: int
    n_passes: float
    reason: Stop
    collapsed: Collapse | None = None  # the proof that w = 0 is the optimum for every C, if it was found

    def step(self) -> Floats:
        """Return the weights as a step of a larger fit, which Ctrl-C ends together with the step."""
        if self.reason is Stop.INTERRUPTED:
            raise KeyboardInterrupt
        return self.w

    @property
    def converged(self) -> bool:
        """Whether the solver converged."""
        return self.reason.is_done

    @property
    def message(self) -> str:
        """Why the solver stopped, and how close it came."""
        text = SENTENCES[self.reason].format(n_iter=self.n_iter, n_passes=self.n_passes)
        if math.isfinite(self.gap):
            text += f" with a gap of {self.gap / abs(self.objective) if self.objective else 0.0:.1e} of the objective"
            if math.isnan(self.lower_bound):
                text += f" (of a convex approximation, one of {self.n_iter})"
        elif math.isfinite(self.gradient_norm):
            text += f" with a gradient norm of {self.gradient_norm:.3g}"
        return text


class Nested(Keeper):
    """The keeper of a solver inside another one, stored together with the outer state."""

    def __init__(self, keeper: Keeper, outer: State, inner: State | None) -> None:
        self._keeper, self._outer, self._inner = keeper, outer, inner

    def resumed(self) -> State | None:
        """Return the inner state to resume from, once."""
        inner, self._inner = self._inner, None
        return inner

    def offer(self, state: State | Callable[[], State], now: bool = False) -> None:
        """Offer both states."""
        self._keeper.offer({"outer": self._outer, "inner": state})


def keeping(keeper: Keeper, solve: Callable[[], Result]) -> Result:
    """Solve, unless the solve was finished before; pass the result to the keeper."""
    found = keeper.finished()
    if found is not None:
        proof = found.get("collapsed")
        why = Stop(found["reason"])
        return Result(**{**found, "reason": why, "collapsed": None if proof is None else Collapse(*proof)})
    result = solve()
    if result.reason is not Stop.INTERRUPTED:
        keeper.finish(result_state(result))
    return result


def result_state(result: Result) -> State:
    """Return the fields from which a result can be restored."""
    given = {**{one.name: getattr(result, one.name) for one in fields(result)}, "reason": result.reason.value}
    return {name: value for name, value in given.items() if isinstance(value, float | int | str | np.ndarray | tuple)}


def random_state(random: np.random.Generator) -> State:
    """Return the state of a random generator."""
    return dict(random.bit_generator.state)


def restore_random(random: np.random.Generator, state: State) -> None:
    """Restore the state of a random generator."""
    random.bit_generator.state = dict(state)
