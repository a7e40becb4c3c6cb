"""Queries of different shape take different oracles; what tables over the levels of documents would cost."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from argrank._types import Floats, Integers
from argrank.objectives.objective import Prepared

MAX_STATES = 1_000_000  # of a table over how many documents of each level were placed

#: Prepares an oracle for some queries alone: their offsets and gains.
Builder = Callable[[Integers, Floats], Prepared]


def choose(builders: Sequence[Builder], route: Integers, indptr: Integers, gains: Floats) -> Prepared:
    """Send every query to the oracle of its number; one that serves all queries needs no routes."""
    if (route == route[0]).all():
        return builders[int(route[0])](indptr, gains)
    return Routes(builders, route, indptr, gains)


class Routes(Prepared):
    """Several oracles, each prepared for the queries it serves.

    The rows of a block are gathered oracle by oracle, so that each is entered once a block: short runs of queries would
    pay for entering compiled code again and again.
    """

    def __init__(self, builders: Sequence[Builder], route: Integers, indptr: Integers, gains: Floats) -> None:
        self.indptr, self._route = indptr, route
        sizes = np.diff(indptr)
        self._row_route = np.repeat(route, sizes)
        self._oracles: dict[int, Prepared] = {}
        self._number = np.empty(len(route), np.int64)  # of a query among those of its oracle
        for chosen in np.unique(route).tolist():
            mine = route == chosen
            self._number[mine] = np.arange(mine.sum())
            offsets = np.concatenate(([0], np.cumsum(sizes[mine])))
            self._oracles[chosen] = builders[chosen](offsets, gains[self._row_route == chosen])
        self.ranks = any(oracle.ranks for oracle in self._oracles.values())

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Evaluate oracle by oracle."""
        route = self._route[first:last]
        row_route = self._row_route[self.indptr[first] : self.indptr[last]]
        losses = np.empty(last - first)
        for chosen, oracle in self._oracles.items():
            queries = np.flatnonzero(route == chosen)
            if len(queries) == 0:
                continue
            rows = np.flatnonzero(row_route == chosen)
            start, own = self._number[first + queries[0]], np.empty(len(rows))
            own_order = order[rows] if len(order) > 0 else order
            losses[queries] = oracle.evaluate(start, start + len(queries), scores[rows], own_order, own)
            gradient[rows] = own
        return losses


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
