"""The kinetic sweep: how a measure of the first k ranks changes along a line, found without sorting all documents.

The score of document i at step t is the line ``score_i + t * slope_i``. Sweeping t outwards from the origin, the
ranking of the first k changes only where two neighbours cross, or where the k-th meets a line from outside. One time is
kept for each of these k meetings; an event updates three of them (DirectRank, Algorithm 2, goes through all documents
instead and drops crossings of three or more lines in one point).

One rule makes this exact with ties, parallels and duplicates: only a lower line with a greater slope can cross upwards,
at the time of its crossing or, if rounding makes that earlier than now, now. Every pair crosses at most once, so the
sweep ends; crossings in one point are done one by one at the same time. Equal times from outside are taken by greater
slope, then greater score, then row, so that documents whose lines coincide keep the order of their rows.

Pruning: up to a time T, a line that is at T below all of the present first k cannot have crossed any of them, so k
lines stay above it and it can be ignored until T.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from argrank._jit import helper, kernel
from argrank._types import Filled, Floats, Integers

#: What a swap of neighbours is multiplied by: 1, the chance of getting there (ERR), one more than the hits above (AP).
ADDITIVE, CASCADE, PRECISION = 0, 1, 2

FULL = -1  # instead of a number of events


class Lines(NamedTuple):
    """The lines of a query: the first k in their present order, then the others in any order."""

    height: Any  # at 0
    slope: Any
    gain: Any
    row: Any


@kernel()
def sweep(
    scores: Floats,
    slopes: Floats,
    gains: Floats,
    weight: Floats,
    discounts: Floats,
    indptr: Integers,
    kind: int,
    low: float,
    high: float,
    starts: Filled[np.float64],
    times: Filled[np.float64],
    deltas: Filled[np.float64],
    state: Filled[np.int64],
) -> None:
    """Fill the value of every query just above ``low`` and the (time, change) of all its changes below ``high``.

    The value of a ranking is ``weight * sum over ranks p < k of discount_p * gain_p * factor_p``, where the factor is
    1 (ADDITIVE), the product of ``1 - gain`` above (CASCADE) or 1 plus the sum of the gains above (PRECISION); in all
    three a swap at p, p + 1 changes it by ``factor_p * (discount_p - discount_{p+1}) * (difference in gain)``.
    ``discounts`` has k + 1 entries, the last of them 0. The sweep runs from 0, or the end next to it, to both ends.
    ``state`` holds the query to continue with and the number of events so far; when ``times`` is full, the kernel
    returns before the query that did not fit.
    """
    depth, n_queries, widest = len(discounts) - 1, len(indptr) - 1, 1
    for query in range(n_queries):
        widest = max(widest, indptr[query + 1] - indptr[query])
    at_origin, begin = np.empty(widest), np.empty(widest, np.int64)
    lines = Lines(np.empty(widest), np.empty(widest), np.empty(widest), np.empty(widest, np.int64))
    meeting = np.empty(min(depth, widest))
    query, count = state[0], state[1]
    while query < n_queries:
        rows = slice(indptr[query], indptr[query + 1])
        starts[query] = 0.0
        if weight[query] != 0.0:
            after, starts[query] = sweep_query(
                scores[rows], slopes[rows], gains[rows], weight[query], discounts, kind, low, high, lines, meeting,
                at_origin, begin, times, deltas, count,
            )  # fmt: skip
            if after == FULL:
                break
            count = after
        query += 1
    state[0], state[1] = query, count


@helper
def sweep_query(
    scores: Any, slopes: Any, gains: Any, weight: float, discounts: Any, kind: int, low: float, high: float, lines: Any,
    meeting: Any, at_origin: Any, begin: Any, times: Any, deltas: Any, count: int,
) -> Any:  # fmt: skip
    """Write the changes of one query, to the right and then to the left of the origin.

    Returns the number of events so far or FULL, and the value just above ``low``.
    """
    n = len(scores)
    k, origin = min(len(discounts) - 1, n), min(max(0.0, low), high)
    base_right, base_left, swept, reusable = 0.0, 0.0, 0.0, False
    ranges = (np.inf, -np.inf, np.inf, -np.inf)
    for side in range(2):
        sign, stop = (1.0, high) if side == 0 else (-1.0, -low)
        if stop <= sign * origin:
            continue
        if side == 1 and reusable:  # without ties at the origin the left side begins as the right one did
            for i in range(n):
                j = begin[i]
                lines.height[i], lines.slope[i], lines.gain[i], lines.row[i] = scores[j], -slopes[j], gains[j], j
            ranges = (-ranges[1], -ranges[0], ranges[2], ranges[3])
        else:
            ranges, reusable = rank_at_origin(scores, slopes, gains, sign, sign * origin, k, at_origin, lines)
            for i in range(n):
                begin[i] = lines.row[i]
        value = weight * value_of_first(lines.gain, discounts, k, kind)
        before = count
        count = sweep_side(
            lines, n, k, sign, sign * origin, stop, ranges, weight, discounts, kind, meeting, times, deltas, count
        )
        if count == FULL:
            return FULL, 0.0
        if side == 0:
            base_right = value
        else:
            base_left = value
            for event in range(before, count):
                swept -= deltas[event]
    if low < origin < high and base_right != base_left:
        if count == len(times):
            return FULL, 0.0
        times[count], deltas[count] = origin, base_right - base_left
        count += 1
    return count, base_left + swept if low < origin else base_right


@helper
def rank_at_origin(
    scores: Any, slopes: Any, gains: Any, sign: float, now: float, k: int, at_origin: Any, lines: Any
) -> Any:
    """Fill in the first k lines at the origin, by insertion, the others behind them in any order.

    Returns the ranges of slopes and scores, and whether no other line has the height of one of the first k.
    """
    n = len(scores)
    height, slope, gain, row = lines.height, lines.slope, lines.gain, lines.row
    lowest_slope, highest_slope, lowest_score, highest_score = np.inf, -np.inf, np.inf, -np.inf
    for i in range(n):
        s, a = scores[i], sign * slopes[i]
        v = s + now * a
        lowest_slope, highest_slope = min(lowest_slope, a), max(highest_slope, a)
        lowest_score, highest_score = min(lowest_score, s), max(highest_score, s)
        p = i
        if i >= k and is_above(v, a, s, at_origin, lines, k - 1):
            p = k - 1
            at_origin[i], height[i], slope[i], gain[i], row[i] = at_origin[p], height[p], slope[p], gain[p], row[p]
        if p < k:
            while p > 0 and is_above(v, a, s, at_origin, lines, p - 1):
                q = p - 1
                at_origin[p], height[p], slope[p], gain[p], row[p] = at_origin[q], height[q], slope[q], gain[q], row[q]
                p = q
        at_origin[p], height[p], slope[p], gain[p], row[p] = v, s, a, gains[i], i
    untied = True
    for p in range(k - 1):
        untied = untied and at_origin[p] != at_origin[p + 1]
    for j in range(k, n):
        untied = untied and at_origin[j] != at_origin[k - 1]
    return (lowest_slope, highest_slope, lowest_score, highest_score), untied


@helper
def is_above(v: float, a: float, s: float, at_origin: Any, lines: Any, p: int) -> Any:
    """Return whether a line is above the p-th just past the origin: by height there, slope, then height at 0."""
    return v > at_origin[p] or (
        v == at_origin[p] and (a > lines.slope[p] or (a == lines.slope[p] and s > lines.height[p]))
    )


@helper
def value_of_first(gain: Any, discounts: Any, k: int, kind: int) -> float:
    """Return the measure of a ranking, up to the query's weight."""
    value, factor = 0.0, 1.0
    for p in range(k):
        value += factor * discounts[p] * gain[p]
        if kind == CASCADE:
            factor *= 1.0 - gain[p]
        elif kind == PRECISION:
            factor += gain[p]
    return value


