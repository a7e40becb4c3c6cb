"""Measures that look at the whole list: count, along the line, the documents above each document that counts.

For every document that counts (a relevant one, or one with a gain) all its crossings are put in order; at each of them
the number of documents above it changes by one. That takes O(R n log n) for R such documents of n and is exact whatever
lines coincide, since the count after a point does not depend on the order in which the crossings of that point are
taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._jit import helper, kernel, read_only
from argrank._types import Floats, Integers

#: Sum of worth times discount of the rank; average precision; discount of the first; pairs in right order.
GAIN, AVERAGE, FIRST, PAIRS = 0, 1, 2, 3


def _signature(types: Any) -> Any:
    read, write = read_only(types), types.float64[::1]
    real, whole = types.float64, types.int64
    rows = (read, read, read, read, read, read_only(types, "int64"))
    return types.void(*rows, whole, whole, real, real, write, write, write, types.int64[::1])


@helper
def count_at_left_end(
    scores: Any, slopes: Any, slot: Any, document: Any, expected: int, low: float, high: float, above: Any, hits: Any,
    tied: Any, tied_hits: Any, crossing: Any, who: Any, other: Any,
) -> int:  # fmt: skip
    """Count the documents above each counted document just above ``low``; list the crossings below ``high``.

    Returns the number of crossings. A pair of two counted documents is seen once.
    """
    n, counted = len(scores), len(document)
    n_crossings = 0
    for x in range(counted):
        i = document[x]
        s, a = scores[i], slopes[i]
        for j in range(n):
            y = slot[j]
            if j == i or (y >= 0 and j < i):
                continue  # a pair of two counted documents is seen once
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
                    crossing[n_crossings], who[n_crossings], other[n_crossings] = time, x, j
                    n_crossings += 1
            if below:
                above[x] += 1
                hits[x] += 1 if y >= 0 else 0
            elif y >= 0:
                above[y] += 1
                hits[y] += 1
    return n_crossings


@helper
def discount_of_first(discounts: Any, above: Any, tied: Any, tied_hits: Any) -> float:
    """Return the expected discount of the first counted document: its group of equal lines decides."""
    u = 0
    for z in range(1, len(above)):
        if above[z] < above[u]:
            u = z
    chance, expected = 1.0, 0.0
    for place in range(tied[u] - tied_hits[u] + 1):
        here = chance * tied_hits[u] / (tied[u] - place)
        expected += here * discounts[above[u] + place]
        chance -= here
    return expected


@kernel(_signature)
def count_above(
    scores: Floats,
    slopes: Floats,
    worth: Floats,
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
    n_queries = len(indptr) - 1
    query, count, capacity = state[0], state[1], len(times)
    while query < n_queries:
        first, n = indptr[query], indptr[query + 1] - indptr[query]
        scale = weight[query]
        before = count
        starts[query] = 0.0
        slot = np.full(n, -1)
        counted = 0
        for i in range(n):
            if worth[first + i] != 0.0:
                slot[i] = counted
                counted += 1
        if scale == 0.0 or counted == 0:
            query += 1
            continue
        document = np.empty(counted, np.int64)
        for i in range(n):
            if slot[i] >= 0:
                document[slot[i]] = i
        above, hits = np.zeros(counted, np.int64), np.zeros(counted, np.int64)  # all documents, and counted ones
        tied, tied_hits = np.ones(counted, np.int64), np.ones(counted, np.int64)  # of its group, itself included
        crossing = np.empty(counted * n)
        who, other = np.empty(counted * n, np.int64), np.empty(counted * n, np.int64)
        rows = slice(first, first + n)
        n_crossings = count_at_left_end(
            scores[rows], slopes[rows], slot, document, expected, low, high, above, hits, tied, tied_hits, crossing,
            who, other,
        )  # fmt: skip

        # After the first round (e = -1, all documents) every crossing renews the terms of its one or two documents.
        order = np.argsort(crossing[:n_crossings])
        term = np.zeros(counted)
        value = 0.0
        full = False
        for e in range(-1, n_crossings):
            x, y, time = 0, counted - 1, low
            if e >= 0:
                time, x, j = crossing[order[e]], who[order[e]], other[order[e]]
                y = slot[j]
                change = 1 if slopes[first + j] > slopes[first + document[x]] else -1
                above[x] += change
                if y >= 0:
                    hits[x] += change
                    above[y] -= change
                    hits[y] -= change
            removed, added = 0.0, 0.0
            for z in range(counted if e < 0 else 2):
                u = z if e < 0 else (x if z == 0 else y)
                if u < 0:
                    continue
                removed += term[u]
                m, r = tied[u], tied_hits[u]
                fresh = 0.0
                if kind == GAIN:
                    for place in range(m):
                        fresh += discounts[above[u] + place]
                    fresh *= worth[first + document[u]] / m
                elif kind == AVERAGE:
                    others = (r - 1.0) / max(m - 1.0, 1.0)
                    for place in range(m):
                        fresh += discounts[above[u] + place] * (hits[u] + 1.0 + place * others)
                    fresh /= m
                elif kind == PAIRS:
                    fresh = n - counted - (above[u] - hits[u]) - 0.5 * (m - r)
                term[u] = fresh
                added += fresh
            if kind == FIRST:
                added = discount_of_first(discounts, above, tied, tied_hits)
                removed = value
                value = added
            delta = scale * (added - removed)
            if e < 0:
                starts[query] = delta
            elif delta != 0.0:
                if count == capacity:
                    full = True
                    break
                times[count], deltas[count] = time, delta
                count += 1
        if full:
            state[0], state[1] = query, before
            return
        query += 1
    state[0], state[1] = query, count
