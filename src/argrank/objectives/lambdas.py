"""LambdaRank's gradients: pairwise logistic, each pair weighted by the change of the measure when it is swapped.

With the documents of a query sorted by score, the pair of ranks i < j counts where i is among the first ``truncation``
ranks and the labels differ. With sigmoid s, rho = 1 / (1 + exp(s * (score of better - score of worse))) and the
measure's change delta, the better document's gradient falls by s * rho * delta, the worse one's rises by it, and both
curvatures grow by s^2 * rho * (1 - rho) * delta. ``normalised`` is LightGBM's: delta is divided by 0.01 + |difference
of scores| and a query's gradients by their sum S over log2(1 + S).

For products a · b such as NDCG, delta is the mean over all orders of the documents of equal score, so the order of the
rows does not matter, even in the first round, when all scores are equal. For other measures equal scores keep the order
of their rows. If rows have weights, which are scaled to mean 1, delta is multiplied by those of both documents.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from argrank._declared import Count, Positive, check_fields
from argrank._jit import kernel, own_type, read_only
from argrank._threads import map_threads
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.grouping import block_borders
from argrank.errors import OptionError
from argrank.measures.conventions import Convention, make_convention
from argrank.measures.function import FunctionMeasure, errors_of
from argrank.measures.measure import Measure
from argrank.measures.names import measure as parse_measure
from argrank.measures.structure import Structure
from argrank.objectives.lambda_kernel import KINDS, lambda_gradients
from argrank.objectives.objective import (
    Objective,
    Prepared,
    Sorter,
    descending,
    query_shares,
    refuse_row_weights,
    row_gains,
)


@dataclass(frozen=True, kw_only=True)
class LambdaForces(Objective):
    """LambdaRank's forces (Burges et al. 2006) as a gradient that is valid between changes of the ranking.

    With the weights |change of the measure| fixed at the current ranking, the forces are the gradient of the weighted
    logistic loss. That loss jumps wherever two documents swap, so no function of the scores has these gradients
    everywhere and a line search cannot rely on it. For products a · b the weights of documents of equal score are means
    over their orders. Unlike LambdaMART's, the forces are not normalised.
    """

    name: ClassVar[str] = "lambda forces"
    convex: ClassVar[bool] = False

    measure: Measure
    convention: Convention

    def __post_init__(self) -> None:
        _structure(self.measure, self.convention)

    def prepare(self, data: Dataset) -> Prepared:
        """Find gains, discounts and divisors."""
        refuse_row_weights(data, self.name)
        structure = _structure(self.measure, self.convention)
        return PreparedForces(structure, data, row_gains(structure, data, self.name))


class PreparedForces(Prepared):
    """LambdaRank's forces prepared for one Dataset."""

    ranks = True

    def __init__(self, structure: Structure, data: Dataset, gains: Floats) -> None:
        self.indptr, self._kind = data.indptr, KINDS[structure.kind]
        self._gains = np.ascontiguousarray(gains)
        self._by_gain = descending(self._gains, data.indptr)
        self._scale = structure.factors(data.y, data.indptr)
        self._discounts = structure.discounts(data.longest)
        self._truncation = int(np.count_nonzero(self._discounts))  # past the cut-off no swap changes anything

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Return the weighted logistic losses of a block of queries and fill in the forces."""
        indptr, losses = self.indptr[first : last + 1], np.empty(last - first)
        gains = self._gains[indptr[0] : indptr[-1]]
        by_gain, forces = self._by_gain[indptr[0] : indptr[-1]], (gradient, np.empty(len(scores)), losses)
        lambda_gradients(
            scores, order, by_gain, gains, np.empty(0), self._scale[first:last], indptr, self._discounts, self._kind,
            self._truncation, 1.0, 0, *forces,
        )  # fmt: skip
        return losses


def has_swaps(measure: Measure) -> bool:
    """Tell whether the change of a measure by a swap can be computed, by formula or by swapping."""
    return measure.of_labels if isinstance(measure, FunctionMeasure) else has_lambdas(measure)


def has_lambdas(measure: Measure) -> bool:
    """Tell whether there is a formula for the change of a measure by a swap."""
    structure = measure.structure(make_convention("default"))
    return structure is not None and structure.kind in KINDS


def _structure(measure: Measure, convention: Convention) -> Structure:
    structure = measure.structure(convention)
    if structure is None or structure.kind not in KINDS:
        raise OptionError(
            f"lambdas: expected a measure that is a sum over ranks, such as NDCG, AP, RR or ERR, got {measure.name}"
        )
    return structure


@dataclass(frozen=True)
class Lambdas:
    """LambdaRank's gradients for a measure, for growing trees; they are not the gradient of any function.

    As in LightGBM, ``truncation`` replaces the cut-off of a product such as NDCG@k: documents at all ranks are used.
    """

    measure: Any = "ndcg@10"
    truncation: Count = 30
    sigmoid: Positive = 1.0
    normalised: bool = True

    def prepare(self, data: Dataset, n_jobs: int | None = None) -> PreparedLambdas:
        """Precompute from the labels."""
        check_fields(self)
        measure, convention, widest = parse_measure(self.measure), make_convention("default"), data.longest
        if isinstance(measure, FunctionMeasure) and has_swaps(measure):
            return PreparedSwaps(self, data, measure, np.ascontiguousarray(measure.worths(data.y, convention)), n_jobs)
        structure, depth = _structure(measure, convention), None
        if structure.kind == "additive":
            depth = self.truncation
            whole = _structure(measure.whole_list(), convention)
            if np.ptp(whole.discounts(widest + 1)) > 0:  # otherwise no swap would change anything, as with precision
                structure = whole
        gains, scale = structure.row_gains(data), structure.factors(data.y, data.indptr, depth)
        return PreparedLambdas(
            self, data, KINDS[structure.kind], np.ascontiguousarray(gains), scale, structure.discounts(widest), n_jobs
        )


class Block:
    """Adjacent queries: their numbers, offsets and rows, and what sorts them."""

    def __init__(self, queries: slice, indptr: Integers) -> None:
        self.queries, self.indptr, self.sorter = queries, indptr, Sorter(indptr)
        self.rows = slice(int(indptr[0]), int(indptr[-1]))


class PreparedLambdas:
    """Lambdas prepared for one Dataset; all rows in stored order."""

    def __init__(
        self,
        lambdas: Lambdas,
        data: Dataset,
        kind: int,
        gains: Floats,
        scale: Floats,
        by_rank: Floats,
        n_jobs: int | None,
    ) -> None:
        self._lambdas, self._kind, self._gains, self._scale, self._discounts = lambdas, kind, gains, scale, by_rank
        self._n_jobs, self._by_gain = n_jobs, descending(gains, data.indptr)
        self._weight, self._row_weight = None, np.empty(0)
        if data.sample_weight is not None:
            self._row_weight = data.sample_weight / data.sample_weight.mean()
        if data.query_weight is not None:
            self._weight = np.repeat(query_shares(data) * data.n_queries, data.sizes)
        blocks = itertools.pairwise(block_borders(data.indptr).tolist())
        self._blocks = [Block(slice(*ends), data.indptr[ends[0] : ends[1] + 1]) for ends in blocks]

    def __call__(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return gradient and curvature by the scores."""
        gradient, hessian = np.empty(len(scores)), np.empty(len(scores))

        def work(block: Block) -> None:
            rows = block.rows
            order = block.sorter.descending(scores[rows], stable=True)
            self._push(block, scores[rows], order, gradient[rows], hessian[rows])

        map_threads(work, self._blocks, self._n_jobs)
        if self._weight is not None:
            gradient, hessian = gradient * self._weight, hessian * self._weight
        return gradient, hessian

    def _push(self, block: Block, scores: Floats, order: Integers, gradient: Floats, hessian: Floats) -> None:
        """Fill in gradient and curvature of the queries of a block."""
        options, rows = self._lambdas, block.rows
        lambda_gradients(
            scores, order, self._by_gain[rows], self._gains[rows], self._row_weight[rows], self._scale[block.queries],
            block.indptr, self._discounts, self._kind, options.truncation, options.sigmoid, int(options.normalised),
            gradient, hessian, np.empty(0),
        )  # fmt: skip


