"""Read large LETOR texts: threads count chunks of whole lines first, then read them into the final arrays."""

from __future__ import annotations

import math
import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._memory import check_memory
from argrank._progress import Progress
from argrank._threads import map_threads
from argrank._types import Floats, Integers
from argrank.data.io.letor import kernels
from argrank.data.io.letor.format import DOCUMENT_ID, MAX_ID, Limits, Options, Parsed, RowError, parse_row
from argrank.data.io.letor.lines import Bytes, Lines
from argrank.errors import FormatError


class Part(NamedTuple):
    """One chunk's part of the final arrays; unused ones (X, or the CSR arrays) are empty."""

    X: NDArray[Any]
    indptr: Integers  # end of each row's entries, counted from the chunk's first
    indices: NDArray[np.int32]
    data: NDArray[Any]
    y: Floats
    runs: Integers  # begin and end of the qid in the chunk, first row
    joined: NDArray[np.uint8]  # the comments of all rows, each with a line end; empty if there are none in the file
    has_comment: NDArray[np.uint8]

    def put(self, row: int, column: int, value: float) -> None:
        """Store a value where NaN was stored before; column -1 is the label."""
        if column < 0:
            self.y[row] = value
        elif self.X.size:
            self.X[row, column] = value
        else:
            first = self.indptr[row - 1] if row else 0
            self.data[first + np.searchsorted(self.indices[first : self.indptr[row]], column)] = value


class Target:
    """The final arrays, sized by the counts of all chunks (one line each)."""

    def __init__(self, path: str, counts: Integers, options: Options, limits: Limits) -> None:
        self.base = limits.base
        self.offsets = np.concatenate((np.zeros((1, kernels.COUNTS), np.int64), np.cumsum(counts, axis=0)))
        n_rows, n_entries, n_comments = map(
            int, self.offsets[-1][[kernels.ROWS, kernels.ENTRIES, kernels.COMMENT_ROWS]]
        )
        highest = int(counts[:, kernels.HIGHEST].max())
        self.n_features = options.n_features or (highest - limits.base + 1 if n_entries else 0)
        self.is_sparse = options.make_sparse(n_rows, self.n_features, n_entries)
        n_dense, n_sparse = (0, n_rows) if self.is_sparse else (n_rows, 0)
        n_entries = n_entries if self.is_sparse else 0
        check_memory(path, options.n_bytes(n_rows, self.n_features, n_entries, self.is_sparse), options.advice)
        self.X = np.zeros((n_dense, self.n_features), options.dtype)
        self.indptr = np.zeros(n_sparse + 1, np.int64)
        self.indices, self.data = np.empty(n_entries, np.int32), np.empty(n_entries, options.dtype)
        self.y = np.empty(n_rows)
        self.runs = np.empty((self.offsets[-1, kernels.RUNS], 3), np.int64)
        self.run_ids: list[list[bytes]] = [[]] * len(counts)
        self.n_stored = np.zeros(len(counts), np.int64)  # entries of each chunk that are not zero
        self.comments = np.empty(n_rows if n_comments else 0, object)
        self.document_ids = np.empty(n_rows if n_comments == n_rows else 0, object)
        self.has_ids = np.ones(len(counts), bool)

    def part(self, index: int) -> Part:
        """Return the part of chunk number ``index``."""
        begin, end = self.offsets[index : index + 2]
        rows = slice(begin[kernels.ROWS], end[kernels.ROWS])
        entries = slice(begin[kernels.ENTRIES], end[kernels.ENTRIES])
        n_rows = int(rows.stop - rows.start)
        n_bytes = int(end[kernels.COMMENT_BYTES] - begin[kernels.COMMENT_BYTES]) + n_rows if self.comments.size else 0
        return Part(
            self.X[rows],
            self.indptr[1:][rows],
            self.indices[entries],
            self.data[entries],
            self.y[rows],
            self.runs[begin[kernels.RUNS] : end[kernels.RUNS]],
            np.empty(n_bytes, np.uint8),
            np.zeros(n_rows, np.uint8),
        )

    def close(self, index: int, part: Part, chunk: NDArray[np.uint8], n_entries: int, n_bytes: int) -> None:
        """Collect a chunk's query ids and comments."""
        first = int(self.offsets[index, kernels.ROWS])
        self.run_ids[index] = [chunk[begin:end].tobytes() for begin, end in part.runs[:, :2].tolist()]
        part.runs[:, 2] += first
        self.n_stored[index] = n_entries
        if not self.comments.size:
            return
        text = part.joined[:n_bytes].tobytes().decode()
        told = zip(text.split("\n")[:-1], part.has_comment.tolist(), strict=True)
        lines = [line if has else None for line, has in told]
        self.comments[first : first + len(lines)] = lines
        if self.document_ids.size:
            ids = DOCUMENT_ID.findall(text)
            self.has_ids[index] = len(ids) == len(lines)
            if self.has_ids[index]:
                self.document_ids[first : first + len(lines)] = ids

    def finish(self) -> Parsed:
        """Join the parts after every chunk has been read."""
        ids = [run for part in self.run_ids for run in part]
        new = [i for i, run in enumerate(ids) if i == 0 or run != ids[i - 1]]  # a run may continue in the next chunk
        return Parsed(
            self._csr() if self.is_sparse else self.X,
            self.y,
            [ids[i] for i in new],
            self.runs[new, 2],
            self.comments if self.comments.size else None,
            self.document_ids if self.document_ids.size and self.has_ids.all() else None,
            self.base,
        )

    def _csr(self) -> Any:
        """Close the gaps left by zeros at the end of every chunk's entries, in place."""
        filled = 0
        for index, stored in enumerate(self.n_stored.tolist()):
            begin, rows = self.offsets[index, kernels.ENTRIES], self.offsets[index : index + 2, kernels.ROWS]
            self.indptr[1:][rows[0] : rows[1]] += filled
            if begin > filled:
                for array in (self.indices, self.data):
                    array[filled : filled + stored] = array[begin : begin + stored]
            filled += stored
        for array in (self.indices, self.data):
            array.resize(filled, refcheck=False)  # no part is in use any more
        X = sparse.csr_matrix((self.data, self.indices, self.indptr), shape=(len(self.y), self.n_features))
        X.eliminate_zeros()  # those that Python converted
        X.has_canonical_format = True
        return X


