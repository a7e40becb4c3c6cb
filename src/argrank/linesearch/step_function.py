"""A step function: from the changes of all queries to values on intervals, and which interval is best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BETTER = 1e-12  # another interval is better only by more than this; prevents going round in circles
NARROW = 1e-9  # an interval of less than this share of |t| is no place to stand
SAME_POINT = 4.0 * float(np.finfo(float).eps)  # a crossing's time has three roundings: copies of one are this close


class StepFunction(NamedTuple):
    """The values between breakpoints: ``values[i]`` from ``breakpoints[i - 1]`` to ``breakpoints[i]``."""

    breakpoints: Floats
    values: Floats

    @classmethod
    def of(cls, start: float, times: Floats, deltas: Floats) -> StepFunction:
        """Add up changes from the left, where the value is ``start``; changes at one point become one."""
        order = np.argsort(times)
        times = times[order]
        points = last_of_point(times)
        return cls(times[points], np.concatenate(([start], start + running_sums(deltas[order])[points])))

    def edges(self, low: float, high: float) -> tuple[Floats, Floats]:
        """Return the left and the right ends of the intervals of a window."""
        return np.concatenate(([low], self.breakpoints)), np.concatenate((self.breakpoints, [high]))


def last_of_point(times: Floats) -> NDArray[np.intp]:
    """Return the places of the last of equal times in sorted ones; rounded copies of one crossing count as equal."""
    if len(times) == 0:
        return np.empty(0, np.intp)
    apart = np.diff(times) > SAME_POINT * np.abs(times[1:])
    return np.append(np.flatnonzero(apart), len(times) - 1)


def running_sums(terms: Floats) -> Floats:
    """Return running sums that are exact but for their last rounding, in fixed point with a small remainder."""
    greatest = float(np.abs(terms).max(initial=0.0))
    if greatest == 0.0:
        return np.zeros(len(terms))
    bits = 61 - int(np.ceil(np.log2(len(terms) + 1)))
    unit = 2.0 ** (np.frexp(greatest)[1] - bits)
    whole = np.rint(terms / unit)
    sums: Floats = np.cumsum(whole.astype(np.int64)).astype(np.float64) * unit
    sums += np.cumsum(terms - whole * unit)
    return sums


def rank_intervals(
    steps: StepFunction, low: float, high: float, unit: float, prefer: str, limit: int
) -> list[tuple[int, float, float]]:
    """Return the best intervals (number, left end, right end), the most wanted first.

    Of equal values the widest comes first, or the one nearest to 0. An unbounded interval is cut ``unit`` from its
    finite end: far out nothing changes any more and rounding has the last word.
    """
    left, right = steps.edges(low, high)
    left = np.where(np.isinf(left), np.minimum(right, 0.0) - unit, left)
    right = np.where(np.isinf(right), np.maximum(left, 0.0) + unit, right)
    width = right - left
    far = np.maximum(np.abs(left), np.abs(right))
    standing = np.flatnonzero(width > NARROW * (min(1.0, unit) + far))
    if len(standing) == 0:
        return []
    values = steps.values[standing]
    if len(standing) > limit:
        least = np.partition(values, -limit)[-limit]
        standing = standing[values >= least - BETTER]
    best = float(values.max())
    distance = np.maximum(np.maximum(left, -right), 0.0)[standing]
    wish = -width[standing] if prefer == "widest" else distance
    level = np.floor((best - steps.values[standing]) / BETTER)
    order = np.lexsort((wish, level))[:limit]
    return [(int(i), float(left[i]), float(right[i])) for i in standing[order]]
