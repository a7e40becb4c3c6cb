"""Sizes of the tables over how many documents of each level were placed."""

from __future__ import annotations

import functools

import numpy as np

from argrank._types import Floats, Integers

MAX_STATES = 1_000_000


def level_sizes(levels: Floats, indptr: Integers) -> Integers:
    """Return the number of rows of every level, one query a row; ``levels`` are level numbers."""
    n_queries, n_levels = len(indptr) - 1, int(levels.max()) + 1
    query = np.repeat(np.arange(n_queries), np.diff(indptr))
    sizes = np.bincount(query * n_levels + levels.astype(np.int64), minlength=n_queries * n_levels)
    return sizes.reshape(n_queries, n_levels)


def count_states(sizes: Integers, k: int) -> Integers:
    """Return, for every query, in how many ways at most k documents can be taken from levels of these sizes.

    For levels of k documents and more it is C(k + L, L). Numbers beyond 2^62 are cut there.

    >>> count_states(np.array([[100, 100, 100, 100, 100], [1, 1, 0, 0, 0]]), 10)
    array([3003,    4])
    """
    different, which = np.unique(np.minimum(sizes, k), axis=0, return_inverse=True)
    counts = np.array([_ways(tuple(row), k) for row in different.tolist()])
    return counts[which.ravel()]


@functools.lru_cache(maxsize=4096)
def _ways(sizes: tuple[int, ...], k: int) -> int:
    ways = [1]  # by the number of documents taken; Python's integers do not overflow
    for size in sizes:
        length = min(len(ways) + size, k + 1)
        ways = [sum(ways[max(taken - size, 0) : taken + 1]) for taken in range(length)]
    return min(sum(ways), 1 << 62)
