"""Stochastic subgradient descent, query by query, also over data that does not fit into memory.

Minimises ``F(w) = |w|² / (2C) + risk(w)``. Step t uses the queries of one mini-batch: ``w -= (w + C g) / (t + t0)``,
the step 1/(lambda t) that strong convexity allows (ORM equation 33, which lacks the 1/lambda). The weights handed back
are the mean over all steps weighted by t, which forgets the beginning and converges like 1/t (Lacoste-Julien et al.
2012). Every step ends inside the ball that must hold the optimum, |w|² <= 2 C F(0).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from argrank.errors import OptionError
from argrank.solvers._result import Best, Callback, Floats, Meter, QueryRisk, Result, check_C


@dataclass
class Descent:
    """The state of an online run: the last weights, their mean and the number of steps."""

    w: Floats
    C: float
    radius: float
    offset: float  # t0: the first steps are as short as if so many had been made before
    mean: Floats
    steps: int = 0

    @classmethod
    def start(cls, w: Floats, C: float, radius: float, offset: float) -> Descent:
        """Begin at the weights w."""
        check_C(C)
        return cls(w.copy(), C, radius, offset, w.copy())

    def step(self, gradient: Floats) -> None:
        """Move by the mean gradient of a mini-batch."""
        self.steps += 1
        rate = 1.0 / (self.steps + self.offset)
        self.w -= rate * (self.w + self.C * gradient)
        length = float(np.sqrt(self.w @ self.w))
        if length > self.radius:
            self.w *= self.radius / length
        self.mean += 2.0 / (self.steps + 1.0) * (self.w - self.mean)


def sweep(descent: Descent, risk: QueryRisk, batch_size: int, random: np.random.Generator) -> None:
    """Visit every query of a risk once, in random order, a mini-batch at a step."""
    order = random.permutation(risk.n_queries)
    weight = risk.query_shares * risk.n_queries
    for start in range(0, len(order), batch_size):
        chosen = order[start : start + batch_size]
        total = np.zeros(risk.n_features)
        for q in chosen:
            total += weight[q] * risk.query(int(q), descent.w)[1]
        descent.step(total / len(chosen))


def _check_batch(batch_size: int) -> None:
    if not isinstance(batch_size, int | np.integer) or isinstance(batch_size, bool) or batch_size < 1:
        raise OptionError(f"batch_size: expected a whole number from 1 up, got {batch_size!r}")


def minimise(
    risk: QueryRisk,
    C: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = 1000,
    w0: Floats | None = None,
    callback: Callback | None = None,
    random_state: int | None = 0,
    batch_size: int = 1,
) -> Result:
    """Minimise by epochs over data in memory until two in a row gain less than ``tol`` of the objective.

    The risk need not be convex; then the end is near a local minimum. The gap is NaN: nothing is proven.
    """
    _check_batch(batch_size)
    meter, best, random = Meter(risk), Best(risk, C), np.random.default_rng(random_state)
    start = np.zeros(risk.n_features) if w0 is None else np.array(w0, np.float64)
    at_zero, _ = risk.at_scores(risk.scores(np.zeros(risk.n_features)))
    descent = Descent.start(start, C, float(np.sqrt(2 * C * at_zero)), max(1.0, risk.n_queries / batch_size))
    best.look(start)
    n_iter, reason, idle = 0, "", 0
    try:
        while not reason:
            before = best.objective
            sweep(descent, risk, batch_size, random)
            best.look(descent.mean.copy())
            n_iter += 1
            facts = meter.facts(best.w, best.objective, float("nan"), best.value, 0)
            idle = idle + 1 if before - best.objective <= tol * best.objective else 0
            if callback is not None and callback(best.w, facts):
                reason = "callback"
            elif idle == 2:
                reason = "steps"
            elif meter.n_passes >= max_iter:
                reason = "passes"
    except KeyboardInterrupt:
        reason = "interrupted"
    return _result(best.w, best.objective, n_iter, meter.n_passes, reason)


def minimise_stream(
    stream: Callable[[], Iterable[QueryRisk]],
    n_features: int,
    C: float = 1.0,
    epochs: int = 1,
    random_state: int | None = 0,
    batch_size: int = 1,
    callback: Callback | None = None,
) -> Result:
    """Minimise over a stream of risks, one for every chunk of whole queries; one more pass takes the objective.

    ``stream()`` starts from the beginning, once an epoch. Only one chunk is held at a time.
    """
    _check_batch(batch_size)
    random, n_passes = np.random.default_rng(random_state), 0.0
    descent: Descent | None = None
    n_iter, reason = 0, "epochs"
    try:
        for _ in range(epochs):
            for risk in stream():
                if descent is None:  # the first chunk stands for all: its loss at 0 and its size set the steps
                    zero = np.zeros(n_features)
                    at_zero = risk.at_scores(risk.scores(zero))[0]
                    descent = Descent.start(zero, C, 2 * float(np.sqrt(2 * C * at_zero)), risk.n_queries / batch_size)
                sweep(descent, risk, batch_size, random)
            n_iter, n_passes = n_iter + 1, n_passes + 1
            if callback is not None and descent is not None:
                facts = {"objective": float("nan"), "norm": float(np.sqrt(descent.mean @ descent.mean))}
                callback(descent.mean, facts | {"n_passes": n_passes})
    except KeyboardInterrupt:
        reason = "interrupted"
    if descent is None:
        raise OptionError("epochs: expected at least one pass over a stream that is not empty")
    return _result(descent.mean, objective_of(stream, descent.mean, C), n_iter, n_passes + 1, reason)


def objective_of(stream: Callable[[], Iterable[QueryRisk]], w: Floats, C: float) -> float:
    """Return ``|w|² / (2C) + risk(w)`` over a stream, in one pass; every query counts the same."""
    total, n_queries = 0.0, 0
    for risk in stream():
        total += risk.n_queries * risk.at_scores(risk.scores(w))[0]
        n_queries += risk.n_queries
    return total / n_queries + float(w @ w) / (2 * C)


def _result(w: Floats, objective: float, n_iter: int, n_passes: float, reason: str) -> Result:
    message = {
        "callback": "stopped by the caller",
        "epochs": f"made {n_iter} epochs",
        "interrupted": "interrupted",
        "passes": f"stopped after {n_passes:g} passes over the data while still improving",
        "steps": "two epochs gained next to nothing",
    }[reason]
    return Result(
        w=w,
        objective=objective,
        lower_bound=float("nan"),
        gap=float("nan"),
        gradient_norm=float("nan"),
        n_iter=n_iter,
        n_passes=n_passes,
        converged=reason in ("steps", "epochs"),
        reason=reason,
        message=message,
    )
