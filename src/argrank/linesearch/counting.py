"""Measures that look at the whole list: count, along the line, the documents above each document that counts.

For every document that counts (a relevant one, or one with a gain) all its crossings are put in order; at each of them
the number of documents above it changes by one. That takes O(R n log n) for R such documents of n and is exact whatever
lines coincide, since the count after a point does not depend on the order in which the crossings of that point are
taken.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from argrank._jit import helper, kernel, read_only
from argrank._types import Floats, Integers

#: Sum of gain times discount of the rank; average precision; discount of the first; pairs in right order.
GAIN, AVERAGE, FIRST, PAIRS = 0, 1, 2, 3


def _signature(types: Any) -> Any:
    read, write = read_only(types), types.float64[::1]
    real, whole = types.float64, types.int64
    rows = (read, read, read, read, read, read_only(types, "int64"))
    return types.void(*rows, whole, whole, real, real, write, write, write, types.int64[::1])


FULL = -1  # instead of a number of events


class Counts(NamedTuple):
    """Of each counted document: its row, and how many documents are above it and how many lines equal its own."""

    document: Any
    above: Any
    hits: Any  # counted documents above
    tied: Any  # documents of its line, itself included
    tied_hits: Any  # counted documents of its line


class Crossings(NamedTuple):
    """Crossings of a counted document (its number) with another document (its row)."""

    time: Any
    who: Any
    other: Any


@kernel(_signature)
def count_above(
    scores: Floats,
    slopes: Floats,
    gains: Floats,
    weight: Floats,
    discounts: Floats,
    indptr: Integers,
    kind: int,
    expected: int,
    low: float,
    high: float,
    starts: Floats,
    times: Floats,
    deltas: Floats,
    state: Integers,
) -> None:
    """Fill the value of every query just above ``low`` and the (time, change) of all its changes below ``high``.

    Documents whose lines coincide are ranked by row, or, where ``expected`` is not 0, all orders of them are equally
    likely: of m such documents, r of them counted, each is at every place of the group with chance 1 / m.
    ``discounts`` has an entry for every rank there is. ``state`` is used as in ``sweep``.
    """
    query, count = state[0], state[1]
    while query < len(indptr) - 1:
        rows = slice(indptr[query], indptr[query + 1])
        s, a, g = scores[rows], slopes[rows], gains[rows]
        slot = np.empty(len(s), np.int64)
        counted = number_counted(g, slot)
        starts[query] = 0.0
        if weight[query] != 0.0 and counted > 0:
            counts = Counts(
                np.empty(counted, np.int64), np.zeros(counted, np.int64), np.zeros(counted, np.int64),
                np.ones(counted, np.int64), np.ones(counted, np.int64),
            )  # fmt: skip
            size = counted * len(s)
            crossings = Crossings(np.empty(size), np.empty(size, np.int64), np.empty(size, np.int64))
            n_crossings = count_at_left_end(s, a, slot, expected, low, high, counts, crossings)
            order = np.argsort(crossings.time[:n_crossings])
            term = np.zeros(counted)
            value = first_value(g, discounts, kind, counts, term)
            starts[query] = weight[query] * value
            after = write_changes(
                a, g, weight[query], discounts, kind, slot, counts, crossings, order, term, value, times, deltas, count
            )
            if after == FULL:
                break
            count = after
        query += 1
    state[0], state[1] = query, count


@helper
def number_counted(gains: Any, slot: Any) -> int:
    """Give the documents with a gain their numbers, all others -1; return how many have one."""
    counted = 0
    for i in range(len(gains)):
        slot[i] = -1
        if gains[i] != 0.0:
            slot[i] = counted
            counted += 1
    return counted


@helper
def count_at_left_end(
    scores: Any, slopes: Any, slot: Any, expected: int, low: float, high: float, counts: Any, crossings: Any
) -> int:
    """Count the documents above each counted document just above ``low``; list the crossings below ``high``.

    Returns the number of crossings. A pair of two counted documents is seen once.
    """
    n, n_crossings = len(scores), 0
    above, hits, tied, tied_hits = counts.above, counts.hits, counts.tied, counts.tied_hits
    for i in range(n):
        x = slot[i]
        if x < 0:
            continue
        counts.document[x] = i
        s, a = scores[i], slopes[i]
        for j in range(n):
            y = slot[j]
            if j == i or (y >= 0 and j < i):
                continue
            steeper = slopes[j] - a
            if steeper == 0.0:
                ahead = s - scores[j]
                if ahead == 0.0 and expected != 0:
                    tied[x] += 1
                    if y >= 0:
                        tied_hits[x] += 1
                        tied[y] += 1
                        tied_hits[y] += 1
                    continue
                below = ahead < 0.0 or (ahead == 0.0 and j < i)
            else:
                time = (s - scores[j]) / steeper
                below = (steeper < 0.0) == (time > low)
                if low < time < high:
                    crossings.time[n_crossings], crossings.who[n_crossings], crossings.other[n_crossings] = time, x, j
                    n_crossings += 1
            if below:
                above[x] += 1
                hits[x] += 1 if y >= 0 else 0
            elif y >= 0:
                above[y] += 1
                hits[y] += 1
    return n_crossings


@helper
def first_value(gains: Any, discounts: Any, kind: int, counts: Any, term: Any) -> float:
    """Return the measure at the left end, up to the query's weight; fill in the terms of all counted documents."""
    value = 0.0
    if kind == FIRST:
        value = discount_of_first(discounts, counts)
    else:
        for u in range(len(term)):
            term[u] = term_of(gains, discounts, kind, counts, u)
            value += term[u]
    return value


