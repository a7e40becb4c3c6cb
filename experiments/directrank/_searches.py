"""The two searches that the paper compares, for one query: its Algorithm 2, and sorting all crossings.

Both count the jumping points of the first k: the points along a line in score space at which the order of the first k
documents changes. Algorithm 2 is as printed, so it is right only where no three lines meet in a point.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._jit import kernel, read_only
from argrank._types import Floats, Integers


def _signature(types: Any) -> Any:
    return types.int64(read_only(types), read_only(types), types.int64)


def _ordered(types: Any) -> Any:
    return types.int64(read_only(types), read_only(types), types.int64, types.int64[::1])


@kernel(_ordered)
def algorithm_2(scores: Floats, slopes: Floats, k: int, order: Integers) -> int:
    """Count by the paper's search, which scans all documents for every jumping point; fill in the final order."""
    n = len(scores)
    by_score = np.argsort(-scores, kind="mergesort")
    order[:] = by_score[np.argsort(slopes[by_score], kind="mergesort")]  # the ranking at minus infinity
    now, count = -np.inf, 0
    while True:
        earliest, above, below = np.inf, -1, -1
        for p in range(k - 1):
            i, j = order[p], order[p + 1]
            if slopes[j] != slopes[i]:
                time = (scores[i] - scores[j]) / (slopes[j] - slopes[i])
                if now < time < earliest:
                    earliest, above, below = time, p, p + 1
        i = order[k - 1]
        for p in range(k, n):
            j = order[p]
            if slopes[j] != slopes[i]:
                time = (scores[i] - scores[j]) / (slopes[j] - slopes[i])
                if now < time < earliest:
                    earliest, above, below = time, k - 1, p
        if above < 0:
            return count
        now = earliest
        order[above], order[below] = order[below], order[above]
        count += 1


@kernel(_signature)
def exhaustive(scores: Floats, slopes: Floats, k: int) -> int:
    """Count by all crossings of two documents, sorted, each a swap of neighbours."""
    n = len(scores)
    order = np.argsort(slopes, kind="mergesort")
    place = np.empty(n, np.int64)
    for p in range(n):
        place[order[p]] = p
    times = np.empty(n * (n - 1) // 2)
    one, two = np.empty(len(times), np.int64), np.empty(len(times), np.int64)
    found = 0
    for i in range(n):
        for j in range(i):
            if slopes[i] != slopes[j]:
                times[found] = (scores[i] - scores[j]) / (slopes[j] - slopes[i])
                one[found], two[found] = i, j
                found += 1
    count = 0
    for e in np.argsort(times[:found], kind="mergesort"):
        i, j = one[e], two[e]
        place[i], place[j] = place[j], place[i]
        if min(place[i], place[j]) < k:
            count += 1
    return count
