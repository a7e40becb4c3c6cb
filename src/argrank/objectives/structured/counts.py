"""States of the tables over counts per level."""

from __future__ import annotations

import numpy as np

from argrank.objectives._base import Integers

MAX_STATES = 1_000_000


def count_states(sizes: Integers, k: int) -> int:
    """Return in how many ways at most k documents can be taken from levels of these sizes; C(k+L, L) for large ones.

    >>> count_states(np.array([100, 100, 100, 100, 100]), 10)
    3003
    """
    k = min(k, int(sizes.sum()))
    ways = np.zeros(k + 1, object)  # exact beyond 64 bits: by how many documents were taken
    ways[0] = 1
    for size in sizes.tolist():
        total = np.cumsum(ways)
        ways = total.copy()
        if size + 1 <= k:
            ways[size + 1 :] -= total[: k - size]
    return int(ways.sum())
