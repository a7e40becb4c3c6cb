"""Which kernel walks which kind of measure, and running it: a block of queries in, the changes of the measure out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from argrank._jit import LazyKernel
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.evaluation.ranking_blocks import Judgements
from argrank.linesearch import counting, sweep
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure

FIRST_EVENTS = 1 << 15  # events a block has room for before its arrays grow
#: What ``sweep`` and ``count_above`` call the kinds of measures of ``argrank.measures.structure`` that they can do.
SWEEP = {"additive": sweep.ADDITIVE, "first": sweep.CASCADE, "cascade": sweep.CASCADE, "precision": sweep.PRECISION}
COUNT = {"additive": counting.GAIN, "first": counting.FIRST, "precision": counting.AVERAGE, "pairs": counting.PAIRS}


@dataclass(frozen=True)
class Route:
    """A measure as the kernels see it: gains of rows, scale of queries, discounts of ranks, 0 from ``depth`` on.

    ``swap`` is the kind for ``sweep`` and ``count`` the kind for ``count_above``; None where that kernel cannot.
    """

    gains: Floats
    scale: Floats
    discounts: Floats
    depth: int
    swap: int | None
    count: int | None


def route(measure: Measure, rules: Convention, data: Dataset, judged: Judgements | None = None) -> Route | None:
    """Return how a measure is walked; None for one that has no kernel. ``judged`` are all labels, if there are more."""
    structure = measure.structure(rules)
    if structure is None:
        return None
    gains = structure.gains(data.y)
    if structure.kind == "pairs" and not np.isin(gains, (0.0, 1.0)).all():
        return None  # pairs are counted between two levels only
    widest = int(data.sizes.max())
    depth = widest if measure.cutoff is None else min(measure.cutoff, widest)
    discounts = np.append(structure.discounts(depth), np.zeros(widest + 1 - depth))
    swap, count = SWEEP.get(structure.kind), COUNT.get(structure.kind)
    whole_list = measure.cutoff is None and count is not None
    labels, indptr = data.y, data.indptr
    if judged is not None and structure.divisor in ("ideal", "gains"):
        labels, indptr = judged.labels, judged.indptr
    scale = structure.factors(labels, indptr)
    return Route(gains, scale, discounts, depth, None if whole_list else swap, count)


class Task(NamedTuple):
    """A kernel (``crossings`` or ``count_above``) and what it is told beside the lines."""

    kernel: LazyKernel
    gains: Floats
    scale: Floats
    discounts: Floats
    kind: int
    options: tuple[float, ...]  # what lies between the kind and the outputs in the kernel's signature


class Changes(NamedTuple):
    """The value at the left end of a window, and the times and sizes of its changes, in no order."""

    start: float
    times: Floats
    deltas: Floats


def walk_block(scores: Floats, slopes: Floats, indptr: Integers, task: Task, block: tuple[int, int]) -> Changes:
    """Run a task on the queries of one block, and ``sweep`` on those that its kernel leaves (their start is NaN)."""
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
    """Return starts, times and changes of a block, with more and more room for changes until they fit."""
    starts, state = np.empty(len(scale)), np.zeros(2, np.int64)
    times, deltas = np.empty(FIRST_EVENTS), np.empty(FIRST_EVENTS)
    while True:
        kernel(*lines, scale, task.discounts, borders, task.kind, *task.options, starts, times, deltas, state)
        if state[0] == len(scale):
            return starts, times[: state[1]], deltas[: state[1]]
        times, deltas = (np.concatenate([part, np.empty(len(part))]) for part in (times, deltas))
