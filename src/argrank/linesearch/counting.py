"""Measures of the whole list: track, along the line, the number of documents above each counted document.

For every counted document (a relevant one, or one with a gain) all its crossings are listed; in order of time, each of
them changes the number of documents above it by one. That takes O(R n log n) for R such documents of n and is exact
even if lines coincide, since the counts after a point do not depend on the order in which the crossings of that point
are taken. The crossings of all queries are sorted at once, so the output is also in order of time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from argrank._jit import helper, kernel
from argrank._types import Filled, FilledMatrix, Floats, Integers

#: Sum of gain times discount of the rank; average precision; expected reciprocal rank; pairs in right order.
GAIN, AVERAGE, CASCADE, PAIRS = 0, 1, 2, 3


class Rules(NamedTuple):
    """The contribution of a document to the measure, see ``term_of``."""

    kind: Any
    gain: Any  # of a row; a document counts if it is not 0
    level: Any  # the number of a row's gain among the different ones; only for CASCADE
    powers: Any  # of 1 - gain, one row for each level; only for CASCADE
    discounts: Any
    most: Any  # of a query: a document's contribution with nothing against it; only for PAIRS
    limit: Any  # of a query: most documents that count against it


class Counts(NamedTuple):
    """Of each row: how many documents are above it and how many lines equal its own."""

    above: Any
    hits: Any  # counted documents above
    tied: Any  # documents of its line, itself included
    tied_hits: Any  # counted documents of its line
    by_level: Any  # counted documents above, by their level; only for CASCADE


@kernel()
def list_crossings(
    scores: Floats,
    slopes: Floats,
    gain: Floats,
    level: Integers,
    weight: Floats,
    indptr: Integers,
    kind: int,
    expected: int,
    low: float,
    high: float,
    above: Filled[np.int32],
    hits: Filled[np.int32],
    tied: Filled[np.int32],
    tied_hits: Filled[np.int32],
    by_level: FilledMatrix[np.int32],
    times: Filled[np.float64],
    pairs: Filled[np.int64],
) -> int:
    """Count the documents above each counted one just above ``low``; list the crossings below ``high``.

    Documents whose lines coincide are ranked by row, or, where ``expected`` is not 0, counted as tied. Returns the
    number of crossings; a pair is the row that rises, in the upper half of the bits, and the one that falls. A pair of
    two counted documents is listed once; for PAIRS this does not matter.
    """
    n_crossings, first_row = 0, indptr[0]
    for query in range(len(indptr) - 1):
        if weight[query] == 0.0:
            continue
        for i in range(indptr[query] - first_row, indptr[query + 1] - first_row):
            if gain[i] == 0.0:
                continue
            s, a = scores[i], slopes[i]
            for j in range(indptr[query] - first_row, indptr[query + 1] - first_row):
                counted = gain[j] != 0.0
                if j == i or (counted and (j < i or kind == PAIRS)):
                    continue
                steeper = slopes[j] - a
                if steeper == 0.0:
                    ahead = s - scores[j]
                    if ahead == 0.0 and expected != 0:
                        tied[i] += 1
                        if counted:
                            tied_hits[i] += 1
                            tied[j] += 1
                            tied_hits[j] += 1
                        continue
                    below = ahead < 0.0 or (ahead == 0.0 and j < i)
                else:
                    time = (s - scores[j]) / steeper
                    below = (steeper < 0.0) == (time > low)
                    if low < time < high:
                        up, down = (j, i) if steeper > 0.0 else (i, j)
                        times[n_crossings], pairs[n_crossings] = time, (up + first_row) << 32 | (down + first_row)
                        n_crossings += 1
                under, over = (i, j) if below else (j, i)
                if gain[under] != 0.0:
                    above[under] += 1
                    if gain[over] != 0.0:
                        hits[under] += 1
                        if kind == CASCADE:
                            by_level[under, level[over]] += 1
    return n_crossings


@kernel()
def follow_counts(
    kind: int,
    gain: Floats,
    level: Integers,
    powers: FilledMatrix[np.float64],
    discounts: Floats,
    most: Floats,
    limit: Floats,
    weight: Floats,
    query: Integers,
    above: Filled[np.int32],
    hits: Filled[np.int32],
    tied: Filled[np.int32],
    tied_hits: Filled[np.int32],
    by_level: FilledMatrix[np.int32],
    pairs: Integers,
    order: Integers,
    deltas: Filled[np.float64],
) -> float:
    """Process the crossings in ``order`` (of time); fill the change of each, and return the value before the first.

    A crossing updates the terms of its one or two counted documents.
    """
    rules = Rules(kind, gain, level, powers, discounts, most, limit)
    counts = Counts(above, hits, tied, tied_hits, by_level)
    term, start = np.zeros(len(gain)), 0.0
    for i in range(len(gain)):
        if gain[i] != 0.0 and weight[query[i]] != 0.0:
            term[i] = term_of(rules, counts, i, query[i])
            start += weight[query[i]] * term[i]
    for e in range(len(order)):
        pair = pairs[order[e]]
        up, down = pair >> 32, pair & 0xFFFFFFFF
        q, change = query[up], 0.0
        rises, falls = gain[up] != 0.0, gain[down] != 0.0
        if rises and falls:
            hits[up] -= 1
            hits[down] += 1
            if kind == CASCADE:
                by_level[up, level[down]] -= 1
                by_level[down, level[up]] += 1
        if rises:
            above[up] -= 1
            renewed = term_of(rules, counts, up, q)
            change, term[up] = renewed - term[up], renewed
        if falls:
            above[down] += 1
            renewed = term_of(rules, counts, down, q)
            change, term[down] = change + (renewed - term[down]), renewed
        deltas[e] = weight[q] * change
    return start


@helper
def term_of(rules: Rules, counts: Counts, i: int, query: int) -> Any:
    """Return the contribution of a counted document to the measure, averaged over the orders of equal lines.

    Of m documents of one line, r of them counted, each is at every place of the group with chance 1 / m.
    """
    kind, above, m = rules.kind, counts.above[i], counts.tied[i]
    if kind == CASCADE:
        term = rules.gain[i] * rules.discounts[above]
        for number in range(len(rules.powers)):
            term *= rules.powers[number, counts.by_level[i, number]]
    elif kind == PAIRS:
        term, against, tied = 0.0, above - counts.hits[i], m - counts.tied_hits[i]
        for place in range(tied + 1):
            term += rules.most[query] - min(float(against + place), rules.limit[query])
        term /= tied + 1.0
    elif m == 1:
        term = rules.discounts[above] * (rules.gain[i] if kind == GAIN else counts.hits[i] + 1.0)
    else:
        term, others = 0.0, (counts.tied_hits[i] - 1.0) / (m - 1.0)
        for place in range(m):
            hit = rules.gain[i] if kind == GAIN else counts.hits[i] + 1.0 + place * others
            term += rules.discounts[above + place] * hit
        term /= m
    return term
