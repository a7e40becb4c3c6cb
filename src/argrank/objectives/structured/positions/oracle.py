"""The positions map (phi_dorm): w · phi is the sum over the ranks r of c_r times the score there, as in DORM and ORM.

The most violated ranking maximises c · s[ranking] - a · b[ranking], with a the worth of the ranks and b the gains over
the best DCG: an assignment problem, which these routes solve exactly in microseconds where the paper needs O(n³):

- c = a times a constant: sort by the score less the gain;
- a table over counts per level, where it is small: the usual case, also with a decay over all ranks;
- an assignment reduced to the top documents of each level, or over all ranks where nothing is cut.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from argrank._jit import LazyKernel
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.errors import InputError
from argrank.objectives._sorting import Sorter
from argrank.objectives.objective import Kernels, Prepared
from argrank.objectives.structured.level_counts import MAX_STATES, count_states, level_sizes
from argrank.objectives.structured.positions.assignment import position_assignment
from argrank.objectives.structured.positions.count_table import position_counts
from argrank.objectives.structured.positions.decay import decay_vector
from argrank.objectives.structured.positions.reference import reference_coefficients
from argrank.objectives.structured.problem import Problem
from argrank.objectives.structured.routing import Builder, choose

MANY_STATES = 200  # from here on an assignment cut at some rank is faster than the search


def prepare(problem: Problem, data: Dataset) -> Prepared:
    """Choose a route for every query and subtract the reference ranking."""
    if problem.kind == "RR":
        require_single_good(problem, data)
    gains, decay, worth = problem.gains(data), *_weights(problem, data)
    levels = problem.levels(data)
    best = best_assignment(data, gains, levels, decay, worth)
    reference = reference_coefficients(problem.reference, gains, data.indptr, decay, worth)
    ideal = np.where(np.maximum.reduceat(gains, data.indptr[:-1]) > 0, 1.0, 0.0)
    return LessReference(best, reference, ideal, has_pairs(levels, data.indptr))


def prepare_reference(problem: Problem, data: Dataset) -> Prepared:
    """Prepare the greatest w · phi, that of the ranking by score, less the reference's."""
    gains, decay, worth = problem.gains(data), *_weights(problem, data)
    reference = reference_coefficients(problem.reference, gains, data.indptr, decay, worth)
    best = BySort(data.indptr, np.zeros(data.n_documents), decay, decay)
    return LessReference(best, reference, np.zeros(data.n_queries), has_pairs(problem.levels(data), data.indptr))


def best_assignment(data: Dataset, gains: Floats, levels: Floats, decay: Floats, worth: Floats) -> Prepared:
    """Return what maximises ``decay · s[ranking] - worth · gains[ranking]``, exactly, for every query.

    ``decay`` and ``worth`` go over the ranks of the longest query and never rise; ``levels`` number equal gains.
    """
    if _proportional(decay, worth):
        return BySort(data.indptr, gains, decay, worth)
    sizes = level_sizes(levels, data.indptr)
    measured = _reach(worth)
    needed = max(measured, _reach(decay))
    n_states = count_states(sizes, measured)
    cut = np.minimum(needed, data.sizes) < data.sizes
    route = ((cut & (n_states > MANY_STATES)) | (n_states > MAX_STATES)).astype(np.int64)

    def builder(kernel: LazyKernel, k: int) -> Builder:
        constants = np.concatenate(([float(k), float(len(decay))], decay, worth[:k]))
        return lambda indptr, own: Kernels(indptr, own, constants, kernel)

    table, assignment = builder(position_counts, measured), builder(position_assignment, needed)
    return choose((table, assignment), route, data.indptr, gains)


class BySort(Prepared):
    """The best ranking where the decay is proportional to the worth of the ranks: one sort of the shifted scores."""

    ranks = False

    def __init__(self, indptr: Integers, gains: Floats, decay: Floats, worth: Floats) -> None:
        self.indptr, self._gains, self._decay, self._worth = indptr, gains, decay, worth
        self._ratio = decay[0] / worth[0]

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Sort by ratio times score less gain, and weigh the ranks."""
        indptr = self.indptr[first : last + 1]
        keys = self._ratio * scores - self._gains[indptr[0] : indptr[-1]]
        starts, sizes = indptr[:-1] - indptr[0], np.diff(indptr)
        ranking = Sorter(indptr).descending(keys) + np.repeat(starts, sizes)
        rank = np.arange(len(scores)) - np.repeat(starts, sizes)
        gradient[ranking] = self._decay[rank]
        return np.add.reduceat(self._worth[rank] * keys[ranking], starts)


class LessReference(Prepared):
    """A best assignment less the score of the reference ranking, plus the measure of the ideal one."""

    def __init__(self, best: Prepared, reference: Floats, ideal: Floats, counts: NDArray[np.bool_]) -> None:
        self.indptr, self.ranks = best.indptr, best.ranks
        self._best, self._reference, self._ideal, self._counts = best, reference, ideal, counts

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Subtract; queries of one level have nothing to lose."""
        indptr = self.indptr[first : last + 1]
        starts, sizes = indptr[:-1] - indptr[0], np.diff(indptr)
        centred = scores - np.repeat(np.add.reduceat(scores, starts) / sizes, sizes)  # both sums are better for it
        losses = self._best.evaluate(first, last, centred, order, gradient)
        reference = self._reference[indptr[0] : indptr[-1]]
        losses = losses + self._ideal[first:last] - np.add.reduceat(reference * centred, starts)
        gradient -= reference
        counts = self._counts[first:last]
        if not counts.all():
            gradient *= np.repeat(counts, sizes)
            losses *= counts
        return np.maximum(losses, 0.0)


def _weights(problem: Problem, data: Dataset) -> tuple[Floats, Floats]:
    longest = int(data.sizes.max())
    return decay_vector(problem, longest), problem.worth(longest)


def _reach(weights: Floats) -> int:
    """Return the number of ranks up to the last that is not 0."""
    return int(np.flatnonzero(weights)[-1]) + 1 if weights.any() else 1


def _proportional(decay: Floats, worth: Floats) -> bool:
    return bool(decay[0] > 0 and np.allclose(decay * worth[0], worth * decay[0], rtol=1e-15, atol=0.0))


def has_pairs(levels: Floats, indptr: Integers) -> NDArray[np.bool_]:
    """Tell which queries have documents of different levels."""
    return np.asarray(np.maximum.reduceat(levels, indptr[:-1]) > 0)


def require_single_good(problem: Problem, data: Dataset) -> None:
    """Refuse queries with several relevant documents, which the reciprocal rank on positions cannot express."""
    n_goods = np.add.reduceat(problem.relevance(data), data.indptr[:-1])
    worst = int(n_goods.argmax())
    if n_goods[worst] > 1:
        raise InputError(
            f"{problem.name}: expected at most one relevant document a query, since the reciprocal rank on positions "
            f"counts every one, got {n_goods[worst]:.0f} in query {data.query_ids[worst]}; use svm-mrr"
        )