class PreparedSwaps(PreparedLambdas):
    """Lambdas of a user's function: the change by a swap is found by calling it on the swapped ranking."""

    def __init__(
        self, lambdas: Lambdas, data: Dataset, measure: FunctionMeasure, worths: Floats, n_jobs: int | None
    ) -> None:
        super().__init__(lambdas, data, 0, worths, np.ones(data.n_queries), np.empty(0), n_jobs)
        self._measure, self._labels = measure, data.y

    def _push(self, block: Block, scores: Floats, order: Integers, gradient: Floats, hessian: Floats) -> None:
        """Fill in gradient and curvature; without machine code of the function, all of it runs as Python."""
        options, rows = self._lambdas, block.rows
        by_row = (self._labels[rows], self._gains[rows], self._row_weight[rows])
        how = (options.truncation, options.sigmoid, int(options.normalised))
        push: Callable[..., Any] = push_by_swaps
        function = self._measure.compiled
        if function is None:
            push, function = push_by_swaps.function, self._measure.call
        with errors_of(self._measure):
            push(function, scores, order, *by_row, block.indptr, *how, gradient, hessian)


def _signature(types: ModuleType) -> Any:
    read, whole, write = read_only(types), read_only(types, "int64"), types.float64[::1]
    return types.void(
        own_type(types), read, whole, read, read, read, whole, types.int64, types.float64, types.int64, write, write
    )


