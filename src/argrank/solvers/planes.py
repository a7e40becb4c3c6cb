"""The planes below a risk, and the minimum of planes and squared regulariser: the bundle method's master problem.

    minimise  |v|² / (2C) + max over the planes of (gradient · v + offset)   over  low <= v <= high

By duality it is the greatest value, over weights a of the planes (a >= 0, sum a = 1), of a concave function of a; every
a gives a true lower bound of the minimum. For any penalty that falls apart by feature, with z = the mixture of the
gradients,

    D(a) = offsets · a + sum over the features of the least of (penalty(v) + z v) over low <= v <= high

is that function. With a quadratic penalty D is smooth, and quadratic as long as no feature reaches a limit or a kink.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._jit import kernel
from argrank._types import Filled, Floats, Matrix
from argrank.solvers.problem import Problem, Risk, Scores
from argrank.solvers.regularisers import Regulariser

IDLE_ROUNDS = 20  # a plane without weight for this many rounds is dropped
NEWTON_STEPS = 50
HALVINGS = 40


class Point(NamedTuple):
    """Weights, their scores, and risk and gradient there."""

    w: Floats
    scores: Scores
    value: float
    u: Scores
    objective: float


def look(problem: Problem, w: Floats, scores: Scores) -> Point:
    """Evaluate weights with known scores; they are clipped to the limits, which they exceed only by rounding."""
    value, u = problem.risk.at_scores(scores)
    w = problem.regulariser.project(w)
    return Point(w, scores, value, u, value + problem.penalty(w))


class Planes:
    """Planes gradient · v + offset below the risk, with their dual weights; the first is the constant 0 and stays."""

    _kept: tuple[str, ...] = ("gradients", "offsets", "weights", "_idle")

    def __init__(self, n_features: int, C: float, regulariser: Regulariser) -> None:
        self.C, self.regulariser = C, regulariser
        self.gradients, self.offsets = np.zeros((1, n_features)), np.zeros(1)
        self.weights, self._idle = np.ones(1), np.zeros(1, int)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def state(self) -> dict[str, Any]:
        """Return the state of the planes."""
        return {name: getattr(self, name) for name in self._kept}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state."""
        for name in self._kept:
            setattr(self, name, state[name])

    def cut(self, risk: Risk, point: Point) -> None:
        """Add the plane that touches the risk at a point."""
        gradient = risk.pull_back(point.u)
        self.add(gradient, point.value - float(gradient @ point.w))

    def add(self, gradient: Floats, offset: float) -> None:
        """Add the plane ``gradient @ w + offset`` with weight 0."""
        self.gradients, self.offsets = np.vstack([self.gradients, gradient]), np.append(self.offsets, offset)
        self.weights, self._idle = np.append(self.weights, 0.0), np.append(self._idle, 0)

    def tilt(self, gradient: Floats, offset: float) -> None:
        """Add a linear function to the risk, and so to every plane but the constant 0."""
        moved = np.ones((len(self.offsets), 1))
        moved[0] = 0.0
        self.gradients, self.offsets = self.gradients + moved * gradient, self.offsets + moved[:, 0] * offset

    def drop_idle(self, used: NDArray[np.bool_]) -> None:
        """Drop the planes that have not been used for long."""
        self._idle = np.where(used, 0, self._idle + 1)
        kept = self._idle <= IDLE_ROUNDS
        kept[0] = True
        if not kept.all():
            self.keep(kept)

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Keep some planes."""
        self.gradients, self.offsets = self.gradients[kept], self.offsets[kept]
        self.weights, self._idle = self.weights[kept], self._idle[kept]


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
        """Tell which features of a minimiser are neither at a kink nor at a limit."""
        free = (v > self.low) & (v < self.high)
        return free & (v != 0.0) if self.shrink > 0.0 else free


class SquaredPlanes(Planes):
    """With |v|² / (2C) and limits on v."""

    def minimise(self, tolerance: float) -> tuple[Floats, float]:
        """Return the minimiser of planes and regulariser together, and a lower bound of that minimum."""
        inner = Inner(self.regulariser, np.zeros(self.gradients.shape[1]), self.C)
        self.weights = best_mixture(self.gradients, self.offsets, self.weights, inner, tolerance)
        z = self.weights @ self.gradients
        target = inner.best(z)
        bound = float(self.offsets @ self.weights + target @ z) + self.regulariser.value(target) / self.C
        self.drop_idle(self.weights > 0)
        return target, bound


class FreePlanes(SquaredPlanes):
    """With |v|² / (2C) and no limits: one quadratic over the simplex, whose matrix grows with the planes."""

    _kept = (*Planes._kept, "_gram")

    def __init__(self, n_features: int, C: float, regulariser: Regulariser) -> None:
        super().__init__(n_features, C, regulariser)
        self._gram = np.zeros((1, 1))  # of the gradients, times C

    def add(self, gradient: Floats, offset: float) -> None:
        """Add a plane, and its products with the gradients of the others."""
        row = self.C * (self.gradients @ gradient)
        corner = np.full((1, 1), self.C * float(gradient @ gradient))
        self._gram = np.block([[self._gram, row[:, None]], [row[None, :], corner]])
        super().add(gradient, offset)

    def tilt(self, gradient: Floats, offset: float) -> None:
        """Add a linear function to the risk, and so to every plane but the constant 0."""
        super().tilt(gradient, offset)
        self._gram = self.C * (self.gradients @ self.gradients.T)

    def minimise(self, tolerance: float) -> tuple[Floats, float]:
        """Return the minimiser of planes and regulariser together, and a lower bound of that minimum."""
        self.weights = solve_simplex(self._gram, self.offsets, self.weights, tolerance)
        bound = float(self.offsets @ self.weights - 0.5 * self.weights @ self._gram @ self.weights)
        self.drop_idle(self.weights > 0)
        return -self.C * (self.weights @ self.gradients), bound

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Keep some planes."""
        super().keep(kept)
        self._gram = self._gram[np.ix_(kept, kept)]


