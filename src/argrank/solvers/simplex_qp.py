"""The master problem of the cutting-plane solvers: a small concave quadratic over the simplex.

    maximise  offsets · a - a' H a / 2   over  a >= 0, sum a = total

by sequential minimal optimisation: move weight from the plane to the plane that gains most, exactly, until no move
gains more than the tolerance. It needs no factorisation, so linearly dependent planes do no harm, and every iterate
is feasible, so its value is a true lower bound of the primal. It is compiled, since it makes thousands of moves of a
few hundred operations each: in plain NumPy the master problem took longer than the passes over the data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._jit import kernel, read_only

Floats = NDArray[np.float64]

MOST_MOVES = 1_000_000


@kernel(
    lambda types: types.int64(
        types.Array(types.float64, 2, "C", readonly=True),
        read_only(types),
        types.float64,
        types.float64,
        types.int64,
        types.float64[::1],
    )
)
def _improve(H: Any, offsets: Any, total: Any, tolerance: Any, most: Any, a: Any) -> Any:
    n = len(offsets)
    slope = offsets - H @ a
    for move in range(most):
        best = 0
        mean = 0.0
        for i in range(n):
            mean += a[i] * slope[i]
            if slope[i] > slope[best]:
                best = i
        if total * slope[best] - mean <= tolerance:
            return move
        source, gain, step = -1, 0.0, 0.0
        for j in range(n):
            difference = slope[best] - slope[j]
            if a[j] > 0.0 and difference > 0.0:
                curve = H[best, best] + H[j, j] - 2.0 * H[best, j]
                length = a[j]
                if curve * length > difference:
                    length = difference / curve
                here = length * (difference - 0.5 * curve * length)
                if here > gain:
                    source, gain, step = j, here, length
        if source < 0:
            return move
        if step >= a[source]:
            step = a[source]
            a[source] = 0.0
        else:
            a[source] -= step
        a[best] += step
        for i in range(n):
            slope[i] -= step * (H[i, best] - H[i, source])
    return most


def solve(H: Floats, offsets: Floats, a: Floats, tolerance: float, total: float = 1.0) -> Floats:
    """Return the maximiser to within ``tolerance`` in value, started from the feasible point ``a``."""
    a = a.copy()
    _improve(np.ascontiguousarray(H), offsets, total, tolerance, MOST_MOVES, a)
    return a
