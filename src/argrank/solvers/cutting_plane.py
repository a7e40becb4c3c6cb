"""Cutting planes with a slack per query and dual coordinate ascent, as in LaRank (Bordes et al. 2007).

Minimises ``F(w) = |w|² / (2C) + risk(w)`` for convex risks of at least 0. Every query keeps a working set of planes
below its loss. A pass computes every query's most violated plane, in random order, and solves the query's own small
problem exactly while the others are fixed; between passes the known planes are revisited in the same way, without the
oracle. This is LaRank, the solver of the KDD 2008 paper's experiments, and slow if C is large. With few features, or if
it has not converged after some passes, the weights of all queries' known planes are optimised together instead, and a
pass starts from the resulting weights.
"""

from __future__ import annotations

import time

import numpy as np

from argrank._types import Floats
from argrank.solvers import block_qp
from argrank.solvers.meter import Best, Meter
from argrank.solvers.planes import solve_simplex
from argrank.solvers.problem import Problem, Result, Stop, random_state, restore_random

REPEATS = 10  # rounds over the working sets after every pass
NEW = 1e-12  # a plane that rises less than this above the known ones is left out


class _WorkingSet(block_qp.QueryPlanes):
    """One query's planes, with the products of their gradients."""

    kept = (*block_qp.QueryPlanes.kept, "gram")

    def __init__(self, n_features: int, share: float) -> None:
        super().__init__(n_features, share)
        self.gram = np.zeros((1, 1))

    def height(self, w: Floats) -> float:
        return float((self.gradients @ w + self.offsets).max())

    def add(self, gradient: Floats, offset: float) -> None:
        super().add(gradient, offset)
        self.gram = self.gradients @ self.gradients.T

    def forget_unused(self) -> None:
        """Drop planes without weight; they are found again if they are needed."""
        used = self.weights > 0
        used[0] = True
        if not used.all():
            self.keep(used)
            self.gram = self.gram[np.ix_(used, used)]

    def improve(self, w: Floats, C: float, tolerance: float) -> Floats:
        """Maximise the dual over this query's weights; return the weights of the model that follow."""
        mine = self.weights @ self.gradients
        others = w + C * mine
        offsets = self.offsets + self.gradients @ others
        self.weights = solve_simplex(C * self.gram, offsets, self.weights, tolerance, self.share)
        return others - C * (self.weights @ self.gradients)


def minimise(problem: Problem) -> Result:
    """Minimise ``|w|² / (2C) + risk(w)`` until the gap is at most ``tol`` times the objective.

    A start cannot be used: it has no corresponding dual point.
    """
    risk, C = problem.risk, problem.C
    meter, best, random = Meter(problem), Best(problem), np.random.default_rng(problem.random_state)
    sets = [_WorkingSet(risk.n_features, float(share)) for share in risk.query_shares]
    reason: Stop | None = None
    w, bound, n_iter = np.zeros(risk.n_features), 0.0, 0
    found = problem.resumed()
    if found is None:
        best.look(w)
    else:
        w, bound, n_iter = found["w"], found["bound"], found["n_iter"]
        block_qp.restore(sets, found)
        best.restore(found["best"])
        meter.restore(found["meter"])
        restore_random(random, found["random"])
    try:
        while not reason:
            tolerance, centre = 0.01 * meter.enough(best.objective, bound) / risk.n_queries, w
            together = block_qp.helps(risk.n_features, n_iter)
            for q in random.permutation(risk.n_queries):
                asked = centre if together else w
                loss, gradient, offset = risk.query(q, asked)
                if loss > sets[q].height(asked) + NEW:
                    sets[q].add(gradient, offset)
                w = sets[q].improve(w, C, tolerance)
            begin = time.perf_counter()
            if together:
                block_qp.reweigh(sets, C, 0.1 * max(meter.enough(best.objective, bound), best.objective - bound))
            else:
                several = [queries for queries in sets if len(queries.offsets) > 1]
                for _ in range(REPEATS):
                    for chosen in random.permutation(len(several)):
                        w = several[chosen].improve(w, C, tolerance)
            for queries in sets:
                queries.forget_unused()
            w = -C * np.sum([queries.weights @ queries.gradients for queries in sets], axis=0)
            meter.master_seconds += time.perf_counter() - begin
            height = sum(float(queries.weights @ queries.offsets) for queries in sets)
            bound = max(bound, height - float(w @ w) / (2 * C))
            best.look(w)
            n_iter += 1
            n_planes = sum(len(queries.offsets) - 1 for queries in sets)
            reason = meter.stop(best.w, best.objective, bound, n_constraints=n_planes)
            if not reason:
                kept = {"w": w, "bound": bound, "n_iter": n_iter, "best": best.state(), **block_qp.state_of(sets)}
                problem.offer(**kept, meter=meter.state(), random=random_state(random))
    except KeyboardInterrupt:
        reason = Stop.INTERRUPTED
    return meter.proven(best, bound, n_iter, reason)
