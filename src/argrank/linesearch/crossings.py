"""Lines in general position: how a measure of the first k ranks changes, from which pairs of lines change their order.

The line is cut into segments. In a segment only few lines can be among the first k: those that are, at its right end,
not below all of the first k of its left end (a line below k lines at both ends is below them in between). Sorting these
few twice, by insertion, gives the pairs that cross; for each pair of different gain, the lines above the point where it
crosses are counted. Nothing needs the order of time, and pairs of equal gain cost nothing. The times at which normal
lines cross have a Cauchy distribution, which sets the first length of the segments.

The counts are correct only if lines are separated. If other lines pass within rounding of a crossing, or two lines meet
at the end of a segment, the query is left to ``sweep``, which can handle any position. Equal and parallel lines are
handled here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from argrank._jit import helper, kernel
from argrank._types import Filled, Floats, Integers

CERTAIN = 1e-9  # relative margin by which a line must be below others to be left out
APART = 1e-12  # relative difference above which rounding cannot swap two values
CASCADE, PRECISION = 1, 2  # as in sweep.py: a kernel uses nothing outside its own file


class Query(NamedTuple):
    """The documents of one query as lines, and statistics of their slopes and scores."""

    score: Any
    slope: Any
    gain: Any
    k: Any
    greatest: Any  # of the magnitudes of the scores


class Moments(NamedTuple):
    """Means, sums of squares and products, and ranges of the scores s and slopes a of a query."""

    mean_s: Any
    mean_a: Any
    ss: Any
    aa: Any
    sa: Any
    greatest_s: Any
    least_a: Any
    greatest_a: Any


class Segment(NamedTuple):
    """The lines of a segment, in their order at its beginning, and the pairs of them that cross in it."""

    height: Any
    slope: Any
    gain: Any
    row: Any
    place: Any  # filled with the numbers of the lines in their order at the end
    key: Any  # heights at the beginning, then at the end
    lower: Any  # of a pair: the line that rises above ``upper``
    upper: Any
    moment: Any


@kernel()
def crossings(
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

    Arguments and meaning are those of ``sweep``, except that a query left to it has a start of NaN and no changes.
    """
    depth, n_queries, widest = len(discounts) - 1, len(indptr) - 1, 1
    for query in range(n_queries):
        widest = max(widest, indptr[query + 1] - indptr[query])
    most = min(widest, 2 * depth + 8)  # lines of a segment
    room, n_pairs = most + 4, most * (most - 1) // 2 + 1
    level, chosen = np.empty(widest), np.empty(widest + 1, np.uint32)
    best, leader = np.empty(depth), np.empty(depth, np.uint32)
    segment = Segment(
        np.empty(room),
        np.empty(room),
        np.empty(room),
        np.empty(room, np.uint32),
        np.empty(room, np.uint32),
        np.empty(room),
        np.empty(n_pairs, np.uint32),
        np.empty(n_pairs, np.uint32),
        np.empty(n_pairs),
    )
    drop = np.zeros(room)
    for p in range(min(depth, room)):
        drop[p] = discounts[p] - discounts[p + 1]

    query, count = state[0], state[1]
    while query < n_queries:
        rows = slice(indptr[query], indptr[query + 1])
        starts[query] = 0.0
        if weight[query] != 0.0 and low < high:
            after, starts[query] = walk_query(
                scores[rows], slopes[rows], gains[rows], weight[query], discounts, kind, low, high, segment, most, drop,
                level, chosen, best, leader, times, deltas, count,
            )  # fmt: skip
            if after == FULL:
                break
            count = count if after == UNSURE else after
        query += 1
    state[0], state[1] = query, count


FULL, UNSURE = -1, -2  # instead of a number of events


@helper
def walk_query(
    scores: Floats, slopes: Floats, gains: Floats, weight: float, discounts: Floats, kind: int, low: float, high: float,
    segment: Segment, most: int, drop: Floats, level: Floats, chosen: Any, best: Floats, leader: Any, times: Floats,
    deltas: Floats, count: int,
) -> Any:  # fmt: skip
    """Write the changes of one query; return the number of events so far, FULL or UNSURE, and the value at the start.

    The start is NaN where the query is left to ``sweep``.
    """
    moments = moments_of(scores, slopes)
    lines = Query(scores, slopes, gains, min(len(discounts) - 1, len(scores)), moments.greatest_s)
    middle, spread, sure = where_lines_cross(moments)
    find_first(lines, moments, low, level, chosen, best, leader)
    sure = sure and (low == -np.inf or lie_apart(lines, level, best, leader))
    if not sure:
        return UNSURE, np.nan
    start = weight * value_of_first(lines, leader, discounts, kind)
    if moments.least_a < moments.greatest_a:  # parallels do not cross
        count = walk_segments(
            lines, segment, (middle, spread, low, high), most, kind, weight, drop, level, chosen, leader, times,
            deltas, count,
        )  # fmt: skip
    return count, np.nan if count == UNSURE else start


