"""Stochastic subgradient descent, query by query, also over data that does not fit into memory.

Minimises ``F(w) = |w|² / (2C) + risk(w)``. Step t uses the gradient g of one mini-batch and has a rate per feature,

    w -= (w / C + g) / (t / C + sqrt(n_features * (sum of the squares of g so far)) / size)

which is 1/(lambda t) if strong convexity dominates (ORM equation 33, which lacks the 1/lambda; alone it ends 1,000 %
above the optimum at C = 100) and AdaGrad's if the risk's noise does (Bartlett, Hazan and Rakhlin 2007; Duchi, Hazan and
Singer 2011). ``size`` approximates the length of the optimum and is chosen by trial on a sample. The returned weights
are the mean over all steps weighted by t, which converges like 1/t (Lacoste-Julien et al. 2012). Every step ends inside
the ball that must hold the optimum, |w|² <= 2 C F(start).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from argrank._types import Floats
from argrank.errors import OptionError, check_count, check_positive
from argrank.solvers.meter import Best, Meter
from argrank.solvers.problem import Callback, Problem, Result, Risk, Stop, random_state, restore_random
from argrank.solvers.regularisers import Regulariser, Squared

SAMPLE = 256  # queries on which sizes are tried
FEWEST = 64  # queries of a stream to collect for these trials, if its first chunk has fewer
STEPS = 32  # least steps of a trial: one or two say nothing about the result of a descent
FACTOR = 3.0  # between two sizes
MOST_TRIALS = 12


class Visit(NamedTuple):
    """A query of a risk, and its weight, 1 on average."""

    risk: Risk
    query: int
    weight: float


@dataclass
class Descent:
    """The state of an online run: the last weights, their mean, the squares of the gradients and the steps."""

    w: Floats
    C: float
    radius: float
    size: float
    limits: Regulariser
    mean: Floats = field(init=False)
    squares: Floats = field(init=False)
    steps: int = 0

    def __post_init__(self) -> None:
        self.w = self.w.copy()
        self.mean, self.squares = self.w.copy(), np.zeros(len(self.w))

    def step(self, gradient: Floats) -> None:
        """Move by the mean gradient of a mini-batch."""
        self.steps += 1
        self.squares += gradient**2
        pace = self.steps / self.C + np.sqrt(len(self.w) * self.squares) / self.size
        self.w = self.limits.project(self.w - (self.w / self.C + gradient) / pace)
        length = float(np.sqrt(self.w @ self.w))
        if length > self.radius:
            self.w *= self.radius / length
        self.mean += 2.0 / (self.steps + 1.0) * (self.w - self.mean)


def visits(risks: Iterable[Risk], random: np.random.Generator) -> list[Visit]:
    """Return the queries of risks in random order."""
    found = [
        Visit(risk, q, weight)
        for risk in risks
        for q, weight in enumerate((risk.query_shares * risk.n_queries).tolist())
    ]
    return [found[number] for number in random.permutation(len(found))]


def sweep(descent: Descent, order: Sequence[Visit], batch_size: int) -> None:
    """Visit queries in an order, a mini-batch at a step."""
    for start in range(0, len(order), batch_size):
        chosen = order[start : start + batch_size]
        total = np.zeros(len(descent.w))
        for risk, q, weight in chosen:
            total += weight * risk.query(q, descent.w)[1]
        descent.step(total / len(chosen))


def sized(descent: Descent, order: Sequence[Visit], batch_size: int) -> Descent:
    """Return a descent whose size is the best of several, each tried by one sweep over a sample.

    The first is the distance at which the tangent at the start reaches 0; from there it goes up or down as long as the
    objective on the sample falls. Mini-batches are smaller in a trial where it would make too few steps: the length of
    the optimum does not depend on them.
    """
    sample = order[:SAMPLE]
    batch = min(batch_size, max(len(sample) // STEPS, 1))
    weights = np.array([visit.weight for visit in sample])
    share = weights / weights.sum()

    def objective(size: float) -> float:
        trial = replace(descent, size=size)
        sweep(trial, sample, batch)
        losses = [risk.query(q, trial.mean)[0] for risk, q, _ in sample]
        return float(share @ losses) + float(trial.mean @ trial.mean) / (2 * descent.C)

    asked = [risk.query(q, descent.w)[:2] for risk, q, _ in sample]
    loss, slope = share @ [loss for loss, _ in asked], share @ [gradient for _, gradient in asked]
    steepness = float(np.sqrt(slope @ slope))
    best = min(float(loss) / steepness, descent.radius) if steepness > 0 and loss > 0 else max(descent.radius, 1e-12)
    value, n_trials = objective(best), 1
    for factor in (FACTOR, 1.0 / FACTOR):
        before = best
        while n_trials < MOST_TRIALS:
            other, n_trials = objective(best * factor), n_trials + 1
            if other >= value:
                break
            best, value = best * factor, other
        if best != before:  # unimodal: if larger sizes are better, smaller ones need not be tried
            break
    return replace(descent, size=best)


def minimise(problem: Problem, batch_size: int = 1) -> Result:
    """Minimise by epochs over data in memory until two in a row gain less than ``tol`` of the objective.

    The risk need not be convex; then the end is near a local minimum. The gap is NaN.
    """
    check_count("batch_size", batch_size)
    risk, C, limits = problem.risk, problem.C, problem.regulariser
    meter, best, random = Meter(problem), Best(problem), np.random.default_rng(problem.random_state)
    reason: Stop | None = None
    n_iter, idle, found = 0, 0, problem.resumed()
    if found is None:
        start = problem.begin()
        best.look(start)
        descent = Descent(start, C, float(np.sqrt(2 * C * best.objective)), 1.0, limits)
        descent = sized(descent, visits([risk], random), batch_size)
    else:
        descent = Descent(found["w"], C, found["radius"], found["size"], limits)
        descent.mean, descent.squares, descent.steps = found["mean"].copy(), found["squares"].copy(), found["steps"]
        n_iter, idle = found["n_iter"], found["idle"]
        best.restore(found["best"])
        meter.restore(found["meter"])
        restore_random(random, found["random"])
    try:
        while not reason:
            before = best.objective
            sweep(descent, visits([risk], random), batch_size)
            best.look(limits.project(descent.mean.copy()))
            n_iter += 1
            idle = idle + 1 if before - best.objective <= problem.tol * best.objective else 0
            if meter.tell(best.w, best.objective, math.nan):
                reason = Stop.CALLBACK
            elif idle == 2:
                reason = Stop.STEPS
            elif meter.n_passes >= problem.max_iter:
                reason = Stop.PASSES
            if not reason:
                own = {name: getattr(descent, name) for name in ("radius", "size", "steps")}
                own |= {name: getattr(descent, name).copy() for name in ("w", "mean", "squares")}  # steps change them
                kept = {"n_iter": n_iter, "idle": idle, "best": best.state(), "meter": meter.state()}
                problem.offer(**own, **kept, random=random_state(random))
    except KeyboardInterrupt:
        reason = Stop.INTERRUPTED
    return meter.result(best.w, best.objective, math.nan, n_iter, reason)


def minimise_stream(
    stream: Callable[[], Iterable[Risk]],
    n_features: int,
    C: float = 1.0,
    epochs: int = 1,
    random_state: int | None = 0,
    batch_size: int = 1,
    callback: Callback | None = None,
    regulariser: Regulariser | None = None,
) -> Result:
    """Minimise over a stream of risks, one for every chunk of whole queries; one more pass computes the objective.

    ``stream()`` starts from the beginning, once an epoch and once for the first chunks, which set the steps. Otherwise
    one chunk is in memory at a time.
    """
    check_positive("C", C)
    check_count("batch_size", batch_size)
    random, n_passes = np.random.default_rng(random_state), 0.0
    limits = Squared() if regulariser is None else regulariser
    check_count("epochs", epochs)
    descent = _first_descent(stream(), n_features, C, batch_size, limits, random)
    n_iter, reason = 0, Stop.EPOCHS
    try:
        for _ in range(epochs):
            for risk in stream():
                sweep(descent, visits([risk], random), batch_size)
            n_iter, n_passes = n_iter + 1, n_passes + 1
            if callback is not None:
                facts = {"objective": float("nan"), "norm": float(np.sqrt(descent.mean @ descent.mean))}
                callback(descent.mean, facts | {"n_passes": n_passes})
    except KeyboardInterrupt:
        reason = Stop.INTERRUPTED
    w = limits.project(descent.mean)
    objective, unknown = objective_of(stream, w, C), math.nan
    return Result(w, objective, unknown, unknown, unknown, n_iter, n_passes + 1, reason)


def _first_descent(
    stream: Iterable[Risk],
    n_features: int,
    C: float,
    batch_size: int,
    limits: Regulariser,
    random: np.random.Generator,
) -> Descent:
    """Return the descent from w = 0; the loss of the first chunks there, and a sample of them, set the steps."""
    first: list[Risk] = []
    for risk in stream:
        first.append(risk)
        if sum(one.n_queries for one in first) >= FEWEST:
            break
    if not first:
        raise OptionError("expected a stream of at least one query, got an empty one")
    zero = np.zeros(n_features)
    at_zero = max(risk.at_scores(risk.scores(zero))[0] for risk in first)
    descent = Descent(zero, C, 2 * float(np.sqrt(2 * C * at_zero)), 1.0, limits)
    return sized(descent, visits(first, random), batch_size)


def objective_of(stream: Callable[[], Iterable[Risk]], w: Floats, C: float) -> float:
    """Return ``|w|² / (2C) + risk(w)`` over a stream, in one pass; every query counts the same."""
    total, n_queries = 0.0, 0
    for risk in stream():
        total += risk.n_queries * risk.at_scores(risk.scores(w))[0]
        n_queries += risk.n_queries
    return total / n_queries + float(w @ w) / (2 * C)
