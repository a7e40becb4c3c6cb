"""Queries of different shape take different oracles."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from argrank.objectives._base import Floats, Integers, Prepared


class Routes(Prepared):
    """Several prepared oracles and, for every query, the number of the one that serves it.

    Adjacent queries of one oracle are evaluated together.
    """

    def __init__(self, oracles: Sequence[Prepared], route: Integers) -> None:
        self.indptr, self.ranks = oracles[0].indptr, any(oracle.ranks for oracle in oracles)
        self._oracles, self._route = oracles, route

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Evaluate run by run."""
        route = self._route[first:last]
        borders = [0, *(np.flatnonzero(np.diff(route)) + 1).tolist(), last - first]
        losses = np.empty(last - first)
        offset = self.indptr[first]
        for a, b in itertools.pairwise(borders):
            rows = slice(self.indptr[first + a] - offset, self.indptr[first + b] - offset)
            losses[a:b] = self._oracles[route[a]].evaluate(
                first + a, first + b, scores[rows], order[rows], gradient[rows]
            )
        return losses


def choose(oracles: Sequence[Callable[[], Prepared]], route: Integers) -> Prepared:
    """Prepare the oracles that some query takes; a single one needs no routes."""
    used = np.unique(route)
    prepared: list[Prepared] = [oracles[number]() for number in used.tolist()]
    if len(used) == 1:
        return prepared[0]
    return Routes(prepared, np.searchsorted(used, route))