SPARE_PATCHES = 1024  # numbers that a chunk may leave to Python before they are converted


class _Refused(NamedTuple):
    """The first bad line of a chunk: its number, counted from 0, and its bytes."""

    line: int
    text: bytes


def read_large(
    lines: Lines, options: Options, with_qid: bool, *, n_jobs: int | None = None, progress: bool = False
) -> Parsed:
    """Parse a whole text with the compiled kernels, in two passes over its chunks."""
    path = lines.name
    with Progress(f"reading {path}", 2 * lines.n_bytes, progress) as bar:
        lock = threading.Lock()

        def advance(chunk: Bytes) -> None:
            with lock:
                bar.advance(len(chunk))

        def count(index: int) -> Integers | FormatError:
            chunk = lines.chunk(index)
            wrong = lines.wrong_encoding(index, chunk)
            if wrong is not None:
                return wrong
            counts = np.zeros(kernels.COUNTS, np.int64)
            kernels.count(chunk, MAX_ID, counts)
            advance(chunk)
            return counts

        counted = map_threads(count, range(len(lines)), n_jobs)
        for one in counted:
            if isinstance(one, FormatError):
                raise one
        counts = np.array(counted)
        limits = options.limits(with_qid, bool(counts[:, kernels.HAS_ZERO].any()))
        target = Target(path, counts, options, limits)
        first_refused = len(lines)

        def fill(index: int) -> _Refused | None:
            nonlocal first_refused
            if index > first_refused:
                return None  # errors later in the file no longer matter
            chunk = lines.chunk(index)
            refused = _fill(lines, chunk, index, target, limits, int(counts[index, kernels.WIDEST]))
            if refused is not None:
                first_refused = min(first_refused, index)
            advance(chunk)
            return refused

        found = map_threads(fill, range(len(lines)), n_jobs)
    lines.check_unchanged()
    for index, refused in enumerate(found):
        if refused is not None:
            line = int(counts[:index, kernels.LINES].sum()) + refused.line + 1
            raise _error(path, line, refused.text, limits)
    return target.finish()


def _fill(lines: Lines, chunk: Bytes, index: int, target: Target, limits: Limits, widest: int) -> _Refused | None:
    """Read one chunk into its part of the target, or return its first bad line."""
    part = target.part(index)
    fill = kernels.fill_double if target.data.dtype == np.float64 else kernels.fill_single
    room = widest + 1  # one more than was counted, so that the kernel reaches an error after the last feature
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
        return _refused(chunk, int(state[kernels.LINE]), int(state[kernels.POSITION]))
    is_whole = state[kernels.ROW] == len(part.y) and state[kernels.RUN] == len(part.runs)
    if status == kernels.OVERFLOW or not is_whole or lines.wrong_encoding(index, chunk):
        lines.refuse_change()
    target.close(index, part, chunk, int(state[kernels.ENTRY]), int(state[kernels.COMMENT]))
    return None


def _patch(chunk: Bytes, patches: Integers, n_rows: int, part: Part, largest: float) -> _Refused | None:
    """Convert the numbers that the kernel left undecided, in the rows that it accepted."""
    for row, column, begin, end, line, start in patches.tolist():
        if row >= n_rows:
            break
        value = float(chunk[begin:end].tobytes())
        if abs(value) >= (largest if column >= 0 else math.inf) or (column < 0 and value < 0):
            return _refused(chunk, line, start)
        part.put(row, column, value)
    return None


def _refused(chunk: Bytes, line: int, start: int) -> _Refused:
    text = chunk[start:].tobytes()
    return _Refused(line, text[: text.index(b"\n")])


def _error(path: str, line: int, text: bytes, limits: Limits) -> FormatError:
    """Return the error of a line that the kernel rejected, from the definition of the format."""
    try:
        parse_row(text, limits)
    except RowError as error:
        return FormatError(path, line, error.expected, error.got)
    raise RuntimeError(f"{path}:{line}: the compiled reader rejects a valid line; please report this")