@helper
def moments_of(s: Floats, a: Floats) -> Any:
    """Return the moments of a query's scores and slopes."""
    n = len(s)
    mean_s, mean_a, greatest, least_a, greatest_a = 0.0, 0.0, 0.0, np.inf, -np.inf
    for i in range(n):
        mean_s += s[i]
        mean_a += a[i]
        greatest = max(greatest, abs(s[i]))
        least_a, greatest_a = min(least_a, a[i]), max(greatest_a, a[i])
    mean_s, mean_a = mean_s / n, mean_a / n
    ss, aa, sa = 0.0, 0.0, 0.0
    for i in range(n):
        ss += (s[i] - mean_s) ** 2
        aa += (a[i] - mean_a) ** 2
        sa += (s[i] - mean_s) * (a[i] - mean_a)
    return Moments(mean_s, mean_a, ss, aa, sa, greatest, least_a, greatest_a)


@helper
def where_lines_cross(moments: Moments) -> Any:
    """Return the middle and the spread of the crossings' times, and whether the numbers are within range.

    Lines cross about the slope of the regression of scores on slopes; the spread is that of its residuals.
    """
    middle, spread = 0.0, 0.0
    ss, aa, sa = moments.ss, moments.aa, moments.sa
    if aa > 0.0:
        middle, spread = -sa / aa, np.sqrt(max(0.0, ss - sa * sa / aa) / aa)
    vanished = aa == 0.0 and moments.least_a < moments.greatest_a
    return middle, spread, abs(middle) + spread < np.inf and not vanished


@helper
def find_first(
    lines: Query, moments: Moments, low: float, level: Floats, chosen: Any, best: Floats, leader: Any
) -> None:
    """Find the first k lines just above ``low``: fill their rows and heights, and the heights of all lines.

    By insertion, after a first pass has excluded the lines that are far below (assuming a normal distribution).
    """
    n, k = len(lines.score), lines.k
    centre, width = -moments.mean_a, np.sqrt(moments.aa / n)
    if low > -np.inf:
        centre = moments.mean_s + low * moments.mean_a
        width = np.sqrt(max(0.0, moments.ss + low * (2.0 * moments.sa + low * moments.aa)) / n)
    for i in range(n):
        level[i] = -lines.slope[i] if low == -np.inf else lines.score[i] + low * lines.slope[i]
    share = (1.5 * k + 4.0) / n
    bound = centre + width * np.log(1.0 / share - 1.0) / 1.7 if share < 0.5 else -np.inf
    candidates = 0
    while candidates < k:
        candidates = 0
        for i in range(n):
            chosen[candidates] = i
            candidates += 0 if level[i] < bound else 1
        bound = -np.inf
    filled = 0
    for x in range(candidates):
        i = chosen[x]
        v, s = level[i], lines.score[i]
        p = filled
        if filled == k:
            p = k - 1
            if v < best[p] or (v == best[p] and s <= lines.score[leader[p]]):
                continue
        else:
            filled += 1
        while p > 0 and (v > best[p - 1] or (v == best[p - 1] and s > lines.score[leader[p - 1]])):
            best[p], leader[p] = best[p - 1], leader[p - 1]
            p -= 1
        best[p], leader[p] = v, i


@helper
def lie_apart(lines: Any, level: Any, best: Any, leader: Any) -> bool:
    """Return whether no two lines of different slope meet, within rounding, among the first k at the left end."""
    k, a = lines.k, lines.slope
    apart = True
    for p in range(k - 1):
        near = APART * (lines.greatest + abs(best[p]))
        if not best[p] - best[p + 1] > near and a[leader[p]] != a[leader[p + 1]]:
            apart = False
    near = APART * (lines.greatest + abs(best[k - 1]))
    for i in range(len(a)):
        if not best[k - 1] - level[i] > near and level[i] <= best[k - 1] and a[i] != a[leader[k - 1]]:
            apart = False
    return apart


