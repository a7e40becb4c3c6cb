"""L-BFGS on a nonsmooth objective, for comparison: often close (Lewis and Overton 2009), never with a proof."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize as scipy_minimize

from argrank._types import Floats
from argrank.errors import check_positive
from argrank.solvers._result import Callback, Meter, Result, Risk


def minimise(
    risk: Risk,
    C: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = 1000,
    w0: Floats | None = None,
    callback: Callback | None = None,
    method: str = "L-BFGS-B",
) -> Result:
    """Minimise ``|w|² / (2C) + risk(w)`` from ``w0`` or 0 until steps gain less than ``1e-4 tol`` of the objective.

    ``method`` is one of SciPy's that take gradients ("L-BFGS-B", "CG"). The gap is NaN: nothing is proven.
    """
    check_positive("C", C)
    meter, facts = Meter(risk), {"objective": np.inf}
    best = np.zeros(risk.n_features) if w0 is None else np.array(w0, np.float64)
    n_iter, reason = 0, ""

    def value_and_gradient(w: Floats) -> tuple[float, Floats]:
        nonlocal best, facts
        value, u = risk.at_scores(risk.scores(w))
        objective = value + float(w @ w) / (2 * C)
        if objective < facts["objective"]:
            best = w.copy()
            facts = meter.facts(w, objective, np.nan, value, 0)
        return objective, risk.pull_back(u) + w / C

    def after(_: Floats) -> None:
        nonlocal n_iter, reason
        n_iter += 1
        if callback is not None and callback(best, facts):
            reason = "callback"
        elif meter.n_passes >= max_iter:
            reason = "passes"
        if reason:
            raise StopIteration

    options = {"maxiter": max_iter} | ({"ftol": 1e-4 * tol, "gtol": 1e-12} if method == "L-BFGS-B" else {"gtol": tol})
    try:
        scipy_minimize(value_and_gradient, best, jac=True, method=method, callback=after, options=options)
    except StopIteration:
        pass
    except KeyboardInterrupt:
        reason = "interrupted"
    if n_iter == 0 and not reason and callback is not None:  # at an optimum from the start
        callback(best, facts)
    messages = {
        "": "no step gains anything",
        "passes": f"stopped after {meter.n_passes:g} passes over the data",
        "callback": "stopped by the caller",
        "interrupted": "interrupted",
    }
    return Result(
        w=best,
        objective=facts["objective"],
        lower_bound=float("nan"),
        gap=float("nan"),
        gradient_norm=float("nan"),
        n_iter=n_iter,
        n_passes=meter.n_passes,
        converged=not reason,
        reason=reason or "steps",
        message=messages[reason],
    )
