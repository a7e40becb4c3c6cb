"""Choose and run the kernel for a kind of measure: a block of queries in, the changes of the measure out."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._jit import LazyKernel
from argrank._threads import map_threads
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.evaluation.ranking_blocks import Judgements
from argrank.linesearch import sweep
from argrank.linesearch.counting import AVERAGE, CASCADE, GAIN, PAIRS, Counts, Rules, follow_counts, list_crossings
from argrank.linesearch.step_function import in_order
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure
from argrank.measures.structure import Structure, capped_pairs

FIRST_EVENTS = 1 << 15  # initial number of events of a block, before its arrays grow
MOST_LEVELS = 16  # most distinct gains for counting by gain
#: The kernels' numbers of the kinds of ``argrank.measures.structure`` that they support.
SWEEP = {"additive": sweep.ADDITIVE, "first": sweep.CASCADE, "cascade": sweep.CASCADE, "precision": sweep.PRECISION}
COUNT = {"additive": GAIN, "precision": AVERAGE, "cascade": CASCADE, "pairs": PAIRS, "capped pairs": PAIRS}


@dataclass(frozen=True)
class Route:
    """A measure in the form for kernels: gains of rows, scale of queries, discounts of ranks, 0 from ``depth`` on.

    ``swap`` is the kind for ``sweep`` and ``rules`` the argument of ``list_crossings`` and ``follow_counts``; None if
    not supported. ``first`` means that the first relevant document decides.
    """

    gains: Floats
    scale: Floats
    discounts: Floats
    depth: int
    swap: int | None
    rules: Rules | None
    first: bool


def route(measure: Measure, convention: Convention, data: Dataset, judged: Judgements | None = None) -> Route | None:
    """Return the kernel's form of a measure; None if it has no kernel. ``judged`` are all labels, if there are more."""
    structure = measure.structure(convention)
    if structure is None:
        return None
    gains = structure.row_gains(data)
    if structure.kind in ("pairs", "capped pairs") and not np.isin(gains, (0.0, 1.0)).all():
        return None  # pairs are counted between two levels only
    widest = int(data.sizes.max())
    depth = widest if measure.cutoff is None else min(measure.cutoff, widest)
    discounts = np.append(structure.discounts(depth), np.zeros(widest + 1 - depth))
    labels, indptr = data.y, data.indptr
    if judged is not None and structure.divisor in ("ideal", "gains", "capped pairs"):
        labels, indptr = judged.labels, judged.indptr
    first = structure.kind == "first"
    rules = None if first else _rules(structure, gains, discounts, data, labels, indptr)
    swap = None if measure.cutoff is None and (first or rules is not None) else SWEEP.get(structure.kind)
    return Route(gains, structure.factors(labels, indptr), discounts, depth, swap, rules, first)


def _rules(
    structure: Structure, gains: Floats, discounts: Floats, data: Dataset, labels: Floats, indptr: Integers
) -> Rules | None:
    """Return the contribution of a counted document; None if there are too many distinct gains."""
    kind, level, powers = COUNT[structure.kind], np.empty(0, np.intp), np.empty((0, 0))
    if kind == CASCADE:
        different = np.unique(gains[gains != 0.0])  # only the levels of counted documents are used
        level = np.searchsorted(different, gains)
        if len(different) > MOST_LEVELS:
            return None
        powers = np.power.outer(1.0 - different, np.arange(len(discounts)))
    n_bad = data.sizes - np.add.reduceat((gains != 0.0).astype(np.float64), data.indptr[:-1])
    most = limit = n_bad.astype(np.float64)  # of pairs that all count
    if structure.kind == "capped pairs":
        most, limit = capped_pairs(structure.gains(labels), indptr)
    return Rules(kind, gains, level, powers, discounts, most, limit)


class Task(NamedTuple):
    """A kernel of one block (``crossings`` or ``first_relevant``) and its arguments other than the lines."""

    kernel: LazyKernel
    gains: Floats
    scale: Floats
    discounts: Floats
    options: tuple[float, ...]  # the arguments between the query offsets and the outputs


