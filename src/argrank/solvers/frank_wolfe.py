"""Block-coordinate Frank–Wolfe with pairwise steps, for convex risks of at least 0.

Minimises ``F(w) = |w|² / (2C) + risk(w)`` through its dual, where every query holds a mixture of planes below its loss
(Lacoste-Julien et al. 2013). A pass computes every query's most violated plane once, in random order, and moves weight
to it, by the step that gains most in the dual, from the plane of the mixture that gains least: such pairwise steps
converge linearly, while plain ones towards the new plane are slow (Osokin et al. 2016). Between passes the known planes
are revisited without the oracle; with few features, or if it has not converged after some passes, those of all queries
are optimised together instead (the fully corrective step).
"""

from __future__ import annotations

import time

import numpy as np

from argrank._types import Floats
from argrank.solvers import block_qp
from argrank.solvers.meter import Best, Meter
from argrank.solvers.problem import Problem, Result, Stop, random_state, restore_random

REPEATS = 10  # rounds over the known planes after every pass


class _Mixture(block_qp.QueryPlanes):
    """One query's planes and their positive weights."""

    @property
    def height(self) -> float:
        return float(self.weights @ self.offsets)

    def step(self, w: Floats, C: float, towards: int | None = None) -> Floats:
        """Move weight from the lowest plane to the highest (or the given) one; return the model's new weights."""
        heights = self.gradients @ w + self.offsets
        high = int(np.argmax(heights)) if towards is None else towards
        low = int(np.argmin(np.where(self.weights > 0, heights, np.inf)))
        gain = heights[high] - heights[low]
        if gain <= 0:
            return w
        difference = self.gradients[high] - self.gradients[low]
        square = C * float(difference @ difference)
        step = float(self.weights[low] if gain >= square * self.weights[low] else gain / square)
        self.weights[high] += step
        self.weights[low] -= step
        return np.asarray(w - C * step * difference)

    def forget_unused(self) -> None:
        used = self.weights > 0
        if not used.all():
            self.keep(used)


def minimise(problem: Problem) -> Result:
    """Minimise ``|w|² / (2C) + risk(w)`` until the gap is at most ``tol`` times the objective.

    Both the last weights and their average (weighted towards the end) are evaluated after every pass, by primal and by
    dual value, and the best of each is kept. A start cannot be used: it has no corresponding dual point.
    """
    risk, C = problem.risk, problem.C
    meter, best, random = Meter(problem), Best(problem), np.random.default_rng(problem.random_state)
    mixtures = [_Mixture(risk.n_features, float(share)) for share in risk.query_shares]
    w, mean_w, mean_height = np.zeros(risk.n_features), np.zeros(risk.n_features), 0.0
    reason: Stop | None = None
    bound, n_iter = 0.0, 0
    found = problem.resumed()
    if found is None:
        best.look(w)
    else:
        w, mean_w, mean_height = found["w"], found["mean_w"], found["mean_height"]
        bound, n_iter = found["bound"], found["n_iter"]
        block_qp.restore(mixtures, found)
        best.restore(found["best"])
        meter.restore(found["meter"])
        restore_random(random, found["random"])
    try:
        while not reason:
            for q in random.permutation(risk.n_queries):
                _, gradient, offset = risk.query(q, w)
                mixtures[q].add(gradient, offset)
                w = mixtures[q].step(w, C, towards=-1)
            begin = time.perf_counter()
            if block_qp.helps(risk.n_features, n_iter):
                block_qp.reweigh(mixtures, C, 0.1 * max(meter.enough(best.objective, bound), best.objective - bound))
            else:
                for _ in range(REPEATS):
                    for q in random.permutation(risk.n_queries):
                        w = mixtures[q].step(w, C)
            for mixture in mixtures:
                mixture.forget_unused()
            w = -C * np.sum([mixture.weights @ mixture.gradients for mixture in mixtures], axis=0)
            height = sum(mixture.height for mixture in mixtures)
            meter.master_seconds += time.perf_counter() - begin
            n_iter += 1
            share = 2.0 / (n_iter + 1)
            mean_w, mean_height = mean_w + share * (w - mean_w), mean_height + share * (height - mean_height)
            for weights, dual in ((w, height), (mean_w, mean_height)):
                bound = max(bound, dual - float(weights @ weights) / (2 * C))
                best.look(weights)
            n_planes = sum(len(mixture.offsets) for mixture in mixtures)
            reason = meter.stop(best.w, best.objective, bound, n_constraints=n_planes)
            if not reason:
                planes = block_qp.state_of(mixtures)
                kept = {"w": w, "mean_w": mean_w, "mean_height": mean_height, "bound": bound, "n_iter": n_iter}
                problem.offer(**kept, **planes, best=best.state(), meter=meter.state(), random=random_state(random))
    except KeyboardInterrupt:
        reason = Stop.INTERRUPTED
    return meter.proven(best, bound, n_iter, reason)
