"""The positions map (phi_dorm): w · phi is the sum over the ranks r of c_r times the score there, as in DORM and ORM.

The most violated ranking maximises c · s[ranking] - a · b[ranking], with a the discounts of the ranks and b the gains:
an assignment problem. The papers need O(n³); these methods solve it exactly in microseconds:

- c = a times a constant: sort by the score less the gain;
- a table over counts per level, where it is small: the usual case, also with a decay over all ranks;
- an assignment reduced to the top documents of each level, or over all ranks where nothing is cut.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from argrank._jit import LazyKernel, kernel
from argrank._types import Filled, Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.document_sources import source_numbers
from argrank.measures.structure import greatest, level_sizes
from argrank.objectives.objective import Kernels, Prepared, Sorter
from argrank.objectives.structured.best_first import position_counts
from argrank.objectives.structured.hinge import MAX_STATES, Builder, StructuredHinge, choose, count_states
from argrank.objectives.structured.positions.assignment import position_assignment
from argrank.objectives.structured.positions.decay import decay_vector, reference_coefficients
from argrank.objectives.structured.positions.diverse import DiverseAssignment, diverse_reference

MANY_STATES = 200  # number of states above which an assignment cut at some rank is faster than the search


def prepare(hinge: StructuredHinge, data: Dataset) -> Prepared:
    """Prepare the most violated ranking less the reference ranking."""
    parts = _Parts(hinge, data)
    return LessReference(parts.most_violated(), parts.reference, parts.ideal, parts.has_pairs)


def prepare_reference(hinge: StructuredHinge, data: Dataset) -> Prepared:
    """Prepare the greatest w · phi less the reference's: over ideal rankings (tie-broken) or over all of them."""
    parts = _Parts(hinge, data)
    gains: Floats = parts.gains if hinge.bound == "tie-broken" else np.zeros_like(parts.gains)
    discounts = parts.discounts if hinge.bound == "tie-broken" else np.zeros_like(parts.discounts)
    best = BestByScore(data.indptr, gains, parts.decay, discounts, parts.sources, parts.k, parts.at_most)
    return LessReference(best, parts.reference, np.zeros_like(parts.ideal), parts.has_pairs, least=-np.inf)


class _Parts:
    """Everything that depends only on the labels."""

    def __init__(self, hinge: StructuredHinge, data: Dataset) -> None:
        longest = data.longest
        hinge.require_one_relevant(data)
        self.data, self.assignment, self.diverse = data, hinge.assignment, hinge.diverse is not False
        self.gains, self.levels = hinge.gains(data), hinge.levels(data)
        self.discounts, self.decay = hinge.discounts(longest), decay_vector(hinge, longest)
        self.has_pairs = np.asarray(np.maximum.reduceat(self.levels, data.indptr[:-1]) > 0)
        self.k, self.at_most = longest, longest
        self.sources = np.zeros(data.n_documents, np.int64)
        if not self.diverse:
            self.reference = reference_coefficients(
                hinge.reference, self.gains, data.indptr, self.decay, self.discounts
            )
            self.ideal = greatest(self.gains, self.discounts, data.indptr)
            return
        self.k, self.at_most = min(hinge.k or longest, longest), int(hinge.diverse)
        self.sources = source_numbers(data)
        self.reference, self.ideal = diverse_reference(
            data, self.gains, self.sources, self.decay, self.discounts, self.k, self.at_most, hinge.reference
        )
        if hinge.is_normalised:  # normalised by the best diverse ranking, so that it has loss 0
            share = np.divide(1.0, self.ideal, out=np.zeros_like(self.ideal), where=self.ideal > 0)
            self.gains = self.gains * np.repeat(share, data.sizes)
            self.ideal = np.where(self.ideal > 0, 1.0, 0.0)

    def most_violated(self) -> Prepared:
        """Prepare the most violated ranking."""
        indptr, gains, decay, discounts = self.data.indptr, self.gains, self.decay, self.discounts
        if self.diverse:
            return DiverseAssignment(indptr, gains, self.sources, decay, discounts, self.k, self.at_most)
        if self.assignment == "full":
            return FullAssignment(indptr, gains, decay, discounts)
        return best_assignment(self.data, gains, self.levels, decay, discounts)


