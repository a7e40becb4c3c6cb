"""The kinetic sweep: how a measure of the first k ranks changes along a line, found without sorting all documents.

The score of document i at step t is the line ``score_i + t * slope_i``. Sweeping t outwards from the origin, the
ranking of the first k changes only where two neighbours cross, or where the k-th meets a line from outside. One time is
kept for each of these k meetings; an event renews three of them (DirectRank, Algorithm 2, goes through all documents
instead and drops crossings of three or more lines in one point).

Exactness with ties, parallels and duplicates rests on one rule: only a lower line with the greater slope can cross
upwards, at the time of its crossing or, where rounding says "earlier", now. Every pair crosses at most once, so the
sweep ends; crossings in one point are done one by one at the same time. Equal times from outside are taken by greater
slope, then greater score, then row, so that documents whose lines coincide keep the order of their rows.

Pruning: up to a time T, a line that is at T below all of the present first k cannot have crossed any of them, so k
lines stay above it and it needs no look until T.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._jit import helper, kernel, read_only
from argrank._types import Floats, Integers

#: What a swap of neighbours is multiplied by: 1, the chance to come so far (ERR), one more than the hits above (AP).
ADDITIVE, CASCADE, PRECISION = 0, 1, 2


def walk_signature(types: Any) -> Any:
    """Return the types of a kernel that walks along the lines of queries."""
    read, write = read_only(types), types.float64[::1]
    real, whole = types.float64, types.int64
    rows = (read, read, read, read, read, read_only(types, "int64"))
    return types.void(*rows, whole, real, real, write, write, write, types.int64[::1])


@helper
def rank_at_origin(
    scores: Any,
    slopes: Any,
    worth: Any,
    sign: float,
    now: float,
    k: int,
    at_origin: Any,
    height: Any,
    slope: Any,
    value_of: Any,
    row: Any,
) -> Any:
    """Fill in the first k lines at the origin, by insertion, the others behind them in any order.

    Returns the ranges of slopes and scores, and whether no other line has the height of one of the first k.
    """
    n = len(scores)
    lowest_slope, highest_slope, lowest_score, highest_score = np.inf, -np.inf, np.inf, -np.inf
    chosen = 0
    for i in range(n):
        s, a = scores[i], sign * slopes[i]
        v = s + now * a
        lowest_slope, highest_slope = min(lowest_slope, a), max(highest_slope, a)
        lowest_score, highest_score = min(lowest_score, s), max(highest_score, s)
        p = i
        if chosen == k:
            p = k - 1
            if v > at_origin[p] or (v == at_origin[p] and (a > slope[p] or (a == slope[p] and s > height[p]))):
                at_origin[i], height[i], slope[i] = at_origin[p], height[p], slope[p]
                value_of[i], row[i] = value_of[p], row[p]
            else:
                p = i
        else:
            chosen += 1
        if p < k:
            while p > 0 and (
                v > at_origin[p - 1]
                or (v == at_origin[p - 1] and (a > slope[p - 1] or (a == slope[p - 1] and s > height[p - 1])))
            ):
                at_origin[p], height[p], slope[p] = at_origin[p - 1], height[p - 1], slope[p - 1]
                value_of[p], row[p] = value_of[p - 1], row[p - 1]
                p -= 1
        at_origin[p], height[p], slope[p], value_of[p], row[p] = v, s, a, worth[i], i
    reusable = True
    for p in range(k - 1):
        reusable = reusable and at_origin[p] != at_origin[p + 1]
    for j in range(k, n):
        reusable = reusable and at_origin[j] != at_origin[k - 1]
    return lowest_slope, highest_slope, lowest_score, highest_score, reusable


@helper
def value_of_first(value_of: Any, discounts: Any, k: int, kind: int) -> float:
    """Return the measure of a ranking, up to the query's weight."""
    value, factor = 0.0, 1.0
    for p in range(k):
        value += factor * discounts[p] * value_of[p]
        if kind == CASCADE:
            factor *= 1.0 - value_of[p]
        elif kind == PRECISION:
            factor += value_of[p]
    return value


