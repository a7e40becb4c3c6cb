"""Block-coordinate Frank–Wolfe (Lacoste-Julien et al. 2013), for convex risks of at least 0.

Minimises ``F(w) = |w|² / (2C) + risk(w)`` through its dual: every query holds one plane below its loss, a mixture of
all planes it ever got. Asked again, a query moves its mixture towards the new plane by the step that gains most in the
dual, which has a closed form. A pass asks every query once, in random order, and the weights change after each.
"""

from __future__ import annotations

import numpy as np

from argrank.solvers._result import Best, Callback, Floats, Meter, QueryRisk, Result, check_C


def minimise(
    risk: QueryRisk,
    C: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = 1000,
    w0: Floats | None = None,
    callback: Callback | None = None,
    random_state: int | None = 0,
) -> Result:
    """Minimise ``|w|² / (2C) + risk(w)`` until the gap is at most ``tol`` times the objective.

    Both the last weights and their average (weighted towards the end) are judged after every pass, by primal and by
    dual value, and the best of each counts. A start ``w0`` cannot be used: it has no dual to go with it.
    """
    check_C(C)
    meter, best, random = Meter(risk), Best(risk, C), np.random.default_rng(random_state)
    shares = risk.query_shares
    parts, offsets = np.zeros((risk.n_queries, risk.n_features)), np.zeros(risk.n_queries)
    w, mean_w, mean_offset = np.zeros(risk.n_features), np.zeros(risk.n_features), 0.0
    bound, n_iter, moves, reason = 0.0, 0, 0, ""
    best.look(w)
    try:
        while not reason:
            for q in random.permutation(risk.n_queries):
                _, gradient, offset = risk.query(q, w)
                corner, height = -C * shares[q] * gradient, shares[q] * offset
                change = corner - parts[q]
                gain = height - offsets[q] - float(change @ w) / C
                square = float(change @ change) / C
                step = min(max(gain / square, 0.0), 1.0) if square > 0 else float(gain > 0)
                parts[q] += step * change
                offsets[q] += step * (height - offsets[q])
                w = w + step * change
                share = 2.0 / (moves + 2)
                mean_w += share * (w - mean_w)
                mean_offset += share * (float(offsets.sum()) - mean_offset)
                moves += 1
            w = parts.sum(axis=0)  # without the rounding of many small steps
            for weights, height in ((w, float(offsets.sum())), (mean_w, mean_offset)):
                bound = max(bound, height - float(weights @ weights) / (2 * C))
                best.look(weights.copy())
            n_iter += 1
            reason = meter.reason(best, bound, tol, max_iter, callback, risk.n_queries)
    except KeyboardInterrupt:
        reason = "interrupted"
    return meter.result(best.w, best.objective, bound, n_iter, reason)