def planes_for(problem: Problem) -> SquaredPlanes:
    """Return the planes of a problem, initially only the constant 0."""
    kind = FreePlanes if problem.regulariser.is_free else SquaredPlanes
    return kind(problem.risk.n_features, problem.C, problem.regulariser)


def best_mixture(gradients: Floats, offsets: Floats, a: Floats, inner: Inner, tolerance: float) -> Floats:
    """Maximise D from the weights a until no plane rises more than ``tolerance`` above the mixture.

    The quadratic of the features that move is maximised over the simplex, and a line search towards it finds the
    maximum of D itself.
    """
    for _ in range(NEWTON_STEPS):
        v = inner.best(a @ gradients)
        heights = offsets + gradients @ v
        if float(heights.max() - a @ heights) <= tolerance:
            break
        moving = gradients[:, inner.moves(v)]
        gram = inner.reach * (moving @ moving.T)
        along = solve_simplex(gram, heights + gram @ a, a, 0.1 * tolerance) - a
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


MOVES = 500  # moves between two solutions of the whole face
ROUNDS = 200  # of moves and such solutions
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


def solve_simplex(H: Floats, offsets: Floats, a: Floats, tolerance: float, total: float = 1.0) -> Floats:
    """Maximise ``offsets · a - a' H a / 2`` over a >= 0, sum a = total, to within ``tolerance``, from a feasible point.

    By sequential minimal optimisation: move weight between the two planes that gain most, exactly, until no move gains
    more than the tolerance. With many active planes such moves are slow (millions of them at C = 10,000), so after some
    hundreds the best point of the current face is found by one linear system. Linearly dependent planes are harmless,
    and every iterate is feasible, so its value is a true lower bound of the primal. The moves are compiled: in plain
    NumPy they took longer than the passes over the data.
    """
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
