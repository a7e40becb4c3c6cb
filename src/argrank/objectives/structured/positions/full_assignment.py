"""The most violated ranking the plain way: an assignment of all documents to all ranks, for comparison."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.optimize import linear_sum_assignment

from argrank._types import Floats, Integers
from argrank.objectives.objective import Prepared


class FullAssignment(Prepared):
    """What maximises ``decay · s[ranking] - worth · gains[ranking]``, by SciPy on the n x n matrix E of (28)."""

    ranks = False

    def __init__(self, indptr: Integers, gains: Floats, decay: Floats, worth: Floats) -> None:
        self.indptr, self._gains, self._decay, self._worth = indptr, gains, decay, worth

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Solve query by query."""
        starts = self.indptr[first : last + 1] - self.indptr[first]
        gains = self._gains[self.indptr[first] : self.indptr[last]]
        values = np.empty(last - first)
        for query, (a, b) in enumerate(itertools.pairwise(starts)):
            decay = self._decay[: b - a]
            matrix = np.outer(decay, scores[a:b]) - np.outer(self._worth[: b - a], gains[a:b])
            ranks, documents = linear_sum_assignment(matrix, maximize=True)
            values[query] = matrix[ranks, documents].sum()
            gradient[a + documents] = decay[ranks]
        return values
