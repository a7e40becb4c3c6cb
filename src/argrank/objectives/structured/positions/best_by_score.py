"""The best ranking by score among those that a bound compares with: all rankings, or the ideal ones alone."""

from __future__ import annotations

import numpy as np

from argrank._jit import kernel
from argrank._types import Filled, Floats, Integers
from argrank.objectives.objective import Prepared


@kernel()
def best_by_score(
    scores: Floats,
    order: Integers,
    gains: Floats,
    sources: Integers,
    indptr: Integers,
    decay: Floats,
    plateau: Integers,
    k: int,
    at_most: int,
    values: Filled[np.float64],
    gradient: Filled[np.float64],
) -> None:
    """Fill in the greatest sum of decay times score over the rankings of k documents that have the greatest a · b.

    A ranking holds at most ``at_most`` documents of a source. The documents are taken by gain, equal ones by score;
    ranks of one plateau have one discount, so documents on a plateau are sorted only by score (equation 21). With equal
    gains and one plateau this is the ranking by score (equation 22). Documents of equal score on one plateau share
    their weights: a subgradient like any other, and one that does not depend on the order of the rows (there are
    documents with the same features and different labels).
    """
    for query in range(len(values)):
        a, b = indptr[query] - indptr[0], indptr[query + 1] - indptr[0]
        n = b - a
        different = np.unique(gains[a:b])
        n_levels = len(different)
        level = np.searchsorted(different, gains[a:b])
        start = np.zeros(n_levels + 1, np.int64)  # where the documents of a level begin, the highest level first
        for row in range(n):
            start[n_levels - level[row]] += 1
        for one in range(n_levels):
            start[one + 1] += start[one]
        sequence = np.empty(n, np.int64)
        for place in range(n):
            row = order[a + place]
            one = n_levels - 1 - level[row]
            sequence[start[one]] = row
            start[one] += 1
        held = np.zeros(n, np.int64)  # by source
        on = np.full(n, -1)  # the plateau of a document that was taken
        free = np.full(n + 1, n)  # by plateau: its next free rank
        taken = 0
        for place in range(n):
            row = sequence[place]
            gradient[a + row] = 0.0
            if taken < k and held[sources[a + row]] < at_most:
                held[sources[a + row]] += 1
                on[row] = plateau[taken]
                free[on[row]] = min(free[on[row]], taken)
                taken += 1
        value = 0.0
        for place in range(n):
            row = order[a + place]
            if on[row] >= 0:
                weight = decay[free[on[row]]]
                free[on[row]] += 1
                gradient[a + row] = weight
                value += weight * scores[a + row]
        values[query] = value
        close = 1e-12 * max(abs(scores[a + order[a]]), abs(scores[a + order[b - 1]]))
        total, count = np.zeros(n + 1), np.zeros(n + 1)  # by plateau, over a run of equal scores
        start_of_run = 0
        for place in range(1, n + 1):
            if place < n and scores[a + order[a + place - 1]] - scores[a + order[a + place]] <= close:
                continue
            if place - start_of_run > 1:
                for other in range(start_of_run, place):
                    row = order[a + other]
                    total[on[row]] += gradient[a + row]
                    count[on[row]] += 1.0
                for other in range(start_of_run, place):
                    row = order[a + other]
                    gradient[a + row] = total[on[row]] / count[on[row]]
                total[:], count[:] = 0.0, 0.0
            start_of_run = place


class BestByScore(Prepared):
    """The greatest ``decay · scores`` of the rankings that ``best_by_score`` goes over.

    Parameters
    ----------
    gains : array
        b of every row; zeros to allow every ranking.
    discounts : array
        a of the ranks, for their plateaus; constant to allow every ranking.
    sources : array of int
        Number of a row's source within its query.
    k, at_most : int
        Ranks that count, and how many documents of a source may be at them.
    """

    ranks = True

    def __init__(
        self, indptr: Integers, gains: Floats, decay: Floats, discounts: Floats, sources: Integers, k: int, at_most: int
    ) -> None:
        self.indptr, self._gains, self._decay, self._sources = indptr, gains, decay, sources
        self._plateau = np.concatenate(([0], np.cumsum(np.diff(discounts) != 0))).astype(np.int64)
        self._k, self._at_most = k, at_most

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Rank by gain, plateau and score."""
        indptr, values = self.indptr[first : last + 1], np.empty(last - first)
        rows = slice(int(indptr[0]), int(indptr[-1]))
        best_by_score(
            scores, order, self._gains[rows], self._sources[rows], indptr, self._decay, self._plateau,
            self._k, self._at_most, values, gradient,
        )  # fmt: skip
        return values