class Changes(NamedTuple):
    """The value at the left end of a window, and the times and sizes of its changes, in any order."""

    start: float
    times: Floats
    deltas: Floats


def joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate arrays; a single one is not copied, since copying these long arrays takes time."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def walk_block(scores: Floats, slopes: Floats, indptr: Integers, task: Task, block: tuple[int, int]) -> Changes:
    """Run a task on the queries of one block, and ``sweep`` on those it leaves out (their start is NaN)."""
    first, last = block
    borders = indptr[first : last + 1]
    rows = slice(int(borders[0]), int(borders[-1]))
    lines = (scores[rows], slopes[rows], task.gains[rows])
    scale, borders = task.scale[first:last], borders - borders[0]
    starts, times, deltas = _run(task.kernel, lines, scale, borders, task)
    left = np.isnan(starts)
    if left.any():
        others = _run(sweep.sweep, lines, np.where(left, scale, 0.0), borders, task)
        starts = np.where(left, others[0], starts)
        times, deltas = np.concatenate([times, others[1]]), np.concatenate([deltas, others[2]])
    return Changes(float(np.sum(starts)), times, deltas)


def _run(
    kernel: LazyKernel, lines: tuple[Floats, Floats, Floats], scale: Floats, borders: Integers, task: Task
) -> tuple[Floats, Floats, Floats]:
    """Return starts, times and changes of a block, with growing arrays until the changes fit."""
    starts, state = np.empty(len(scale)), np.zeros(2, np.int64)
    times, deltas = np.empty(FIRST_EVENTS), np.empty(FIRST_EVENTS)
    while True:
        kernel(*lines, scale, task.discounts, borders, *task.options, starts, times, deltas, state)
        if state[0] == len(scale):
            return starts, times[: state[1]], deltas[: state[1]]
        times, deltas = (np.concatenate([part, np.empty(len(part))]) for part in (times, deltas))


@dataclass(frozen=True)
class Counting:
    """Counts the documents above each counted document along the line, in all queries at once."""

    rules: Rules
    scale: Floats
    expected: bool
    low: float
    high: float

    def walk(
        self, scores: Floats, slopes: Floats, data: Dataset, blocks: list[tuple[int, int]], n_jobs: int | None
    ) -> Changes:
        """Return the changes in order of time."""
        n, n_levels = len(scores), len(self.rules.powers)
        above, hits = np.zeros(n, np.int32), np.zeros(n, np.int32)
        by_level = np.zeros((n if n_levels else 0, n_levels), np.int32)
        counts = Counts(above, hits, np.ones(n, np.int32), np.ones(n, np.int32), by_level)
        parts = map_threads(functools.partial(self._list, scores, slopes, data.indptr, counts), blocks, n_jobs)
        times, pairs = (joined(some) for some in zip(*parts, strict=True))
        ordered, order = in_order(times)
        deltas = np.empty(len(order)) if ordered is times else times  # allocating memory costs more than counting
        start = follow_counts(*self.rules, self.scale, data.query_of_row, *counts, pairs, order, deltas)
        changed = deltas != 0.0
        if not changed.all():
            ordered, deltas = ordered[changed], deltas[changed]
        return Changes(float(start), ordered, deltas)

    def _list(
        self, scores: Floats, slopes: Floats, indptr: Integers, counts: Counts, block: tuple[int, int]
    ) -> tuple[Floats, Integers]:
        """Return the times of the crossings of the queries of one block, and the rows that cross."""
        borders, scale = indptr[block[0] : block[1] + 1], self.scale[slice(*block)]
        rows = slice(int(borders[0]), int(borders[-1]))
        gain, level = self.rules.gain[rows], self.rules.level[rows]
        counted = np.add.reduceat((gain != 0.0).astype(np.int64), borders[:-1] - borders[0])
        room = int(((scale != 0.0) * counted * np.diff(borders)).sum())
        times, pairs = np.empty(room), np.empty(room, np.int64)
        found = list_crossings(
            scores[rows], slopes[rows], gain, level, scale, borders, self.rules.kind, int(self.expected), self.low,
            self.high, *(part[rows] for part in counts), times, pairs,
        )  # fmt: skip
        return times[:found], pairs[:found]