@kernel(_signature)
def push_by_swaps(
    function: Any,
    scores: Floats,
    order: Integers,
    labels: Floats,
    worths: Floats,
    weights: Floats,
    indptr: Integers,
    truncation: int,
    sigmoid: float,
    normalised: int,
    gradient: Floats,
    hessian: Floats,
) -> None:
    """Fill in the gradients and curvatures of a block of queries, see ``argrank.objectives.lambdas``.

    ``function`` takes the worths in ranked order; ``weights`` of the rows are empty where all are 1. Pairs whose swap
    makes the function undefined contribute nothing, nor do queries for which it is undefined.
    """
    for query in range(len(indptr) - 1):
        a, b = indptr[query] - indptr[0], indptr[query + 1] - indptr[0]
        n = b - a
        gradient[a:b] = 0.0
        hessian[a:b] = 0.0
        ranked = np.empty(n)
        for rank in range(n):
            ranked[rank] = worths[a + order[a + rank]]
        here, total = function(ranked), 0.0
        if np.isnan(here):
            continue
        soften = normalised != 0 and scores[a + order[a]] != scores[a + order[b - 1]]
        for i in range(min(truncation, n)):
            for j in range(i + 1, n):
                good, bad = a + order[a + i], a + order[a + j]
                if labels[good] == labels[bad] or ranked[i] == ranked[j]:
                    continue
                if labels[good] < labels[bad]:
                    good, bad = bad, good
                ranked[i], ranked[j] = ranked[j], ranked[i]
                delta = abs(function(ranked) - here)
                ranked[i], ranked[j] = ranked[j], ranked[i]
                if not delta > 0.0:
                    continue
                ahead = scores[good] - scores[bad]
                if len(weights) > 0:
                    delta *= weights[good] * weights[bad]
                if soften:
                    delta /= 0.01 + abs(ahead)
                rho = 1.0 / (1.0 + np.exp(sigmoid * ahead))
                push, curve = sigmoid * rho * delta, sigmoid * sigmoid * rho * (1.0 - rho) * delta
                gradient[good] -= push
                gradient[bad] += push
                hessian[good] += curve
                hessian[bad] += curve
                total += 2.0 * push
        if normalised != 0 and total > 0.0:
            factor = np.log2(1.0 + total) / total
            gradient[a:b] *= factor
            hessian[a:b] *= factor
