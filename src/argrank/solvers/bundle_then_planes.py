"""The bundle method, which hands over to cutting planes with a slack per query where it is slow.

By ``python -m benchmarks solvers`` the bundle method leads nearly everywhere, by up to 40 times, and by more the more
queries there are. Where a few queries pull hard against each other (reciprocal rank on the first map, alone or in a
combination) it may be many times slower than the others. The slow cases cannot be predicted, so we switch after 100
passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from argrank._types import Floats
from argrank.solvers import block_qp, bundle, cutting_plane
from argrank.solvers._result import Meter, Problem, Result

PATIENCE = 100  # passes of the bundle method; where it does well it seldom needs more, also at C = 10,000
MOST_CELLS = 50_000  # queries times features: on larger data a pass query by query costs more than many of the bundle's


def minimise(problem: Problem) -> Result:
    """Minimise ``|w|² / (2C) + risk(w)`` until the gap is at most ``tol`` times the objective."""
    risk, meter, callback = problem.risk, Meter(problem), problem.callback
    small = risk.n_queries * risk.n_features <= MOST_CELLS and risk.n_features <= block_qp.MOST_FEATURES
    first = bundle.minimise(replace(problem, max_iter=min(problem.max_iter, PATIENCE)) if small else problem)
    left = problem.max_iter - round(first.n_passes)
    if not small or first.reason != "passes" or left <= 0:
        return first

    def tell(w: Floats, facts: Mapping[str, float]) -> bool:
        """Tell the caller of the better weights, the greater bound and all passes."""
        bound, objective = max(facts["lower_bound"], first.lower_bound), facts["objective"]
        if first.objective < objective:
            w, objective = first.w, first.objective
        return meter.tell(w, objective, objective - bound, n_constraints=facts["n_constraints"])

    second = cutting_plane.minimise(
        replace(problem, max_iter=left, start=None, callback=None if callback is None else tell)
    )
    best = min(first, second, key=lambda result: result.objective)
    bound = max(first.lower_bound, second.lower_bound)
    n_iter = first.n_iter + second.n_iter
    found = meter.result(best.w, best.objective, best.objective - bound, n_iter, second.reason)
    return replace(found, collapsed=second.collapsed)
