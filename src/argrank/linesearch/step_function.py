"""A step function: from the changes of all queries to values on intervals, and which interval is best."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._jit import kernel, read_only
from argrank._types import Floats, Integers

BETTER = 1e-12  # another interval is better only by more than this; prevents going round in circles
NARROW = 1e-9  # an interval of less than this share of |t| is too narrow to stop in
SAME_POINT = 4.0 * float(np.finfo(float).eps)  # a crossing's time has three roundings: copies of one are this close


class StepFunction(NamedTuple):
    """The values between breakpoints: ``values[i]`` from ``breakpoints[i - 1]`` to ``breakpoints[i]``."""

    breakpoints: Floats
    values: Floats

    @classmethod
    def of(cls, start: float, times: Floats, deltas: Floats) -> StepFunction:
        """Add up changes from the left, where the value is ``start``; changes at one point become one."""
        breakpoints, values = np.empty(len(times)), np.empty(len(times) + 1)
        count = int(add_up(times, deltas, _rough_order(times), start, SAME_POINT, breakpoints, values))
        if count < 0:
            order = np.argsort(times, kind="stable")
            count = int(add_up(times, deltas, order, start, SAME_POINT, breakpoints, values))
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


def _rough_order(times: Floats) -> Integers:
    """Return the order of times; those that differ only in the last bits may be in any order.

    One sort of whole numbers, each a time's leading bits and its place, takes a third of the time of ``np.argsort``.
    """
    place_bits = len(times).bit_length()
    keys = np.empty(len(times), np.int64)
    pack(times.view(np.int64), place_bits, keys)
    keys.sort()
    keys &= (1 << place_bits) - 1
    return keys


def _pack_signature(types: Any) -> Any:
    return types.void(read_only(types, "int64"), types.int64, types.int64[::1])


@kernel(_pack_signature)
def pack(bits: Integers, place_bits: int, keys: Integers) -> None:
    """Fill numbers that are in order as the floats of these bits are, their last bits the place of the float."""
    for e in range(len(bits)):
        ordered = bits[e] ^ ((bits[e] >> 63) & 0x7FFFFFFFFFFFFFFF)  # of negative floats the greater magnitude is less
        keys[e] = ((ordered >> place_bits) << place_bits) | e


def _add_up_signature(types: Any) -> Any:
    read, write = read_only(types), types.float64[::1]
    return types.int64(read, read, read_only(types, "int64"), types.float64, types.float64, write, write)


@kernel(_add_up_signature)
def add_up(
    times: Floats, deltas: Floats, order: Integers, start: float, same: float, breakpoints: Floats, values: Floats
) -> int:
    """Fill breakpoints and the values before, between and after them; return the number of breakpoints.

    The order may be rough: it is put right by insertion, unless that takes many moves, as with rounded features, whose
    times lie together in great numbers and differ in the last bits; then -1 is returned. Sums carry what rounding takes
    from them (Neumaier), so that after millions of changes the last digits are right.
    """
    n = len(order)
    moves = 4 * n + 65536
    for e in range(n):
        time, delta = times[order[e]], deltas[order[e]]
        place = e
        while place > 0 and breakpoints[place - 1] > time:
            breakpoints[place], values[place + 1] = breakpoints[place - 1], values[place]
            place -= 1
        moves -= e - place
        if moves < 0:
            return -1
        breakpoints[place], values[place + 1] = time, delta
    values[0] = start
    total, lost, count = start, 0.0, 0
    for e in range(n):
        time, delta = breakpoints[e], values[e + 1]
        added = total + delta
        lost += (total - added) + delta if abs(total) >= abs(delta) else (delta - added) + total
        total = added
        last = e + 1 == n or breakpoints[e + 1] - time > same * abs(breakpoints[e + 1])
        breakpoints[count], values[count + 1] = time + 0.0, total + lost  # never -0
        count += 1 if last else 0
    return count


def rank_intervals(
    steps: StepFunction, low: float, high: float, unit: float, prefer: str, limit: int, floor: float = -np.inf
) -> list[tuple[int, float, float]]:
    """Return the best intervals above ``floor`` (number, left end, right end), the most wanted first.

    Of equal values the widest comes first, or the one nearest to 0. An unbounded interval is cut ``unit`` from its
    finite end: far out nothing changes any more except by rounding.
    """
    some = np.flatnonzero(steps.values > floor)
    left, right = steps.edges(some, low, high)
    left = np.where(np.isinf(left), np.minimum(right, 0.0) - unit, left)
    right = np.where(np.isinf(right), np.maximum(left, 0.0) + unit, right)
    far = np.maximum(np.abs(left), np.abs(right))
    standing = right - left > NARROW * (min(1.0, unit) + far)
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
