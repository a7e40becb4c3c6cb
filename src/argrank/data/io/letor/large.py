"""Read large LETOR texts: chunks of whole lines on all threads, counted first, then read into the final arrays."""

from __future__ import annotations

import math
import threading
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._progress import Progress
from argrank._threads import map_threads
from argrank._types import Integers
from argrank.data.io.letor import kernels
from argrank.data.io.letor.layout import Options, Parsed
from argrank.data.io.letor.row import MAX_ID, Limits, RowError, parse_row
from argrank.data.io.letor.target import Part, Target
from argrank.errors import FormatError, InputError

CHUNK = 1 << 22  # bytes that a thread reads at a time; the result does not depend on it
SPARE_PATCHES = 1024  # numbers that a chunk may leave to Python before it has to pause

Bytes = NDArray[np.uint8]


class _Refused(NamedTuple):
    """The first bad line of a chunk: its number, counted from 0, and its first byte."""

    line: int
    start: int


def read_large(
    text: Bytes,
    path: str,
    options: Options,
    with_qid: bool,
    *,
    n_jobs: int | None = None,
    progress: bool = False,
    chunk: int = CHUNK,
) -> Parsed:
    """Parse a whole text with the compiled kernels; ``text`` is a read-only array."""
    chunks = _split(text, chunk)
    with Progress(f"reading {path}", 2 * len(text), progress) as bar:
        lock = threading.Lock()

        def advance(index: int) -> None:
            with lock:
                bar.advance(len(chunks[index]))

        def count(index: int) -> Integers:
            counts = np.zeros(kernels.COUNTS, np.int64)
            kernels.count(chunks[index], MAX_ID, counts)
            advance(index)
            return counts

        counts = np.array(map_threads(count, range(len(chunks)), n_jobs))
        limits = options.limits(with_qid, bool(counts[:, kernels.HAS_ZERO].any()))
        try:
            target = Target(counts, options, limits)
        except MemoryError as error:
            raise InputError(f"{path}: expected features that fit into memory, got {error}") from error
        first_refused = len(chunks)

        def fill(index: int) -> _Refused | None:
            nonlocal first_refused
            if index > first_refused:
                return None  # what comes later in the file no longer matters
            refused = _fill(chunks[index], index, target, limits, int(counts[index, kernels.WIDEST]))
            if refused is not None:
                first_refused = min(first_refused, index)
            advance(index)
            return refused

        found = map_threads(fill, range(len(chunks)), n_jobs)
    for index, refused in enumerate(found):
        if refused is not None:
            line = int(counts[:index, kernels.LINES].sum()) + refused.line + 1
            raise _error(path, line, chunks[index], refused.start, limits)
    return target.finish()


def _split(text: Bytes, size: int) -> list[Bytes]:
    """Cut a text into chunks of whole lines, each with a line end as its last byte."""
    chunks, start = [], 0
    while start < len(text):
        end = _line_end(text, min(start + size, len(text)) - 1)
        chunks.append(text[start:end])
        start = end
    if chunks[-1][-1] != ord("\n"):
        chunks[-1] = np.append(chunks[-1], np.uint8(ord("\n")))
        chunks[-1].flags.writeable = False
    return chunks


def _line_end(text: Bytes, position: int) -> int:
    while position < len(text):
        found = np.flatnonzero(text[position : position + 4096] == ord("\n"))
        if len(found):
            return position + int(found[0]) + 1
        position += 4096
    return len(text)


def _fill(chunk: Bytes, index: int, target: Target, limits: Limits, widest: int) -> _Refused | None:
    """Read one chunk into its part of the target, or say which line is wrong."""
    part = target.part(index)
    fill = kernels.fill_double if target.data.dtype == np.float64 else kernels.fill_single
    room = max(1, widest)
    columns, values = np.empty(room, np.int64), np.empty(room)
    patches = np.empty((room + 1 + SPARE_PATCHES, kernels.PATCH_FIELDS), np.int64)
    state = np.zeros(kernels.STATE, np.int64)
    scratch = columns, values, patches, state
    status = kernels.FULL
    while status == kernels.FULL:
        status = fill(chunk, *kernels.power_table(), *limits, not target.is_sparse, *part, *scratch)
        refused = _patch(chunk, patches[: state[kernels.PATCH]], int(state[kernels.ROW]), part, limits.largest)
        if refused is not None:
            return refused
        state[kernels.PATCH] = 0
    if status == kernels.REFUSED:
        return _Refused(int(state[kernels.LINE]), int(state[kernels.POSITION]))
    target.close(index, part, chunk, int(state[kernels.ENTRY]), int(state[kernels.COMMENT]))
    return None


def _patch(chunk: Bytes, patches: Integers, n_rows: int, part: Part, largest: float) -> _Refused | None:
    """Convert the numbers that the kernel has left undecided, in the rows that it has accepted."""
    for row, column, begin, end, line, start in patches.tolist():
        if row >= n_rows:
            break
        value = float(chunk[begin:end].tobytes())
        if abs(value) >= (largest if column >= 0 else math.inf) or (column < 0 and value < 0):
            return _Refused(line, start)
        part.put(row, column, value)
    return None


def _error(path: str, line: int, chunk: Bytes, start: int, limits: Limits) -> FormatError:
    """Let the definition of the format say what is wrong with a line that the kernel has refused."""
    try:
        parse_row(chunk[start : _line_end(chunk, start) - 1].tobytes(), limits)
    except RowError as error:
        return FormatError(path, line, error.expected, error.got)
    raise RuntimeError(f"{path}:{line}: the compiled reader refuses a line that is in order; please report this")