@helper
def value_of_first(lines: Query, leader: Any, discounts: Floats, kind: int) -> float:
    """Return the measure of a ranking, up to the query's weight."""
    value, factor = 0.0, 1.0
    for p in range(lines.k):
        gain = lines.gain[leader[p]]
        value += factor * discounts[p] * gain
        if kind == CASCADE:
            factor *= 1.0 - gain
        elif kind == PRECISION:
            factor += gain
    return value


@helper
def walk_segments(
    lines: Query,
    segment: Segment,
    span: Any,
    most: int,
    kind: int,
    weight: float,
    drop: Floats,
    level: Floats,
    chosen: Any,
    leader: Any,
    times: Floats,
    deltas: Floats,
    count: int,
) -> int:
    """Write all changes of one query; return the number of events so far, FULL or UNSURE.

    Times are middle + reach u / (1 - u²), close to the quantiles of the Cauchy distribution, u from -1 to 1. A segment
    that holds too many lines is halved; after one that holds few the next is longer. If that does not help, the query
    is full of ties.
    """
    middle, spread, low, high = span
    n, k = len(lines.score), lines.k
    reach = 4.0 / np.pi * spread
    u, longest = -1.0, 2.0 / (1.0 + 4.5 * np.log2(n / k))
    if low > -np.inf and reach > 0.0:
        z = (low - middle) / reach
        u = 0.0 if z == 0.0 else 2.0 * z / (1.0 + np.sqrt(1.0 + 4.0 * z * z))
    length, begin = longest, low
    while begin < high:
        u += length
        end = high
        if u < 1.0:
            end = min(high, middle + reach * u / (1.0 - u * u))
        if end <= begin:
            continue
        bound, m = count_near(lines, segment, leader, end, level)
        if m > 2 * k and length > longest / 16.0:
            u -= length
            length *= 0.5
            continue
        if m > most or not abs(bound) < np.inf:
            return UNSURE
        if m < k + 2:
            length = min(0.5, 2.0 * length)
        line_up(lines, segment, leader, begin, bound, m, level, chosen)
        pairs = find_pairs(segment, m)
        if end < np.inf and not are_certain(lines, segment, m):
            return UNSURE
        if count + pairs > len(times):
            return FULL
        count = write_changes(lines, segment, m, pairs, kind, weight, drop, times, deltas, count)
        if count < 0:
            return UNSURE
        for p in range(k):
            leader[p] = segment.row[segment.place[p]]
        begin = end
    return count


@helper
def count_near(lines: Query, segment: Segment, leader: Any, end: float, level: Floats) -> Any:
    """Return the height that a line must reach at ``end`` to matter before it, and how many lines matter.

    Fills the heights of the first k, and those of all other lines (-infinity for the first k).
    """
    n, k = len(lines.score), lines.k
    if end == np.inf:
        for i in range(n):
            level[i] = lines.slope[i]
    else:
        for i in range(n):
            level[i] = lines.score[i] + end * lines.slope[i]
    bound = np.inf
    for p in range(k):
        i = leader[p]
        segment.key[p] = level[i]
        bound = min(bound, level[i])
        level[i] = -np.inf
    # a line no steeper than the first k never passes them
    bound = np.nextafter(bound, np.inf) if end == np.inf else bound - CERTAIN * (lines.greatest + abs(bound))
    others = 0
    for i in range(n):
        others += level[i] >= bound
    return bound, k + others


@helper
def line_up(
    lines: Query, segment: Segment, leader: Any, begin: float, bound: float, m: int, level: Floats, chosen: Any
) -> None:
    """Fill in the lines of a segment: the first k, then the others in their order at its beginning."""
    n, k = len(lines.score), lines.k
    height, row, key = segment.height, segment.row, segment.key
    for p in range(k):
        i = leader[p]
        height[p], segment.slope[p], segment.gain[p] = lines.score[i], lines.slope[i], lines.gain[i]
        row[p], segment.place[p] = i, p
    others = 0
    for i in range(n):
        chosen[others] = i
        others += 1 if level[i] >= bound else 0
    for x in range(m - k):
        i = chosen[x]
        s = lines.score[i]
        v = -lines.slope[i] if begin == -np.inf else s + begin * lines.slope[i]
        p = k + x
        while p > k and (v > key[p - 1] or (v == key[p - 1] and s > height[p - 1])):
            key[p], height[p], row[p] = key[p - 1], height[p - 1], row[p - 1]
            p -= 1
        key[p], height[p], row[p] = v, s, i
    for p in range(k, m):
        i = row[p]
        segment.slope[p], segment.gain[p], segment.place[p], key[p] = lines.slope[i], lines.gain[i], p, level[i]


