"""Gradient descent with momentum and fixed steps, for forces that are the gradient of no function.

Follows ``2 w / C + n_queries * force(w)``, divided by n_queries. There is no line search and nothing is proven: what is
handed back is where it stands after so many passes.
"""

from __future__ import annotations

import math

import numpy as np

from argrank._types import Floats
from argrank.errors import check_positive
from argrank.solvers._result import Callback, Result
from argrank.solvers.quasi_newton import ValueRisk

MOMENTUM = 0.9


def descend(
    risk: ValueRisk,
    C: float = 1.0,
    learning_rate: float = 0.1,
    max_iter: int = 100,
    w0: Floats | None = None,
    callback: Callback | None = None,
    scales: Floats | None = None,
) -> Result:
    """Take ``max_iter`` steps of one pass each.

    ``scales`` (the spread of every feature) makes the descent that of features divided by them; 0 rests a weight.
    """
    check_positive("C", C)
    passes, seconds, queries = risk.n_passes, risk.seconds, risk.n_queries
    w = np.zeros(risk.n_features) if w0 is None else np.array(w0, np.float64)
    rates = np.ones_like(w) if scales is None else np.divide(1.0, scales**2, out=np.zeros_like(w), where=scales > 0)
    velocity = np.zeros_like(w)
    value, force = risk.value_and_gradient(w)
    n_iter, reason = 0, "passes"

    def objective() -> float:
        return float(w @ w) / C + queries * value

    try:
        while n_iter < max_iter:
            velocity = MOMENTUM * velocity - learning_rate * rates * (2.0 * w / (C * queries) + force)
            w = w + velocity
            value, force = risk.value_and_gradient(w)
            n_iter += 1
            facts = {
                "objective": objective(),
                "risk": value,
                "norm": float(np.sqrt(w @ w)),
                "n_passes": risk.n_passes - passes,
                "oracle_seconds": risk.seconds - seconds,
            }
            if callback is not None and callback(w, facts):
                reason = "callback"
                break
    except KeyboardInterrupt:
        reason = "interrupted"
    return Result(
        w=w,
        objective=objective(),
        lower_bound=-math.inf,
        gap=math.nan,
        gradient_norm=float(np.linalg.norm(2.0 * w / C + queries * force)),
        n_iter=n_iter,
        n_passes=risk.n_passes - passes,
        converged=reason == "passes",
        reason=reason,
        message=f"took {n_iter} steps",
    )
