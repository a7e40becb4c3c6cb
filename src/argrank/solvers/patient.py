"""The bundle method for as long as it does well, then cutting planes with a slack per query.

Minimises ``F(w) = |w|² / (2C) + risk(w)`` for convex risks of at least 0. By ``python -m benchmarks solvers`` the
bundle method leads nearly everywhere, by up to 40 times, and by more the more queries there are. Where a few queries
pull hard against each other (reciprocal rank on the first map, alone or in a combination) it may be many
times slower than the others. No size, C or gap tells the two apart beforehand, but the passes do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from argrank._types import Floats
from argrank.solvers import block_qp, bundle, cutting_plane
from argrank.solvers._result import Callback, Meter, QueryRisk, Result

PATIENCE = 100  # passes of the bundle method; where it does well it seldom needs more, also at C = 10,000
MOST_CELLS = 50_000  # queries times features: on larger data a pass query by query costs more than many of the bundle's


def minimise(
    risk: QueryRisk,
    C: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = 1000,
    w0: Floats | None = None,
    callback: Callback | None = None,
    random_state: int | None = 0,
) -> Result:
    """Minimise ``|w|² / (2C) + risk(w)`` until the gap is at most ``tol`` times the objective."""
    small = risk.n_queries * risk.n_features <= MOST_CELLS and risk.n_features <= block_qp.MOST_FEATURES
    meter = Meter(risk)
    first = bundle.minimise(risk, C, tol, min(max_iter, PATIENCE) if small else max_iter, w0, callback)
    left = max_iter - round(first.n_passes)
    if not small or first.reason != "passes" or left <= 0:
        return first

    def both(w: Floats, facts: Mapping[str, float]) -> bool | None:
        """Tell the caller of the better weights, the greater bound and all passes."""
        if callback is None:
            return None
        told = {**facts, "lower_bound": max(facts["lower_bound"], first.lower_bound), "n_passes": meter.n_passes}
        if first.objective < facts["objective"]:
            w, square = first.w, float(first.w @ first.w)
            slack = first.objective - square / (2 * C)
            told |= {"objective": first.objective, "average_slack": slack, "norm": math.sqrt(square)}
        told["gap"] = told["objective"] - told["lower_bound"]
        return callback(w, told)

    second = cutting_plane.minimise(risk, C, tol, left, None, both, random_state)
    best = min(first, second, key=lambda result: result.objective)
    bound = max(first.lower_bound, second.lower_bound)
    return meter.result(best.w, best.objective, bound, first.n_iter + second.n_iter, second.reason)
