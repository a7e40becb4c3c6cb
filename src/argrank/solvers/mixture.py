"""The best mixture of planes for a regulariser that falls apart by feature.

For weights a of the planes (a >= 0, sum a = 1) and z = their mixture of the gradients,

    D(a) = offsets · a + sum over the features of the least of (penalty(v) + z v) over low <= v <= high

is concave and at most the minimum of planes and penalty together, which its maximum reaches. With a quadratic penalty
D is smooth, and quadratic as long as no feature reaches a limit or a kink.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats
from argrank.solvers import simplex_qp
from argrank.solvers.regularisers import Regulariser

NEWTON_STEPS = 50
HALVINGS = 40


class Inner:
    """The least of ``|v - centre|² / (2 reach) + (shrink / reach) |v|₁ + z · v`` within a regulariser's limits."""

    def __init__(self, regulariser: Regulariser, centre: Floats, reach: float, shrink: float = 0.0) -> None:
        self.centre, self.reach, self.shrink = centre, reach, shrink
        self.low, self.high = regulariser.limits(len(centre))

    def best(self, z: Floats) -> Floats:
        """Return the minimiser for the slopes z: a step of ``reach`` from the centre, shrunk and kept in limits."""
        v = self.centre - self.reach * z
        if self.shrink > 0.0:
            v = v - np.clip(v, -self.shrink, self.shrink)
        return np.clip(v, self.low, self.high)

    def moves(self, v: Floats) -> NDArray[np.bool_]:
        """Tell which features of a minimiser are at no kink and no limit."""
        free = (v > self.low) & (v < self.high)
        return free & (v != 0.0) if self.shrink > 0.0 else free


def best_mixture(gradients: Floats, offsets: Floats, a: Floats, inner: Inner, tolerance: float) -> Floats:
    """Maximise D from the weights a until no plane rises more than ``tolerance`` above the mixture.

    The quadratic of the features that move is maximised over the simplex, and a search along the way there finds where
    D itself is greatest.
    """
    for _ in range(NEWTON_STEPS):
        v = inner.best(a @ gradients)
        heights = offsets + gradients @ v
        if float(heights.max() - a @ heights) <= tolerance:
            break
        moving = gradients[:, inner.moves(v)]
        gram = inner.reach * (moving @ moving.T)
        along = simplex_qp.solve(gram, heights + gram @ a, a, 0.1 * tolerance) - a
        step = _greatest(gradients, offsets, a, along, inner)
        if step == 0.0:
            break
        a = np.maximum(a + step * along, 0.0)
        a /= a.sum()
    return a


def _greatest(gradients: Floats, offsets: Floats, a: Floats, along: Floats, inner: Inner) -> float:
    """Return the step, at most 1, at which D along a direction is greatest: its slope only falls."""
    z, move, rise = a @ gradients, along @ gradients, float(along @ offsets)

    def slope(step: float) -> float:
        return rise + float(move @ inner.best(z + step * move))

    low, high = 0.0, 1.0
    if slope(high) >= 0.0:
        return high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) > 0.0 else (low, middle)
    return low
