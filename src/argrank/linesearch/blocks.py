"""Running the kernels: a block of queries in, the changes of the measure out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._jit import LazyKernel

Floats = NDArray[np.float64]

BLOCK_ROWS = 1 << 14  # rows of queries walked by one call
FIRST_EVENTS = 1 << 14  # events a block has room for before its arrays grow


class Task(NamedTuple):
    """A kernel (``sweep`` or ``count_above``) and what it is told beside the lines."""

    kernel: LazyKernel
    worth: Floats
    scale: Floats
    discounts: Floats
    kind: int
    options: tuple[float, ...]  # what lies between the kind and the outputs in the kernel's signature


class Changes(NamedTuple):
    """The value at the left end of a window, and the times and sizes of its changes, in no order."""

    start: float
    times: Floats
    deltas: Floats


def adjacent_queries(indptr: NDArray[np.int64], n_rows: int = BLOCK_ROWS) -> list[tuple[int, int]]:
    """Return blocks (first, last) of adjacent queries with about so many rows; they depend on the data alone."""
    borders, first = [], 0
    while first < len(indptr) - 1:
        last = max(first + 1, int(np.searchsorted(indptr, indptr[first] + n_rows, side="right")) - 1)
        borders.append((first, last))
        first = last
    return borders


def walk_block(
    scores: Floats, slopes: Floats, indptr: NDArray[np.int64], task: Task, block: tuple[int, int]
) -> Changes:
    """Run a task on the queries of one block, with more and more room for events until they fit."""
    first, last = block
    borders = indptr[first : last + 1]
    rows = slice(int(borders[0]), int(borders[-1]))
    lines = (scores[rows], slopes[rows], task.worth[rows], task.scale[first:last], task.discounts, borders - borders[0])
    starts, state = np.empty(last - first), np.zeros(2, np.int64)
    times, deltas = np.empty(FIRST_EVENTS), np.empty(FIRST_EVENTS)
    while True:
        task.kernel(*lines, task.kind, *task.options, starts, times, deltas, state)
        if state[0] == last - first:
            return Changes(float(np.sum(starts)), times[: state[1]], deltas[: state[1]])
        times, deltas = (np.concatenate([part, np.empty(len(part))]) for part in (times, deltas))
