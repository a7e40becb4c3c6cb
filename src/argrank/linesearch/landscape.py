"""A measure on fixed data, prepared for evaluation along many lines, and the likelihood of the order by label.

DirectRank, section 2.3: with scores f = score + t * slope, the Plackett–Luce log likelihood of an order is the sum over
its first k places j of ``f_j - log sum over l >= j of exp f_l``, concave in t; its derivative is the sum of ``slope_j -
mean slope of the documents from j on, weighted by exp f``. Bisection on its sign finds the most likely point.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._jit import kernel
from argrank._threads import map_threads
from argrank._types import Filled, Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.grouping import adjacent_queries, offsets
from argrank.errors import InputError, OptionError
from argrank.evaluation.evaluate import measure_queries
from argrank.evaluation.result import Evaluation
from argrank.evaluation.systems import judged_labels
from argrank.linesearch.changes import Changes, Counting, Task, joined, route, walk_block
from argrank.linesearch.counting import CASCADE
from argrank.linesearch.crossings import crossings
from argrank.linesearch.enumeration import QueryLines, enumerate_query
from argrank.linesearch.envelope import first_relevant
from argrank.linesearch.step_function import StepFunction
from argrank.linesearch.sweep import ADDITIVE
from argrank.measures.conventions import make_convention
from argrank.measures.function import FunctionMeasure
from argrank.measures.names import measure as parse_measure

BLOCK_ROWS = 1 << 14  # rows of queries handled by one call

Likelihood = Callable[[Floats, Floats], Callable[[float], Floats]]


class Value(NamedTuple):
    """The mean of the measure, and the queries in which documents with different labels are tied."""

    mean: float
    tied: NDArray[np.intp]


class Groups(NamedTuple):
    """Rows, group by group, and the sizes of the groups."""

    rows: NDArray[np.intp]
    sizes: NDArray[np.intp]

    def means(self, values: Floats) -> Floats:
        """Return, for every row of a group, the mean of the group's values."""
        sums = np.add.reduceat(values[self.rows], offsets(self.sizes)[:-1])
        return np.repeat(sums / self.sizes, self.sizes)


