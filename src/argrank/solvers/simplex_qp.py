"""The master problem of the cutting-plane solvers: a small concave quadratic over the simplex.

    maximise  offsets · a - a' H a / 2   over  a >= 0, sum a = total

by sequential minimal optimisation: move weight between the two planes that gain most, exactly, until no move gains more
than the tolerance. With many active planes such moves are slow (millions of them at C = 10,000), so after some hundreds
the best point of the current face is found by one linear system. Linearly dependent planes are harmless, and every
iterate is feasible, so its value is a true lower bound of the primal. The moves are compiled: in plain NumPy they took
longer than the passes over the data.
"""

from __future__ import annotations

import numpy as np

from argrank._jit import kernel
from argrank._types import Filled, Floats, Matrix

MOVES = 500  # moves between two solutions of the whole face
ROUNDS = 200
RIDGE = 1e-12  # ridge for planes of length 1, for faces that are flat in some direction


@kernel()
def _improve(
    H: Matrix[np.float64], offsets: Floats, total: float, tolerance: float, most: int, a: Filled[np.float64]
) -> int:
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
    a, H = a.copy(), np.ascontiguousarray(H)
    for _ in range(ROUNDS):
        if _improve(H, offsets, total, tolerance, MOVES, a) < MOVES:
            break
        while _climb(H, offsets, a):
            pass
    return a


def _climb(H: Floats, offsets: Floats, a: Floats) -> bool:
    """Go to the best point among mixtures of the planes in use; return whether a plane's weight became 0 on the way.

    The heaviest plane compensates the changes of the others, so that the sum of the weights is constant.
    """
    used = np.flatnonzero(a > 0.0)
    heaviest = int(np.argmax(a[used]))
    pivot, others = used[heaviest], np.delete(used, heaviest)
    if len(others) == 0:
        return False
    slope = offsets - H @ a
    rise = slope[others] - slope[pivot]
    curve = H[np.ix_(others, others)] - H[others, pivot][:, None] - H[pivot, others][None, :] + H[pivot, pivot]
    length = np.sqrt(np.maximum(curve.diagonal(), 0.0))
    length[length == 0.0] = 1.0
    even = curve / length[:, None] / length[None, :]  # planes may have very different lengths
    change = np.linalg.solve(even + RIDGE * np.eye(len(others)), rise / length) / length
    gain, bend = float(rise @ change), float(change @ curve @ change)
    if not np.isfinite(change).all() or gain <= 0.0:
        return False
    along = np.append(change, -change.sum())
    moved = np.append(others, pivot)
    falls = along < 0.0
    room = np.full(len(moved), np.inf)
    room[falls] = -a[moved[falls]] / along[falls]
    first = int(np.argmin(room))
    step = gain / bend if bend > 0.0 else np.inf
    if step < room[first]:
        a[moved] += step * along
        return False
    a[moved] = np.maximum(a[moved] + room[first] * along, 0.0)
    a[moved[first]] = 0.0
    return True