@helper
def sweep_side(
    lines: Any, n: int, k: int, sign: float, now: float, stop: float, ranges: Any, weight: float, discounts: Any,
    kind: int, meeting: Any, times: Any, deltas: Any, count: int,
) -> int:  # fmt: skip
    """Write the changes on one side of the origin; return the number of events so far, or FULL.

    Up to the end of a segment only the lines at positions k to near - 1 can come from outside.
    """
    lowest_slope, highest_slope, lowest_score, highest_score = ranges
    origin, unit = now, np.inf
    if highest_slope > lowest_slope:
        unit = (highest_score - lowest_score) / (highest_slope - lowest_slope)
    margin = 1e-9 * (abs(highest_score) + abs(lowest_score))
    for p in range(k - 1):
        meeting[p] = meeting_time(lines, p, now)
    segment, end = 0, now
    while end < stop:
        end = stop
        if n > 2 * k and segment < 6 and unit < np.inf:
            end = min(stop, origin + unit * 0.15 * 2.0**segment)
        near = bring_near(lines, n, k, end, margin)
        segment += 1
        entrant, stale = -1, True
        while True:
            if stale:
                meeting[k - 1], entrant = find_entrant(lines, k, near, now)
            p, time = 0, meeting[0]
            for q in range(1, k):
                if meeting[q] < time:
                    p, time = q, meeting[q]
            if time >= stop or time > end:
                break
            now = time
            q = p + 1 if p < k - 1 else entrant
            delta = change_of_swap(lines.gain, p, q, weight, discounts, kind)
            if delta != 0.0:
                if count == len(times):
                    return FULL
                times[count], deltas[count] = sign * now, sign * delta
                count += 1
            swap(lines, p, q)
            for r in range(max(p - 1, 0), min(p + 2, k - 1)):
                meeting[r] = meeting_time(lines, r, now)
            stale = p >= k - 2  # another line is the k-th
    return count


