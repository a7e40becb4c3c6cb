"""The first relevant document along a line: the upper envelope of the relevant lines, which has few lines.

The envelope is convex, so a line of a document that is not relevant is above it in one interval: after it has crossed
all lines of the envelope with a smaller slope, and before it crosses those with a greater one. The rank of the first
relevant document is the number of such intervals that hold t, plus one. That takes O(n log n) and lists at most two
events per document; counting the documents above every relevant one would list all crossings.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from argrank._jit import helper, kernel
from argrank._types import Filled, Floats, Integers

FULL = -1  # instead of a number of events


class Envelope(NamedTuple):
    """The lines of an envelope, from the smallest slope to the greatest; room for all relevant lines."""

    score: Any
    slope: Any
    row: Any  # the first of the rows that have this line
    relevant: Any  # how many relevant documents have this line
    tied: Any  # how many documents have it, where ties are averaged, else as many as are relevant


@kernel()
def first_relevant(
    scores: Floats,
    slopes: Floats,
    gains: Floats,
    weight: Floats,
    discounts: Floats,
    indptr: Integers,
    expected: int,
    low: float,
    high: float,
    starts: Filled[np.float64],
    times: Filled[np.float64],
    deltas: Filled[np.float64],
    state: Filled[np.int64],
) -> None:
    """Fill the value of every query just above ``low`` and the (time, change) of all its changes below ``high``.

    Documents whose lines coincide are ranked by row, or, where ``expected`` is not 0, all orders of them are equally
    likely. ``state`` is used as in ``sweep``.
    """
    query, count = state[0], state[1]
    while query < len(indptr) - 1:
        rows = slice(indptr[query], indptr[query + 1])
        s, a, g = scores[rows], slopes[rows], gains[rows]
        n = len(s)
        starts[query] = 0.0
        by_slope = np.argsort(a, kind="mergesort")
        envelope = Envelope(
            np.empty(n), np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
        )
        size = build(s, a, g, by_slope, envelope)
        if weight[query] != 0.0 and size > 0:
            time, change = np.empty(2 * n + size), np.empty(2 * n + size, np.int64)
            above, events = list_events(s, a, g, envelope, size, expected, low, high, time, change)
            top = 0
            for p in range(size - 1):
                corner = (envelope.score[p] - envelope.score[p + 1]) / (envelope.slope[p + 1] - envelope.slope[p])
                if corner <= low:
                    top = p + 1
                elif corner < high:
                    time[events], change[events] = corner, 0
                    events += 1
            after = follow(
                envelope, discounts, weight[query], above, top, time, change, np.argsort(time[:events]), starts[query:],
                times, deltas, count,
            )  # fmt: skip
            if after == FULL:
                break
            count = after
        query += 1
    state[0], state[1] = query, count


@helper
def build(scores: Floats, slopes: Floats, gains: Floats, by_slope: Integers, envelope: Envelope) -> int:
    """Fill the envelope of the relevant lines; return how many lines it has."""
    score, slope = envelope.score, envelope.slope
    size = 0
    for i in by_slope:
        if gains[i] == 0.0:
            continue
        s, a = scores[i], slopes[i]
        if size > 0 and slope[size - 1] == a:
            if s < score[size - 1]:
                continue
            if s == score[size - 1]:
                envelope.relevant[size - 1] += 1
                envelope.tied[size - 1] += 1
                continue
            size -= 1
        # the last line is below the corner of its neighbours: the new one passes it before it passes the one before
        while size > 1 and (score[size - 2] - s) / (a - slope[size - 2]) <= (
            (score[size - 2] - score[size - 1]) / (slope[size - 1] - slope[size - 2])
        ):
            size -= 1
        score[size], slope[size], envelope.row[size] = s, a, i
        envelope.relevant[size] = envelope.tied[size] = 1
        size += 1
    return size


@helper
def list_events(
    scores: Floats, slopes: Floats, gains: Floats, envelope: Envelope, size: int, expected: int, low: float,
    high: float, time: Floats, change: Integers,
) -> Any:  # fmt: skip
    """List when documents that are not relevant come above the envelope (1) and when they go below it (-1).

    Returns how many are above just after ``low``, and the number of events.
    """
    above, events = 0, 0
    for j in range(len(scores)):
        if gains[j] != 0.0:
            continue
        begin, end = -np.inf, np.inf
        s, a = scores[j], slopes[j]
        for p in range(size):
            steeper = envelope.slope[p] - a
            if steeper > 0.0:
                end = min(end, (s - envelope.score[p]) / steeper)
            elif steeper < 0.0:
                begin = max(begin, (s - envelope.score[p]) / steeper)
            elif s == envelope.score[p] and expected != 0:
                envelope.tied[p] += 1
                end = -np.inf
            elif s < envelope.score[p] or (s == envelope.score[p] and envelope.row[p] < j):
                end = -np.inf
        if begin < end and begin < high and end > low:
            if begin <= low:
                above += 1
            else:
                time[events], change[events] = begin, 1
                events += 1
            if end < high:
                time[events], change[events] = end, -1
                events += 1
    return above, events


@helper
def follow(
    envelope: Envelope, discounts: Floats, weight: float, above: int, top: int, time: Floats, change: Integers,
    order: Integers, start: Floats, times: Floats, deltas: Floats, count: int,
) -> int:  # fmt: skip
    """Go through the events in order of time; write the value before and what changes it.

    Returns the number of events so far, or FULL.
    """
    value = value_of(envelope, discounts, above, top)
    start[0] = weight * value
    for e in order:
        above += change[e]
        top += 1 if change[e] == 0 else 0
        renewed = value_of(envelope, discounts, above, top)
        if renewed != value:
            if count == len(times):
                return FULL
            times[count], deltas[count] = time[e], weight * (renewed - value)
            count += 1
        value = renewed
    return count


@helper
def value_of(envelope: Envelope, discounts: Floats, above: int, top: int) -> float:
    """Return the expected discount of the first relevant document: m documents are of its line, r of them relevant."""
    m, r = envelope.tied[top], envelope.relevant[top]
    chance, expected = 1.0, 0.0
    for place in range(m - r + 1):
        here = chance * r / (m - place)
        expected += here * discounts[above + place]
        chance -= here
    return expected