@helper
def find_pairs(segment: Segment, m: int) -> int:
    """Sort the lines by their heights at the end; return how many pairs of different gain cross, and list them.

    A line crosses those it has to pass on the way to its place.
    """
    key, place, gain = segment.key, segment.place, segment.gain
    pairs = 0
    for x in range(1, m):
        v, own = key[x], gain[x]
        p = x
        while p > 0 and v > key[p - 1]:
            y = place[p - 1]
            key[p], place[p] = key[p - 1], y
            segment.lower[pairs], segment.upper[pairs] = x, y
            pairs += 1 if gain[y] != own else 0
            p -= 1
        key[p], place[p] = v, x
    return pairs


@helper
def are_certain(lines: Query, segment: Segment, m: int) -> bool:
    """Return whether no two lines of different slope meet, within rounding, among the first k at the right end."""
    key, place, slope = segment.key, segment.place, segment.slope
    for p in range(m - 1):
        if key[p] - key[p + 1] > APART * (lines.greatest + abs(key[p])):
            if p >= lines.k - 1:
                break  # later lines are not among the first k, nor near them
        elif slope[place[p]] != slope[place[p + 1]]:
            return False
    return True


@helper
def write_changes(
    lines: Query,
    segment: Segment,
    m: int,
    pairs: int,
    kind: int,
    weight: float,
    drop: Floats,
    times: Floats,
    deltas: Floats,
    count: int,
) -> int:
    """Write the change by each pair, from the number of lines above its crossing.

    Returns the number of events so far, or UNSURE where another line passes through such a point.
    """
    height, slope, gain = segment.height, segment.slope, segment.gain
    padded = (m + 3) // 4 * 4  # for the vector unit
    for p in range(m, padded):
        height[p], slope[p] = -np.inf, 0.0
    for e in range(pairs):
        x, y = segment.lower[e], segment.upper[e]
        segment.moment[e] = (height[y] - height[x]) / (slope[x] - slope[y])
    for e in range(pairs):
        x, y, time = segment.lower[e], segment.upper[e], segment.moment[e]
        v = height[x] + time * slope[x]
        near = APART * (lines.greatest + abs(v))
        above, not_below = 0, 0
        for p in range(padded):
            f = height[p] + time * slope[p]
            above += f > v + near
            not_below += f >= v - near
        factor = 1.0
        if not_below != above + 2:
            above, factor = count_equal_lines(segment, m, x, y, time, near, kind, above)
            if above < 0:
                return UNSURE
        if kind == CASCADE and above < lines.k:
            for p in range(m):
                factor *= 1.0 - gain[p] if height[p] + time * slope[p] > v + near else 1.0
        elif kind == PRECISION and above < lines.k:
            for p in range(m):
                factor += gain[p] if height[p] + time * slope[p] > v + near else 0.0
        delta = weight * factor * drop[above] * (gain[x] - gain[y])
        times[count], deltas[count] = time, delta
        count += 1 if delta != 0.0 else 0
    return count


@helper
def count_equal_lines(segment: Any, m: int, x: int, y: int, time: float, near: float, kind: int, above: int) -> Any:
    """Add the lines equal to one of a pair and above it, of an earlier row; return their number and their factor.

    The number is UNSURE where a line through the point equals neither.
    """
    height, slope, gain, row = segment.height, segment.slope, segment.gain, segment.row
    v, factor = height[x] + time * slope[x], 1.0
    if not abs(v) < np.inf:
        return UNSURE, factor
    for p in range(m):
        f = height[p] + time * slope[p]
        if p != x and p != y and v - near <= f <= v + near:
            if height[p] == height[x] and slope[p] == slope[x]:
                over = row[p] < row[x]
            elif height[p] == height[y] and slope[p] == slope[y]:
                over = row[p] < row[y]
            else:
                return UNSURE, factor
            if over:
                above += 1
                if kind == CASCADE:
                    factor *= 1.0 - gain[p]
                elif kind == PRECISION:
                    factor += gain[p]
    return above, factor