@kernel(walk_signature)
def sweep(
    scores: Floats,
    slopes: Floats,
    worth: Floats,
    weight: Floats,
    discounts: Floats,
    indptr: Integers,
    kind: int,
    low: float,
    high: float,
    starts: Floats,
    times: Floats,
    deltas: Floats,
    state: Integers,
) -> None:
    """Fill the value of every query just above ``low`` and the (time, change) of all its changes below ``high``.

    The value of a ranking is ``weight * sum over ranks p < k of discount_p * worth_p * factor_p``, where the factor is
    1 (ADDITIVE), the product of ``1 - worth`` above (CASCADE) or 1 plus the sum of ``worth`` above (PRECISION); in all
    three a swap at p, p + 1 changes it by ``factor_p * (discount_p - discount_{p+1}) * (difference in worth)``.
    ``discounts`` has k + 1 entries, the last of them 0. The sweep runs from 0, or the end next to it, to both ends.
    ``state`` holds the query to go on with and the number of events so far; with ``times`` full, the kernel returns
    before the query that did not fit.
    """
    infinity = np.inf
    origin = min(max(0.0, low), high)
    depth = len(discounts) - 1
    n_queries = len(indptr) - 1
    widest = 1
    for query in range(n_queries):
        widest = max(widest, indptr[query + 1] - indptr[query])
    at_origin = np.empty(widest)
    height, slope, value_of = np.empty(widest), np.empty(widest), np.empty(widest)
    row, begin = np.empty(widest, np.int64), np.empty(widest, np.int64)
    meeting = np.empty(min(depth, widest))
    query, count, capacity = state[0], state[1], len(times)
    while query < n_queries:
        first, n = indptr[query], indptr[query + 1] - indptr[query]
        k = min(depth, n)
        scale = weight[query]
        before, full = count, False
        base_right, base_left, swept, reusable = 0.0, 0.0, 0.0, False
        lowest_slope, highest_slope, lowest_score, highest_score = infinity, -infinity, infinity, -infinity
        starts[query] = 0.0
        for side in range(2):
            sign = 1.0 if side == 0 else -1.0
            stop = high if side == 0 else -low
            now = sign * origin
            if scale == 0.0 or stop <= now:
                continue

            # The first k at the origin, by insertion; the rest behind them in any order. Without ties among the
            # scores there the left side begins as the right one did.
            if side == 1 and reusable:
                for i in range(n):
                    j = first + begin[i]
                    height[i], slope[i], value_of[i], row[i] = scores[j], -slopes[j], worth[j], begin[i]
                lowest_slope, highest_slope = -highest_slope, -lowest_slope
            else:
                rows = slice(first, first + n)
                lowest_slope, highest_slope, lowest_score, highest_score, reusable = rank_at_origin(
                    scores[rows], slopes[rows], worth[rows], sign, now, k, at_origin, height, slope, value_of, row
                )
                begin[:n] = row[:n]

            value = scale * value_of_first(value_of, discounts, k, kind)
            if side == 0:
                base_right = value
            else:
                base_left = value

            for p in range(k - 1):
                steeper = slope[p + 1] - slope[p]
                meeting[p] = infinity
                if steeper > 0.0:
                    meeting[p] = max(now, (height[p] - height[p + 1]) / steeper)
            unit = infinity
            if highest_slope > lowest_slope:
                unit = (highest_score - lowest_score) / (highest_slope - lowest_slope)
            margin = 1e-9 * (abs(highest_score) + abs(lowest_score))
            segment = 0
            end = now
            while end < stop and not full:
                # Up to the end of this segment only some of the lines outside can matter: positions k to near - 1.
                near = n
                end = stop
                if k < n:
                    if n > 2 * k and segment < 6 and unit < infinity:
                        end = min(stop, sign * origin + unit * 0.15 * 2.0**segment)
                    bound = infinity
                    for p in range(k):
                        bound = min(bound, slope[p] if end == infinity else height[p] + end * slope[p])
                    near = k
                    for j in range(k, n):
                        if end == infinity:
                            far = slope[j] <= bound
                        else:
                            far = height[j] + end * slope[j] < bound - margin - 1e-9 * abs(bound)
                        if not far:
                            s, a, g, i = height[j], slope[j], value_of[j], row[j]
                            height[j], slope[j], value_of[j], row[j] = (
                                height[near], slope[near], value_of[near], row[near],
                            )  # fmt: skip
                            height[near], slope[near], value_of[near], row[near] = s, a, g, i
                            near += 1
                segment += 1
                entrant, stale = -1, True
                while True:
                    if stale:  # another line is the k-th: which one from outside meets it first?
                        stale = False
                        entrant = -1
                        earliest = infinity
                        s, a = height[k - 1], slope[k - 1]
                        for j in range(k, near):
                            steeper = slope[j] - a
                            time = (s - height[j]) / steeper if steeper > 0.0 else infinity
                            if time <= earliest and time < infinity:
                                time = max(now, time)
                                if time < earliest or entrant < 0:
                                    earliest, entrant = time, j
                                    continue
                                e = entrant
                                if slope[j] > slope[e] or (
                                    slope[j] == slope[e]
                                    and (height[j] > height[e] or (height[j] == height[e] and row[j] < row[e]))
                                ):
                                    entrant = j
                        meeting[k - 1] = earliest
                    p, time = 0, meeting[0]
                    for q in range(1, k):
                        if meeting[q] < time:
                            p, time = q, meeting[q]
                    if time >= stop or time > end:
                        break
                    now = time
                    q = p + 1 if p < k - 1 else entrant
                    gain = value_of[q] - value_of[p]
                    if gain != 0.0:
                        factor = 1.0
                        if kind == CASCADE:
                            for r in range(p):
                                factor *= 1.0 - value_of[r]
                        elif kind == PRECISION:
                            for r in range(p):
                                factor += value_of[r]
                        delta = scale * factor * (discounts[p] - discounts[p + 1]) * gain
                        if delta != 0.0:
                            if count == capacity:
                                full = True
                                break
                            times[count], deltas[count] = sign * now, sign * delta
                            count += 1
                            swept += delta if side == 1 else 0.0
                    s, a, g, i = height[p], slope[p], value_of[p], row[p]
                    height[p], slope[p], value_of[p], row[p] = height[q], slope[q], value_of[q], row[q]
                    height[q], slope[q], value_of[q], row[q] = s, a, g, i
                    for r in range(max(p - 1, 0), min(p + 2, k - 1)):
                        steeper = slope[r + 1] - slope[r]
                        meeting[r] = infinity
                        if steeper > 0.0:
                            meeting[r] = max(now, (height[r] - height[r + 1]) / steeper)
                    stale = p >= k - 2
            if full:
                break
        if not full and low < origin < high and base_right != base_left:
            if count == capacity:
                full = True
            else:
                times[count], deltas[count] = origin, base_right - base_left
                count += 1
        if full:
            state[0], state[1] = query, before
            return
        starts[query] = base_left + swept if low < origin else base_right
        query += 1
    state[0], state[1] = query, count
