"""Running the kernels: a block of queries in, the changes of the measure out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from argrank._jit import LazyKernel
from argrank._types import Floats, Integers
from argrank.linesearch.sweep import sweep

BLOCK_ROWS = 1 << 14  # rows of queries walked by one call
FIRST_EVENTS = 1 << 15  # events a block has room for before its arrays grow


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


def adjacent_queries(indptr: Integers, n_rows: int = BLOCK_ROWS) -> list[tuple[int, int]]:
    """Return blocks (first, last) of adjacent queries with about ``n_rows`` rows; they depend on the data alone."""
    borders, first = [], 0
    while first < len(indptr) - 1:
        last = max(first + 1, int(np.searchsorted(indptr, indptr[first] + n_rows, side="right")) - 1)
        borders.append((first, last))
        first = last
    return borders


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
        others = _run(sweep, lines, np.where(left, scale, 0.0), borders, task)
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
