"""Lines in general position: how a measure of the first k ranks changes, from which pairs of lines change their order.

The line is cut into segments. In a segment only few lines can be among the first k: those that are, at its right end,
not below all of the first k of its left end (a line below k lines at both ends is below them in between). Two orders of
these few, by insertion, give the pairs that cross; of each pair with a difference in worth, the lines above the point
where it crosses are counted. Nothing has to be done in the order of time, and pairs of equal worth cost nothing. Times
at which normal lines cross have a Cauchy distribution, which says how long the segments are to begin with.

The counts are right only where lines lie apart. Where other lines pass within rounding of a crossing, or two lines
meet at the end of a segment, the query is left to ``sweep``, which takes every position; lines that are equal or
parallel are no such case.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._jit import helper, kernel
from argrank._types import Floats, Integers
from argrank.linesearch.sweep import walk_signature


@helper
def find_first(
    s_of: Any, a_of: Any, k: int, low: float, centre: float, width: float, level: Any, outside: Any, best: Any,
    leader: Any,
) -> None:  # fmt: skip
    """Fill the rows and heights of the first k lines just above ``low``, and the heights of all.

    Insertion, after a first look has sorted out the lines far below, as if the heights were normally distributed.
    """
    n = len(s_of)
    for i in range(n):
        level[i] = -a_of[i] if low == -np.inf else s_of[i] + low * a_of[i]
    share = (1.5 * k + 4.0) / n
    bound = centre + width * np.log(1.0 / share - 1.0) / 1.7 if share < 0.5 else -np.inf  # if they were normal
    candidates = 0
    while candidates < k:
        candidates = 0
        for i in range(n):
            outside[candidates] = i
            candidates += 0 if level[i] < bound else 1
        bound = -np.inf
    chosen = 0
    for x in range(candidates):
        i = outside[x]
        v = level[i]
        p = chosen
        if chosen == k:
            p = k - 1
            if v < best[p] or (v == best[p] and s_of[i] <= s_of[leader[p]]):
                continue
        else:
            chosen += 1
        while p > 0 and (v > best[p - 1] or (v == best[p - 1] and s_of[i] > s_of[leader[p - 1]])):
            best[p], leader[p] = best[p - 1], leader[p - 1]
            p -= 1
        best[p], leader[p] = v, i


@helper
def lie_apart(s_of: Any, a_of: Any, k: int, greatest: float, level: Any, best: Any, leader: Any) -> bool:
    """Return whether no two lines of different slope meet, within rounding, among the first k at the left end."""
    certain = True
    for p in range(k - 1):
        near = 1e-12 * (greatest + abs(best[p]))
        if not best[p] - best[p + 1] > near and a_of[leader[p]] != a_of[leader[p + 1]]:
            certain = False
    near = 1e-12 * (greatest + abs(best[k - 1]))
    for i in range(len(a_of)):
        if not best[k - 1] - level[i] > near and level[i] <= best[k - 1] and a_of[i] != a_of[leader[k - 1]]:
            certain = False
    return certain


@helper
def value_of_first(w_of: Any, leader: Any, discounts: Any, k: int, kind: int) -> float:
    """Return the measure of a ranking, up to the query's weight."""
    value, factor = 0.0, 1.0
    for p in range(k):
        w = w_of[leader[p]]
        value += factor * discounts[p] * w
        if kind == 1:
            factor *= 1.0 - w
        elif kind == 2:
            factor += w
    return value


