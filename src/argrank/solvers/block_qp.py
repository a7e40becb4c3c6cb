"""The dual of all queries at once: the weights of all known planes are optimised together.

    maximise  offsets · a - C |gradients' a|² / 2   over  a >= 0, the weights of each query adding up to its share

Going query by query is cheaper on wide data, but slow if the queries share a few features and C is large: each undoes
what the last one did. This is an interior-point method (Mehrotra's predictor and corrector) on the whole problem. A
step costs a Cholesky factor of features x features and products with the planes, but no pass over the data. Its result
is always feasible, so its value is a true lower bound of the primal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from argrank._blas import single_threaded_blas
from argrank._types import Floats, Integers

FEW_FEATURES = 64  # up to here a step costs almost nothing
MOST_FEATURES = 500  # with more of them the systems cost more than they save
PATIENCE = 40  # passes query by query before that: most problems need fewer, and each is several times cheaper
MOST_STEPS = 40
BACK_OFF = 0.995  # share of the way to where the first weight or slack would be 0
UNUSED = 1e-9  # a weight below this part of its query's share is only the method's distance from 0


def helps(n_features: int, n_passes: int) -> bool:
    """Return whether to optimise the planes of all queries together after this many passes query by query."""
    return n_features <= (MOST_FEATURES if n_passes >= PATIENCE else FEW_FEATURES)


class QueryPlanes:
    """One query's planes, gradient · w + offset, and their weights, which add up to its share.

    The first plane is the constant 0.
    """

    kept: ClassVar[tuple[str, ...]] = ("gradients", "offsets", "weights")

    def __init__(self, n_features: int, share: float) -> None:
        self.share = share
        self.gradients, self.offsets, self.weights = np.zeros((1, n_features)), np.zeros(1), np.full(1, share)

    def add(self, gradient: Floats, offset: float) -> None:
        """Add the plane ``gradient @ w + offset`` with weight 0."""
        self.gradients = np.vstack([self.gradients, gradient])
        self.offsets, self.weights = np.append(self.offsets, offset), np.append(self.weights, 0.0)

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Keep some planes."""
        self.gradients, self.offsets, self.weights = self.gradients[kept], self.offsets[kept], self.weights[kept]


def state_of(queries: Sequence[QueryPlanes]) -> dict[str, list[Floats]]:
    """Return a copy of the planes of all queries; steps may change weights in place."""
    kept: dict[str, list[Floats]] = {name: [getattr(one, name) for one in queries] for name in queries[0].kept}
    return kept | {"weights": [weights.copy() for weights in kept["weights"]]}


def restore(queries: Sequence[QueryPlanes], state: Mapping[str, Any]) -> None:
    """Restore a state."""
    for name in queries[0].kept:
        for planes, values in zip(queries, state[name], strict=True):
            setattr(planes, name, values)


def reweigh(queries: Sequence[QueryPlanes], C: float, tolerance: float) -> None:
    """Set the weights of all queries to ones whose dual value is at most ``tolerance`` below the greatest.

    Weights that are already better are kept.
    """
    queries = [planes for planes in queries if planes.weights.any()]
    if not queries:
        return
    gradients = np.concatenate([planes.gradients for planes in queries])
    offsets = np.concatenate([planes.offsets for planes in queries])
    before = np.concatenate([planes.weights for planes in queries])
    starts = np.cumsum([0, *(len(planes.offsets) for planes in queries)])
    with single_threaded_blas():
        after = solve(gradients, offsets, starts, np.add.reduceat(before, starts[:-1]), C, tolerance)
        if _dual(gradients, offsets, C, after) <= _dual(gradients, offsets, C, before):
            return
    for planes, begin, end in zip(queries, starts[:-1], starts[1:], strict=True):
        planes.weights = after[begin:end].copy()


def _dual(gradients: Floats, offsets: Floats, C: float, a: Floats) -> float:
    pull = a @ gradients
    return float(a @ offsets - 0.5 * C * (pull @ pull))


def solve(gradients: Floats, offsets: Floats, starts: Integers, shares: Floats, C: float, tolerance: float) -> Floats:
    """Return feasible weights; the planes of query q are those from ``starts[q]`` to before ``starts[q + 1]``."""
    first, query = starts[:-1], np.repeat(np.arange(len(shares)), np.diff(starts))
    a = (shares / np.diff(starts))[query]
    w = -C * (a @ gradients)
    heights = gradients @ w + offsets
    highest = np.maximum.reduceat(heights, first)
    slack = highest + (tolerance + float(shares @ highest - a @ heights)) / shares.sum()
    z = slack[query] - heights
    for _ in range(MOST_STEPS):
        if float(a @ z) <= 0.1 * tolerance:
            break
        try:
            newton = _Newton(gradients, first, query, C, w, a, z)
        except np.linalg.LinAlgError:  # rounding, very near the optimum
            break
        _, _, dz, da = newton.direction(np.zeros(len(a)))
        mean = float(a @ z) / len(a)
        after = float((a + _room(a, da) * da) @ (z + _room(z, dz) * dz)) / len(a)
        dw, dslack, dz, da = newton.direction(mean * (after / mean) ** 3 - da * dz)
        step, dual_step = BACK_OFF * _room(z, dz), BACK_OFF * _room(a, da)
        w, slack = w + step * dw, slack + step * dslack
        z = slack[query] - gradients @ w - offsets
        if not (z > 0).all():  # by rounding
            break
        a = a + dual_step * da
    a = np.where(a > UNUSED * shares[query], a, 0.0)
    a *= (shares / np.add.reduceat(a, first))[query]
    return a


class _Newton:
    """Newton's system at a point: weights a, distances z of the planes below their query's slack, and w.

    The changes of a, z and slack are eliminated, which leaves a positive definite system in w.
    """

    def __init__(
        self, gradients: Floats, first: Integers, query: Integers, C: float, w: Floats, a: Floats, z: Floats
    ) -> None:
        self.gradients, self.first, self.query, self.a, self.z = gradients, first, query, a, z
        self.curve = a / z
        curved = self.curve[:, None] * gradients
        self.sums = np.add.reduceat(self.curve, first)
        self.pulls = np.add.reduceat(curved, first, axis=0)
        self.lag = -w / C - a @ gradients
        system = np.eye(len(w)) / C + gradients.T @ curved - self.pulls.T @ (self.pulls / self.sums[:, None])
        self.inverse = np.linalg.inv(np.linalg.cholesky(system))

    def direction(self, products: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the changes of w, slack, z and a that would make a * z the given products."""
        change = products / self.z - self.a
        excess = np.add.reduceat(change, self.first)
        right = self.lag - change @ self.gradients + (excess / self.sums) @ self.pulls
        dw = self.inverse.T @ (self.inverse @ right)
        dslack = (excess + self.pulls @ dw) / self.sums
        dz = dslack[self.query] - self.gradients @ dw
        return dw, dslack, dz, change - self.curve * dz


def _room(values: Floats, change: Floats) -> float:
    """Return the largest step, at most 1, before a value reaches 0."""
    falls = change < 0
    return min(1.0, float((-values[falls] / change[falls]).min(initial=1.0)))