def best_assignment(data: Dataset, gains: Floats, levels: Floats, decay: Floats, discounts: Floats) -> Prepared:
    """Return what maximises ``decay · s[ranking] - discounts · gains[ranking]``, exactly, for every query.

    ``decay`` and ``discounts`` go over the ranks of the longest query and never rise; ``levels`` number equal gains.
    """
    if decay[0] > 0 and np.allclose(decay * discounts[0], discounts * decay[0], rtol=1e-15, atol=0.0):
        return BySort(data.indptr, gains, decay, discounts)
    sizes = level_sizes(levels, data.indptr)
    measured = _reach(discounts)
    needed = max(measured, _reach(decay))
    n_states = count_states(sizes, measured)
    cut = np.minimum(needed, data.sizes) < data.sizes
    route = ((cut & (n_states > MANY_STATES)) | (n_states > MAX_STATES)).astype(np.int64)

    def builder(kernel: LazyKernel, k: int) -> Builder:
        constants = np.concatenate(([float(k), float(len(decay))], decay, discounts[:k]))
        return lambda indptr, own: Kernels(indptr, own, constants, kernel)

    table, assignment = builder(position_counts, measured), builder(position_assignment, needed)
    return choose((table, assignment), route, data.indptr, gains)


class BySort(Prepared):
    """The best ranking where the decay is proportional to the discounts: one sort of the shifted scores."""

    ranks = False

    def __init__(self, indptr: Integers, gains: Floats, decay: Floats, discounts: Floats) -> None:
        self.indptr, self._gains, self._decay, self._discounts = indptr, gains, decay, discounts
        self._ratio = decay[0] / discounts[0]

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Sort by ratio times score less gain, and weigh the ranks."""
        indptr = self.indptr[first : last + 1]
        keys = self._ratio * scores - self._gains[indptr[0] : indptr[-1]]
        starts, sizes = indptr[:-1] - indptr[0], np.diff(indptr)
        ranking = Sorter(indptr).descending(keys) + np.repeat(starts, sizes)
        rank = np.arange(len(scores)) - np.repeat(starts, sizes)
        gradient[ranking] = self._decay[rank]
        return np.add.reduceat(self._discounts[rank] * keys[ranking], starts)


class FullAssignment(Prepared):
    """What maximises ``decay · s[ranking] - discounts · gains[ranking]``, by SciPy on the n x n matrix E of (28)."""

    ranks = False

    def __init__(self, indptr: Integers, gains: Floats, decay: Floats, discounts: Floats) -> None:
        self.indptr, self._gains, self._decay, self._discounts = indptr, gains, decay, discounts

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Solve query by query."""
        from scipy.optimize import linear_sum_assignment

        starts = self.indptr[first : last + 1] - self.indptr[first]
        gains = self._gains[self.indptr[first] : self.indptr[last]]
        values = np.empty(last - first)
        for query, (a, b) in enumerate(itertools.pairwise(starts)):
            decay = self._decay[: b - a]
            matrix = np.outer(decay, scores[a:b]) - np.outer(self._discounts[: b - a], gains[a:b])
            ranks, documents = linear_sum_assignment(matrix, maximize=True)
            values[query] = matrix[ranks, documents].sum()
            gradient[a + documents] = decay[ranks]
        return values


class LessReference(Prepared):
    """A best assignment less the score of the reference ranking, plus the measure of the ideal one."""

    def __init__(
        self, best: Prepared, reference: Floats, ideal: Floats, counts: NDArray[np.bool_], least: float = 0.0
    ) -> None:
        self.indptr, self.ranks = best.indptr, best.ranks
        self._best, self._reference, self._ideal, self._counts = best, reference, ideal, counts
        self._least = least  # a hinge is at least 0; what is subtracted from it is not, if the reference is not ideal

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Subtract; queries of one level have loss 0."""
        indptr = self.indptr[first : last + 1]
        starts, sizes = indptr[:-1] - indptr[0], np.diff(indptr)
        centred = scores - np.repeat(np.add.reduceat(scores, starts) / sizes, sizes)  # for accuracy of both sums
        losses = self._best.evaluate(first, last, centred, order, gradient)
        reference = self._reference[indptr[0] : indptr[-1]]
        losses = losses + self._ideal[first:last] - np.add.reduceat(reference * centred, starts)
        gradient -= reference
        counts = self._counts[first:last]
        if not counts.all():
            gradient *= np.repeat(counts, sizes)
            losses *= counts
        return np.maximum(losses, self._least)


def _reach(weights: Floats) -> int:
    """Return the number of ranks up to the last that is not 0."""
    return int(np.flatnonzero(weights)[-1]) + 1 if weights.any() else 1


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