class Landscape:
    """One measure as a function of the scores of one Dataset; all rows here are in stored order.

    Means are those of ``evaluate``: queries for which the measure is undefined are left out (or count as the measure
    itself says), query weights are applied, documents of equal score keep the order of their rows (``ties="row"``) or
    are valued by the mean over their orders (``ties="expected"``). ``judged`` holds all judged labels of every query by
    its id, where the data lacks some of the judged documents.
    """

    def __init__(
        self,
        data: Dataset,
        measure: Any,
        ties: str = "row",
        n_jobs: int | None = None,
        judged: Mapping[Any, Floats] | None = None,
    ) -> None:
        if ties not in ("row", "expected"):
            raise OptionError(f"ties: expected 'row' or 'expected', got {ties!r}")
        if not isinstance(data, Dataset) or (data.gains is None and not data.is_judged):
            raise InputError("data: expected a Dataset with labels")
        self.data, self.n_jobs = data, n_jobs
        self.judged = None if judged is None else judged_labels(judged, data)
        self.measure = parse_measure(measure)
        if isinstance(self.measure, FunctionMeasure) and ties == "expected":
            raise OptionError("ties: expected 'row' with a measure given as a function, which sees one ranking only")
        if isinstance(self.measure, FunctionMeasure):
            self.measure.refuse_scores()
        self.rules = self.measure.adapt(make_convention("default", ties=ties))
        raw = measure_queries(np.zeros(data.n_documents), data, [self.measure], self.rules, self.judged, n_jobs)[0][0]
        defined = ~np.isnan(raw)
        weight = np.ones(data.n_queries) if data.query_weight is None else data.query_weight
        total = float((weight if isinstance(self.rules.undefined, float) else weight[defined]).sum())
        share = np.where(defined, weight, 0.0) / (total if total > 0 else 1.0)
        self.constant = 0.0  # contribution of undefined queries to the mean
        if isinstance(self.rules.undefined, float) and total > 0:
            self.constant = self.rules.undefined * float(weight[~defined].sum()) / total
        self.is_defined = bool(defined.any())
        self.share = share
        self.route = route(self.measure, self.rules, data, self.judged)
        self.blocks = [block for block in adjacent_queries(data.indptr, BLOCK_ROWS) if share[slice(*block)].any()]

    def value(self, scores: Floats) -> Value:
        """Return the mean of the measure at scores, bit-identical to ``evaluate``."""
        values, tied = measure_queries(scores, self.data, [self.measure], self.rules, self.judged, self.n_jobs)
        name = self.measure.name
        result = Evaluation.of([(name, self.measure)], values, tied, self.data, self.rules)
        return Value(result.means[name], np.flatnonzero(tied))

    def walk(self, scores: Floats, slopes: Floats, low: float, high: float, tied: NDArray[np.intp]) -> StepFunction:
        """Return the measure of ``scores + t * slopes`` for t from ``low`` to ``high``.

        ``tied`` are the queries in which documents with different labels are tied.
        """
        scores, slopes = np.ascontiguousarray(scores), np.ascontiguousarray(slopes)
        task, apart = self._task(self._coinciding(scores, slopes, tied), low, high)
        parts: list[Changes] = []
        if isinstance(task, Task):
            work = functools.partial(walk_block, scores, slopes, self.data.indptr, task)
            parts = map_threads(work, self.blocks, self.n_jobs)
        elif task is not None and self.blocks:
            parts = [task.walk(scores, slopes, self.data, self.blocks, self.n_jobs)]
        alone = functools.partial(self._enumerate, scores, slopes, low, high)
        parts += map_threads(alone, apart.tolist(), self.n_jobs)
        start = self.constant + math.fsum(part.start for part in parts)
        if not parts:
            return StepFunction.of(start, np.empty(0), np.empty(0))
        return StepFunction.of(start, joined([part.times for part in parts]), joined([part.deltas for part in parts]))

    def _task(self, together: Groups, low: float, high: float) -> tuple[Task | Counting | None, NDArray[np.intp]]:
        """Return the task of the kernels, and the queries that are enumerated instead, given the coinciding lines."""
        plan, apart = self.route, np.empty(0, np.intp)
        if plan is None:
            return None, np.flatnonzero(self.share)
        scale, gains, expected = self.share * plan.scale, plan.gains, self.rules.ties == "expected"
        coincide = len(together.rows) > 0
        if plan.first and (plan.swap is None or coincide):
            return Task(first_relevant, gains, scale, plan.discounts, (int(expected), low, high)), apart
        averages = plan.rules is not None and plan.rules.kind != CASCADE  # over the orders of lines that coincide
        if coincide and plan.swap == ADDITIVE:
            gains = gains.copy()  # linear in the gains: the mean over all orders is that of the mean gain
            gains[together.rows] = together.means(gains)
        elif coincide and not averages:
            apart = np.unique(np.searchsorted(self.data.indptr, together.rows, side="right") - 1)
            scale[apart] = 0.0
        if plan.rules is not None and (plan.swap is None or (coincide and plan.swap != ADDITIVE and averages)):
            return Counting(plan.rules, scale, expected and averages, low, high), apart
        discounts = plan.discounts[: plan.depth + 1]
        return Task(crossings, gains, scale, discounts, (int(plan.swap or 0), low, high)), apart

    def _enumerate(self, scores: Floats, slopes: Floats, low: float, high: float, query: int) -> Changes:
        rows = slice(int(self.data.indptr[query]), int(self.data.indptr[query + 1]))
        judged = None if self.judged is None else self.judged.padded(np.array([query]))[0]
        lines = QueryLines(scores[rows], slopes[rows], self.data.targets[rows], judged)
        start, times, deltas = enumerate_query(lines, self.measure, self.rules, low, high)
        return Changes(self.share[query] * start, times, self.share[query] * deltas)

    def _coinciding(self, scores: Floats, slopes: Floats, tied: NDArray[np.intp]) -> Groups:
        """Return groups of rows with the same line and different labels, if the mean over their orders is requested."""
        if self.rules.ties == "row" or len(tied) == 0:
            return Groups(np.empty(0, np.intp), np.empty(0, np.intp))
        query = np.repeat(tied, self.data.sizes[tied])
        within = np.arange(len(query)) - np.repeat(offsets(self.data.sizes[tied])[:-1], self.data.sizes[tied])
        rows = self.data.indptr[query] + within
        order = np.lexsort((slopes[rows], scores[rows], query))
        rows, query = rows[order], query[order]
        other = (np.diff(query) != 0) | (np.diff(scores[rows]) != 0) | (np.diff(slopes[rows]) != 0)
        starts = np.append(0, np.flatnonzero(other) + 1)
        sizes = np.diff(np.append(starts, len(rows)))
        labels = self.data.targets[rows]
        mixed = np.minimum.reduceat(labels, starts) != np.maximum.reduceat(labels, starts)
        return Groups(rows[np.repeat(mixed, sizes)], sizes[mixed])

    def wanted(self, scores: Floats) -> Likelihood:
        """Fix the target order of the documents: greater labels first, ties by these scores, then by row.

        The result maps a line (scores, slopes) to a function of t: the log likelihood of that order, and its
        derivative.
        """
        order = np.lexsort((-scores, -self.data.targets, self.data.query_of_row))
        depth = int(self.measure.cutoff or self.data.sizes.max())

        def along(scores: Floats, slopes: Floats) -> Callable[[float], Floats]:
            sorted_scores, sorted_slopes = scores[order], slopes[order]

            def part(time: float, block: tuple[int, int]) -> Floats:
                indptr = self.data.indptr[block[0] : block[1] + 1]
                rows, share = slice(int(indptr[0]), int(indptr[-1])), self.share[slice(*block)]
                found = np.empty(2)
                order_likelihood(
                    sorted_scores[rows], sorted_slopes[rows], share, indptr - indptr[0], depth, time, found
                )
                return found

            def at(time: float) -> Floats:
                parts = map_threads(functools.partial(part, time), self.blocks, self.n_jobs)
                return np.sum(parts, axis=0) if parts else np.zeros(2)

            return at

        return along


