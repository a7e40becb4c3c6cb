"""Bundle method (one-slack cutting planes, BMRM) with a line search on scores, for convex risks of at least 0.

Minimises ``F(w) = |w|² / (2C) + risk(w)``, optionally with limits on the weights. Every evaluation gives a plane below
the risk; the minimum over the planes is a quadratic problem whose dual value bounds F from below. Plain BMRM moves to
that minimiser; here, as in OCAS (Franc & Sonnenburg 2008), the best point so far is improved by a line search towards
it, which costs no pass over the features, and the next plane is taken near the best point. With ``|w|₁ / C`` instead of
the squares the next point is chosen differently, see ``level``.

In ``python -m benchmarks solvers`` it is fastest nearly everywhere, by up to 40 times, and by more with more queries.
If a few queries conflict strongly (reciprocal rank on the first map, alone or in a combination) it may be many times
slower than cutting planes with a slack per query. The slow cases cannot be predicted, so ``then_planes`` switches after
100 passes, or two per feature.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace

from argrank._types import Floats
from argrank.solvers import block_qp, cutting_plane, level
from argrank.solvers.meter import Meter
from argrank.solvers.planes import Point, SquaredPlanes, look, planes_for
from argrank.solvers.problem import Nested, Problem, Result, Scores, Stop, result_state

TOWARDS = 0.1  # the next plane is taken this share of the way from the best point to the minimiser of the planes
MOST_STEPS = 10  # oracle calls in a line search
FLAT = 0.05  # a derivative this small, relative to the first, ends a line search
LITTLE = 0.03  # so does a bracket that cannot gain more than this share of the gap
PATIENCE = 100  # passes of the bundle method; it seldom needs more when it works well, even at C = 10,000
PER_FEATURE = 2  # or this many per feature: with very different scales it needs about one plane for each
MOST_CELLS = 50_000  # queries times features: on larger data a pass query by query costs more than many of the bundle's


def minimise(problem: Problem, planes: SquaredPlanes | None = None) -> Result:
    """Minimise ``R(w) / C + risk(w)``, for risks of at least 0, until the gap is ``tol`` times the objective.

    ``planes`` are known to lie below the risk; those of this solve are added to them.
    """
    if problem.regulariser.name == "l1":
        return level.minimise(problem)
    risk, meter = problem.risk, Meter(problem)
    planes = planes_for(problem) if planes is None else planes
    reason: Stop | None = None
    bound, n_iter, found = 0.0, 0, problem.resumed()
    if found is None:
        start = problem.begin()
        best = look(problem, start, risk.scores(start) if start.any() else risk.zero_scores())
        planes.cut(risk, best)
    else:
        best = look(problem, found["w"], risk.given_scores(found["scores"]))
        bound, n_iter = found["bound"], found["n_iter"]
        planes.restore(found["planes"])
        meter.restore(found["meter"])
    try:
        while True:
            begin = time.perf_counter()
            target, lower = planes.minimise(0.1 * meter.enough(best.objective, bound))
            meter.master_seconds += time.perf_counter() - begin
            bound, n_iter = max(bound, lower), n_iter + 1
            reason = meter.stop(best.w, best.objective, bound, n_constraints=len(planes))
            if reason:
                break
            target_scores = risk.scores(target)
            best = _line_search(
                problem, best, target - best.w, target_scores - best.scores, LITTLE * (best.objective - bound)
            )
            w = (1 - TOWARDS) * best.w + TOWARDS * target
            near = look(problem, w, (1 - TOWARDS) * best.scores + TOWARDS * target_scores)
            planes.cut(risk, near)
            best = min(best, near, key=lambda point: point.objective)
            problem.offer(
                w=best.w, scores=best.scores, bound=bound, n_iter=n_iter, planes=planes.state(), meter=meter.state()
            )
    except KeyboardInterrupt:
        reason = Stop.INTERRUPTED
    return meter.proven(best, bound, n_iter, reason)


def then_planes(problem: Problem) -> Result:
    """Minimise ``|w|² / (2C) + risk(w)`` as ``minimise`` does, and if that takes long by cutting planes."""
    risk, meter, callback = problem.risk, Meter(problem), problem.callback
    small = risk.n_queries * risk.n_features <= MOST_CELLS and risk.n_features <= block_qp.MOST_FEATURES
    if not small:
        return minimise(problem)
    patience = min(problem.max_iter, max(PATIENCE, PER_FEATURE * risk.n_features))
    found = problem.resumed()
    if found is None or not found["outer"]:
        keeper = Nested(problem.keeper, {}, found and found["inner"])
        first = minimise(replace(problem, max_iter=patience, keeper=keeper))
        found = None
    else:  # the first part was finished before
        first = Result(**found["outer"]["first"])
        meter.restore(found["outer"]["meter"])
    left = problem.max_iter - round(first.n_passes)
    if first.reason is not Stop.PASSES or left <= 0:
        return first

    def tell(w: Floats, facts: Mapping[str, float]) -> bool:
        """Report the better weights, the greater bound and all passes to the caller."""
        bound, objective = max(facts["lower_bound"], first.lower_bound), facts["objective"]
        if first.objective < objective:
            w, objective = first.w, first.objective
        return meter.tell(w, objective, objective - bound, n_constraints=facts["n_constraints"])

    outer = {"first": result_state(first), "meter": meter.state()}
    keeper = Nested(problem.keeper, outer, found and found["inner"])
    second = cutting_plane.minimise(
        replace(problem, max_iter=left, start=None, callback=None if callback is None else tell, keeper=keeper)
    )
    best = min(first, second, key=lambda result: result.objective)
    bound = max(first.lower_bound, second.lower_bound)
    n_iter = first.n_iter + second.n_iter
    found = meter.result(best.w, best.objective, best.objective - bound, n_iter, second.reason)
    return replace(found, collapsed=second.collapsed)


def _line_search(problem: Problem, here: Point, along: Floats, along_scores: Scores, little: float) -> Point:
    """Return the best point seen while looking for the root of the derivative along a direction.

    The derivative (of whichever subgradient the oracle gives) does not fall with the step, so the root is bracketed
    and found by false position, with bisection if that is slow, until the bracket can gain at most ``little``.
    """

    def derivative(point: Point) -> float:
        return problem.regulariser.slope(point.w, along) / problem.C + problem.risk.dot(point.u, along_scores)

    low, low_slope = 0.0, derivative(here)
    high, high_slope = math.inf, math.inf
    if low_slope >= 0:
        return here
    best, close, step = here, FLAT * -low_slope, 1.0
    furthest = max(1.0, problem.regulariser.room(here.w, along))
    for _ in range(MOST_STEPS):
        there = look(problem, here.w + step * along, here.scores + step * along_scores)
        best = min(best, there, key=lambda point: point.objective)
        slope = derivative(there)
        if abs(slope) <= close or (slope < 0 and step == furthest):
            break
        if slope < 0:
            low, low_slope = step, slope
        else:
            high, high_slope = step, slope
        if -low_slope * (high - low) <= little:
            break
        if high == math.inf:
            step = min(2.0 * low, furthest)
        else:
            share = low_slope / (low_slope - high_slope)
            step = low + min(max(share, 0.1), 0.9) * (high - low)
    return best
