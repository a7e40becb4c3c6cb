"""A step function: values on intervals from the changes of all queries, and the best interval."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._jit import kernel
from argrank._types import Filled, Floats, Integers

BETTER = 1e-12  # another interval must be better by more than this; prevents cycling
NARROW = 1e-9  # an interval of less than this share of |t| is too narrow to stop in
FARTHER = 1e-6  # an unbounded interval is cut no nearer than this share of |t| from its end
CANCELLED = 1e-14  # relative size below which the sum of a point's changes is rounding
SAME_POINT = 4.0 * float(np.finfo(float).eps)  # a crossing's time is rounded three times: equal ones are this close


class StepFunction(NamedTuple):
    """The values between breakpoints: ``values[i]`` from ``breakpoints[i - 1]`` to ``breakpoints[i]``."""

    breakpoints: Floats
    values: Floats

    @classmethod
    def of(cls, start: float, times: Floats, deltas: Floats) -> StepFunction:
        """Add up changes from the left, where the value is ``start``; changes at one point become one."""
        (ordered, order), values = in_order(times), np.empty(len(times) + 1)
        breakpoints = np.empty(len(times)) if ordered is times else ordered  # never overwrites what is read next
        count = int(add_up(ordered, order, deltas, start, SAME_POINT, breakpoints, values))
        return cls(breakpoints[:count], values[: count + 1])

    def edges(self, numbers: NDArray[np.intp], low: float, high: float) -> tuple[Floats, Floats]:
        """Return the left and the right ends of some intervals of a window."""
        last = len(self.breakpoints)
        if last == 0:
            return np.full(len(numbers), low), np.full(len(numbers), high)
        left = np.where(numbers > 0, self.breakpoints[np.maximum(numbers - 1, 0)], low)
        return left, np.where(numbers < last, self.breakpoints[np.minimum(numbers, last - 1)], high)


def last_of_point(times: Floats) -> NDArray[np.intp]:
    """Return the places of the last of equal times in sorted ones; rounded copies of one crossing count as equal."""
    if len(times) == 0:
        return np.empty(0, np.intp)
    apart = np.diff(times) > SAME_POINT * np.abs(times[1:])
    return np.append(np.flatnonzero(apart), len(times) - 1)


def in_order(times: Floats) -> tuple[Floats, Integers]:
    """Return times in their order, and the place that each had.

    Sorting integers made from a time's leading bits and its place takes a third of the time of ``np.argsort``; times
    that differ only in the last bits are corrected afterwards.
    """
    if bool((times[1:] >= times[:-1]).all()):
        return times, np.arange(len(times))
    place_bits = len(times).bit_length()
    order = np.empty(len(times), np.int64)
    pack(times.view(np.int64), place_bits, order)
    order.sort()
    order &= (1 << place_bits) - 1
    ordered = times[order]
    if not put_right(ordered, order):
        order = np.argsort(times, kind="stable")
        ordered = times[order]
    return ordered, order


@kernel()
def pack(bits: Integers, place_bits: int, keys: Filled[np.int64]) -> None:
    """Fill numbers that are in order as the floats of these bits are, their last bits the place of the float."""
    for e in range(len(bits)):
        ordered = bits[e] ^ ((bits[e] >> 63) & 0x7FFFFFFFFFFFFFFF)  # of negative floats the greater magnitude is less
        keys[e] = ((ordered >> place_bits) << place_bits) | e


@kernel()
def put_right(ordered: Filled[np.float64], order: Filled[np.int64]) -> bool:
    """Put times in a rough order right by insertion, and their places with them; False where that takes many moves.

    This happens with rounded features, where many times differ only in the last bits.
    """
    moves = 4 * len(order) + 65536
    for e in range(1, len(order)):
        time, own = ordered[e], order[e]
        place = e
        while place > 0 and ordered[place - 1] > time:
            ordered[place], order[place] = ordered[place - 1], order[place - 1]
            place -= 1
        ordered[place], order[place] = time, own
        moves -= e - place
        if moves < 0:
            return False
    return True


@kernel()
def add_up(
    ordered: Floats,
    order: Integers,
    deltas: Floats,
    start: float,
    same: float,
    breakpoints: Filled[np.float64],
    values: Filled[np.float64],
) -> int:
    """Fill breakpoints and the values before, between and after them; return the number of breakpoints.

    The change at time ``ordered[e]`` is ``deltas[order[e]]``. A point whose changes cancel is not a breakpoint. Sums
    are compensated (Neumaier), so that they stay accurate after millions of changes.
    """
    values[0] = start
    total, lost, count, n = start, 0.0, 0, len(order)
    change, size = 0.0, 0.0  # of the point so far
    for e in range(n):
        time, delta = ordered[e], deltas[order[e]]
        added = total + delta
        lost += (total - added) + delta if abs(total) >= abs(delta) else (delta - added) + total
        total = added
        change, size = change + delta, size + abs(delta)
        if e + 1 < n and ordered[e + 1] - time <= same * abs(ordered[e + 1]):
            continue
        breakpoints[count], values[count + 1] = time + 0.0, total + lost  # never -0
        count += 1 if abs(change) > CANCELLED * size else 0
        change, size = 0.0, 0.0
    return count


def rank_intervals(
    steps: StepFunction, low: float, high: float, unit: float, prefer: str, limit: int, floor: float = -np.inf
) -> list[tuple[int, float, float]]:
    """Return the best intervals above ``floor`` (number, left end, right end), the preferred one first.

    Of equal values the widest comes first, or the one nearest to 0. An unbounded interval is cut: far out only rounding
    changes anything.
    """
    some = np.flatnonzero(steps.values > floor)
    left, right = steps.edges(some, low, high)
    left, right = bounded(left, right, unit)
    far = np.maximum(np.abs(left), np.abs(right))
    standing = right - left > NARROW * far
    some, left, right = some[standing], left[standing], right[standing]
    if len(some) == 0:
        return []
    values = steps.values[some]
    level = np.floor((values.max() - values) / BETTER)
    wish = left - right if prefer == "widest" else np.maximum(np.maximum(left, -right), 0.0)
    if len(some) > limit:
        kept = np.flatnonzero(level <= np.partition(level, limit - 1)[limit - 1])
        some, left, right, level, wish = some[kept], left[kept], right[kept], level[kept], wish[kept]
    order = np.lexsort((wish, level))[:limit]
    return [(int(some[i]), float(left[i]), float(right[i])) for i in order]


def bounded(left: Floats, right: Floats, unit: float) -> tuple[Floats, Floats]:
    """Cut unbounded intervals ``unit`` from their finite end, or farther if this is negligible relative to the end."""
    far = np.maximum(unit, FARTHER * np.where(np.isinf(right), 0.0, np.abs(right)))
    left = np.where(np.isinf(left), np.minimum(right, 0.0) - far, left)
    return left, np.where(np.isinf(right), np.maximum(left, 0.0) + np.maximum(unit, FARTHER * np.abs(left)), right)