@helper
def meeting_time(lines: Any, p: int, now: float) -> float:
    """Return when the line below the p-th meets it, from now on."""
    steeper = lines.slope[p + 1] - lines.slope[p]
    time = np.inf
    if steeper > 0.0:
        time = max(now, (lines.height[p] - lines.height[p + 1]) / steeper)
    return time


@helper
def bring_near(lines: Any, n: int, k: int, end: float, margin: float) -> int:
    """Move the outside lines that can get among the first k up to ``end`` next to them; return where they end."""
    height, slope = lines.height, lines.slope
    if k == n:
        return n
    bound = np.inf
    for p in range(k):
        bound = min(bound, slope[p] if end == np.inf else height[p] + end * slope[p])
    limit = bound - margin - 1e-9 * abs(bound)
    near = k
    for j in range(k, n):
        far = slope[j] <= bound if end == np.inf else height[j] + end * slope[j] < limit
        if not far:
            swap(lines, j, near)
            near += 1
    return near


@helper
def find_entrant(lines: Any, k: int, near: int, now: float) -> Any:
    """Return when the k-th line is first met by one from outside, and by which."""
    height, slope, row = lines.height, lines.slope, lines.row
    entrant, earliest = -1, np.inf
    s, a = height[k - 1], slope[k - 1]
    for j in range(k, near):
        steeper = slope[j] - a
        time = (s - height[j]) / steeper if steeper > 0.0 else np.inf
        if time <= earliest and time < np.inf:
            time = max(now, time)
            e = entrant
            if time < earliest or e < 0:
                earliest, entrant = time, j
            elif slope[j] > slope[e] or (
                slope[j] == slope[e] and (height[j] > height[e] or (height[j] == height[e] and row[j] < row[e]))
            ):
                entrant = j
    return earliest, entrant


@helper
def change_of_swap(gain: Any, p: int, q: int, weight: float, discounts: Any, kind: int) -> Any:
    """Return how the measure changes when line q takes the p-th rank and its line moves down by one."""
    difference, factor = gain[q] - gain[p], 1.0
    if difference == 0.0:
        return 0.0
    if kind == CASCADE:
        for r in range(p):
            factor *= 1.0 - gain[r]
    elif kind == PRECISION:
        for r in range(p):
            factor += gain[r]
    return weight * factor * (discounts[p] - discounts[p + 1]) * difference


@helper
def swap(lines: Any, p: int, q: int) -> None:
    """Exchange two lines."""
    height, slope, gain, row = lines.height, lines.slope, lines.gain, lines.row
    s, a, g, i = height[p], slope[p], gain[p], row[p]
    height[p], slope[p], gain[p], row[p] = height[q], slope[q], gain[q], row[q]
    height[q], slope[q], gain[q], row[q] = s, a, g, i