MARGIN = 0.01  # share of the interval excluded at each end, where documents cross
HALVINGS = 20


@kernel()
def order_likelihood(
    scores: Floats,
    slopes: Floats,
    weight: Floats,
    indptr: Integers,
    depth: int,
    time: float,
    result: Filled[np.float64],
) -> None:
    """Fill the log likelihood of the rows' order within queries, down to ``depth`` places, and its derivative."""
    result[:] = 0.0
    for query in range(len(indptr) - 1):
        if weight[query] == 0.0:
            continue
        first, last = indptr[query], indptr[query + 1]
        greatest, mass, moment, value, slope = -np.inf, 0.0, 0.0, 0.0, 0.0
        for i in range(last - 1, first - 1, -1):  # sums over "from here on" grow from the back
            f = scores[i] + time * slopes[i]
            if f > greatest:
                shrink = np.exp(greatest - f)
                mass, moment, greatest = mass * shrink + 1.0, moment * shrink + slopes[i], f
            else:
                share = np.exp(f - greatest)
                mass += share
                moment += share * slopes[i]
            if i - first < depth:
                value += f - greatest - np.log(mass)
                slope += slopes[i] - moment / mass
        result[0] += weight[query] * value
        result[1] += weight[query] * slope


def most_likely(slope: Callable[[float], float], low: float, high: float) -> float:
    """Return the maximiser of a concave function on an interval, given its derivative, slightly off the ends."""
    low, high = low + MARGIN * (high - low), high - MARGIN * (high - low)
    if slope(low) <= 0.0:
        return low
    if slope(high) >= 0.0:
        return high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if slope(middle) > 0.0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)