@kernel(walk_signature)
def crossings(
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

    Arguments and meaning are those of ``sweep``, but a query that is left to it has a start of NaN and no changes.
    """
    infinity = np.inf
    certain, apart = 1e-9, 1e-12  # shares of the scores' size: what prunes, and what rounding cannot turn round
    depth = len(discounts) - 1
    n_queries = len(indptr) - 1
    widest = 1
    for query in range(n_queries):
        widest = max(widest, indptr[query + 1] - indptr[query])
    most = min(widest, 2 * depth + 8)  # lines of a segment
    room, n_pairs = most + 4, most * (most - 1) // 2 + 1
    level = np.empty(widest)
    outside = np.empty(widest + 1, np.uint32)
    height, slope, value_of = np.empty(room), np.empty(room), np.empty(room)
    row, place = np.empty(room, np.uint32), np.empty(room, np.uint32)
    key = np.empty(room)
    best, leader = np.empty(depth), np.empty(depth, np.uint32)
    lower, upper, moment = np.empty(n_pairs, np.uint32), np.empty(n_pairs, np.uint32), np.empty(n_pairs)
    drop = np.zeros(room)
    for p in range(min(depth, room)):
        drop[p] = discounts[p] - discounts[p + 1]

    query, count, capacity = state[0], state[1], len(times)
    while query < n_queries:
        first, n = indptr[query], indptr[query + 1] - indptr[query]
        k = min(depth, n)
        s_of, a_of, w_of = scores[first : first + n], slopes[first : first + n], worth[first : first + n]
        scale = weight[query]
        before = count
        starts[query] = 0.0
        if scale == 0.0 or low >= high:
            query += 1
            continue

        # Where lines cross: at the slope of the regression of scores on slopes, give or take what it leaves over.
        mean_s, mean_a, greatest, least_a, greatest_a = 0.0, 0.0, 0.0, infinity, -infinity
        for i in range(n):
            mean_s += s_of[i]
            mean_a += a_of[i]
            greatest = max(greatest, abs(s_of[i]))
            least_a, greatest_a = min(least_a, a_of[i]), max(greatest_a, a_of[i])
        mean_s, mean_a = mean_s / n, mean_a / n
        ss, aa, sa = 0.0, 0.0, 0.0
        for i in range(n):
            ss += (s_of[i] - mean_s) ** 2
            aa += (a_of[i] - mean_a) ** 2
            sa += (s_of[i] - mean_s) * (a_of[i] - mean_a)
        middle, spread = 0.0, 0.0
        if aa > 0.0:
            middle, spread = -sa / aa, np.sqrt(max(0.0, ss - sa * sa / aa) / aa)
        unsure = not abs(middle) + spread < infinity or (aa == 0.0 and least_a < greatest_a)  # out of range

        # The first k just above the left end, by insertion; most lines are far below and do not come that far.
        centre, width = -mean_a, np.sqrt(aa / n)
        if low > -infinity:
            centre, width = mean_s + low * mean_a, np.sqrt(max(0.0, ss + low * (2.0 * sa + low * aa)) / n)
        find_first(s_of, a_of, k, low, centre, width, level, outside, best, leader)
        if low > -infinity and not lie_apart(s_of, a_of, k, greatest, level, best, leader):
            unsure = True
        starts[query] = scale * value_of_first(w_of, leader, discounts, k, kind)

        # Times are middle + reach u / (1 - u²), close to the quantiles of the Cauchy distribution, u from -1 to 1. A
        # segment that holds too many lines is halved, after one that holds few the next is longer. Where that does not
        # help, the query is full of ties.
        reach = 4.0 / np.pi * spread
        u, longest = -1.0, 2.0 / (1.0 + 4.5 * np.log2(n / k))
        if low > -infinity and reach > 0.0:
            z = (low - middle) / reach
            u = 0.0 if z == 0.0 else 2.0 * z / (1.0 + np.sqrt(1.0 + 4.0 * z * z))
        length, begin = longest, low if least_a < greatest_a else high  # parallels do not cross
        while begin < high and not unsure:
            u += length
            end = high
            if u < 1.0:
                end = min(high, middle + reach * u / (1.0 - u * u))
            if end <= begin:
                continue
            if end == infinity:
                for i in range(n):
                    level[i] = a_of[i]
            else:
                for i in range(n):
                    level[i] = s_of[i] + end * a_of[i]
            bound = infinity
            for p in range(k):
                i = leader[p]
                key[p] = level[i]
                bound = min(bound, level[i])
                level[i] = -infinity
            # a line no steeper than the first k never gets past them
            bound = np.nextafter(bound, infinity) if end == infinity else bound - certain * (greatest + abs(bound))
            m = k
            for i in range(n):
                m += 1 if level[i] >= bound else 0
            if m > 2 * k and length > longest / 16.0:
                u -= length
                length *= 0.5
                continue
            if m > most or not abs(bound) < infinity:
                unsure = True
                break
            if m < k + 2:
                length = min(0.5, 2.0 * length)

            # The lines of this segment: the first k, then others, in their order at its beginning.
            for p in range(k):
                i = leader[p]
                height[p], slope[p], value_of[p], row[p], place[p] = s_of[i], a_of[i], w_of[i], i, p
            others = 0
            for i in range(n):
                outside[others] = i
                others += 1 if level[i] >= bound else 0
            for x in range(m - k):
                i = outside[x]
                s = s_of[i]
                v = -a_of[i] if begin == -infinity else s + begin * a_of[i]
                p = k + x
                while p > k and (v > key[p - 1] or (v == key[p - 1] and s > height[p - 1])):
                    key[p], height[p], row[p] = key[p - 1], height[p - 1], row[p - 1]
                    p -= 1
                key[p], height[p], row[p] = v, s, i
            for p in range(k, m):
                i = row[p]
                slope[p], value_of[p], place[p], key[p] = a_of[i], w_of[i], p, level[i]

            # Their order at its end: whom a line has to pass on the way to its place, it crosses.
            pairs = 0
            for x in range(1, m):
                v, w = key[x], value_of[x]
                p = x
                while p > 0 and v > key[p - 1]:
                    y = place[p - 1]
                    key[p], place[p] = key[p - 1], y
                    lower[pairs], upper[pairs] = x, y
                    pairs += 1 if value_of[y] != w else 0
                    p -= 1
                key[p], place[p] = v, x
            if end < infinity:
                for p in range(m - 1):
                    if key[p] - key[p + 1] > apart * (greatest + abs(key[p])):
                        if p >= k - 1:
                            break  # what comes later is not among the first k, nor near them
                    elif slope[place[p]] != slope[place[p + 1]]:
                        unsure = True
            if count + pairs > capacity:
                state[0], state[1] = query, before
                return

            # What each pair changes, by the number of lines above the point where it crosses.
            padded = (m + 3) // 4 * 4  # for the vector unit
            for p in range(m, padded):
                height[p], slope[p] = -infinity, 0.0
            for e in range(pairs):
                x, y = lower[e], upper[e]
                moment[e] = (height[y] - height[x]) / (slope[x] - slope[y])
            for e in range(pairs):
                x, y, time = lower[e], upper[e], moment[e]
                v = height[x] + time * slope[x]
                near = apart * (greatest + abs(v))
                above, not_below = 0, 0
                for p in range(padded):
                    f = height[p] + time * slope[p]
                    above += f > v + near
                    not_below += f >= v - near
                factor = 1.0
                tied = not_below != above + 2
                if tied:  # of equal lines the earlier row is above
                    unsure = unsure or not abs(v) < infinity
                    for p in range(m):
                        f = height[p] + time * slope[p]
                        if p != x and p != y and v - near <= f <= v + near:
                            over = False
                            if height[p] == height[x] and slope[p] == slope[x]:
                                over = row[p] < row[x]
                            elif height[p] == height[y] and slope[p] == slope[y]:
                                over = row[p] < row[y]
                            else:
                                unsure = True
                            if over:
                                above += 1
                                if kind == 1:
                                    factor *= 1.0 - value_of[p]
                                elif kind == 2:
                                    factor += value_of[p]
                if kind == 1 and above < k:
                    for p in range(m):
                        factor *= 1.0 - value_of[p] if height[p] + time * slope[p] > v + near else 1.0
                elif kind == 2 and above < k:
                    for p in range(m):
                        factor += value_of[p] if height[p] + time * slope[p] > v + near else 0.0
                delta = scale * factor * drop[above] * (value_of[x] - value_of[y])
                times[count], deltas[count] = time, delta
                count += 1 if delta != 0.0 else 0
            for p in range(k):
                leader[p] = row[place[p]]
            begin = end
        if unsure:
            starts[query] = np.nan
            count = before
        query += 1
    state[0], state[1] = query, count