@helper
def write_changes(
    slopes: Any, gains: Any, weight: float, discounts: Any, kind: int, slot: Any, counts: Any, crossings: Any,
    order: Any, term: Any, value: float, times: Any, deltas: Any, count: int,
) -> int:  # fmt: skip
    """Go through the crossings in order of time; each renews the terms of its one or two counted documents.

    Returns the number of events so far, or FULL.
    """
    above, hits = counts.above, counts.hits
    for e in range(len(order)):
        time, x, j = crossings.time[order[e]], crossings.who[order[e]], crossings.other[order[e]]
        y = slot[j]
        change = 1 if slopes[j] > slopes[counts.document[x]] else -1
        above[x] += change
        if y >= 0:
            hits[x] += change
            above[y] -= change
            hits[y] -= change
        removed, added = value, 0.0
        if kind == FIRST:
            added = value = discount_of_first(discounts, counts)
        else:
            removed, added = term[x], term_of(gains, discounts, kind, counts, x)
            term[x] = added
            if y >= 0:
                removed += term[y]
                term[y] = term_of(gains, discounts, kind, counts, y)
                added += term[y]
        delta = weight * (added - removed)
        if delta != 0.0:
            if count == len(times):
                return FULL
            times[count], deltas[count] = time, delta
            count += 1
    return count


@helper
def term_of(gains: Any, discounts: Any, kind: int, counts: Any, u: int) -> float:
    """Return what a counted document adds to the measure, in the mean over the orders of equal lines."""
    above, m, r = counts.above[u], counts.tied[u], counts.tied_hits[u]
    term = 0.0
    if kind == GAIN:
        for place in range(m):
            term += discounts[above + place]
        term *= gains[counts.document[u]] / m
    elif kind == AVERAGE:
        others = (r - 1.0) / max(m - 1.0, 1.0)
        for place in range(m):
            term += discounts[above + place] * (counts.hits[u] + 1.0 + place * others)
        term /= m
    elif kind == PAIRS:
        term = len(gains) - len(counts.document) - (above - counts.hits[u]) - 0.5 * (m - r)
    return term


@helper
def discount_of_first(discounts: Any, counts: Any) -> float:
    """Return the expected discount of the first counted document: its group of equal lines decides."""
    above = counts.above
    u = 0
    for z in range(1, len(above)):
        if above[z] < above[u]:
            u = z
    m, r = counts.tied[u], counts.tied_hits[u]
    chance, expected = 1.0, 0.0
    for place in range(m - r + 1):
        here = chance * r / (m - place)
        expected += here * discounts[above[u] + place]
        chance -= here
    return expected
