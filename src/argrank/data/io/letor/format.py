"""One line of LETOR text, in plain Python: the definition of the format, and the error messages for a bad line.

``2 qid:10 1:0.03 2:0.5 #docid = GX008-86``: a label, the query, features as ``id:value`` in any order, and whatever
follows the first ``#`` as a comment. The compiled reader accepts exactly the lines that this module accepts; if it
rejects one, ``parse_row`` gives the reason.
"""

from __future__ import annotations

import itertools
import math
import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats, Integers
from argrank.data.checks import float_type
from argrank.errors import OptionError, check_choice, shown

MAX_ID = 2**31 - 2  # the largest feature id: numbers of columns then fit the 32-bit indices of a CSR matrix

NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
MISSING = re.compile(rb"[+-]?nan|null", re.IGNORECASE)
INFINITE = re.compile(rb"[+-]?inf(?:inity)?", re.IGNORECASE)


class Limits(NamedTuple):
    """Limits of a file that are known before its rows are read."""

    with_qid: bool
    base: int  # number of the first feature
    last_id: int
    largest: float  # absolute values from here up are refused


class Row(NamedTuple):
    """One parsed line; columns count from 0 and ascend."""

    label: float
    qid: bytes
    columns: list[int]
    values: list[float]
    comment: bytes | None


class RowError(Exception):
    """An error in a line; the reader adds file and line number."""

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(expected, got)
        self.expected, self.got = expected, got


def parse_row(line: bytes, limits: Limits) -> Row:
    """Parse one line that holds a row, or raise a RowError."""
    if b"\0" in line:
        raise RowError("text", "a NUL byte")
    body, mark, comment = line.partition(b"#")
    tokens = body.split()
    label = _label(tokens[0])
    qid, first = _qid(tokens, limits.with_qid)
    columns, values = [], []
    for token in tokens[first:]:
        name, colon, value = token.partition(b":")
        if not colon:
            raise RowError("a feature as id:value", quoted(token))
        columns.append(_column(name, token, limits))
        values.append(_value(value, token, limits.largest))
    if any(after <= before for before, after in itertools.pairwise(columns)):
        columns, values = _sorted(columns, values, limits.base)
    return Row(label, qid, columns, values, comment.rstrip(b"\r") if mark else None)


def _label(token: bytes) -> float:
    label = float(token) if NUMBER.fullmatch(token) else math.nan
    if not 0 <= label < math.inf:
        raise RowError("a label, a finite number from 0 up", quoted(token))
    return label


def _qid(tokens: list[bytes], expected: bool) -> tuple[bytes, int]:
    """Return the query id and the position of the first feature."""
    token = tokens[1] if len(tokens) > 1 else b""
    found = token.startswith(b"qid:")
    if found and not expected:
        raise RowError("a row without qid, as in the first row (a side file gives the groups)", quoted(token))
    if not expected:
        return b"", 1
    if not found:
        raise RowError("qid:ID after the label", quoted(token) if token else "the end of the line")
    if token == b"qid:":
        raise RowError("a query id", "nothing after qid:")
    return token[4:], 2


def _column(name: bytes, token: bytes, limits: Limits) -> int:
    if not name.isdigit():
        raise RowError("a feature id, an integer from 0 up", quoted(token))
    significant = name.lstrip(b"0") or b"0"
    number = int(significant) if len(significant) <= 10 else MAX_ID + 1
    if not limits.base <= number <= limits.last_id:
        raise RowError(f"a feature id from {limits.base} to {limits.last_id}", quoted(token))
    return number - limits.base


def _value(text: bytes, token: bytes, largest: float) -> float:
    if not NUMBER.fullmatch(text):
        if MISSING.fullmatch(text):
            return math.nan
        expected = "a finite value" if INFINITE.fullmatch(text) else "a number, NULL or NaN as value"
        raise RowError(expected, quoted(token))
    value = float(text)
    if abs(value) >= largest:
        single = "" if largest == math.inf else " of float32"
        raise RowError(f"a finite value{single}", quoted(token))
    return value


def _sorted(columns: list[int], values: list[float], base: int) -> tuple[list[int], list[float]]:
    order = sorted(range(len(columns)), key=columns.__getitem__)
    columns, values = [columns[i] for i in order], [values[i] for i in order]
    for before, after in itertools.pairwise(columns):
        if before == after:
            raise RowError("every feature at most once in a row", f"feature {after + base} twice")
    return columns, values


def quoted(token: bytes) -> str:
    """Return a token as messages show it."""
    return shown(token.decode("utf-8", "replace"))


SPARSE_SHARE = 0.2  # "auto" makes a CSR matrix where fewer of the entries are written out than this …
SPARSE_FEATURES = 256  # … and there are more features than this, or the dense matrix would exceed
HUGE = 1 << 30  # … this number of bytes
ABSURD_SHARE = 0.01  # a matrix that is huge and emptier than this is never made dense

TOO_LARGE = "load it with dtype='float32' or sparse=True, or read it in parts (argrank.data.io.letor.stream)"

#: A document id in a comment, as LETOR 2 to 4 write it.
DOCUMENT_ID = re.compile(r"^[ \t]*docid[ \t]*=[ \t]*(\S+)", re.MULTILINE)


class Options(NamedTuple):
    """What the caller asked for."""

    dtype: np.dtype[Any]
    sparse: bool | str
    n_features: int | None
    feature_base: int | None

    @classmethod
    def checked(cls, dtype: Any, sparse: Any, n_features: Any, feature_base: Any) -> Options:
        """Return the options; raise for a value that is not allowed."""
        real = float_type(dtype)
        check_choice("sparse", sparse, ("auto", True, False))
        if n_features is not None and not 1 <= n_features <= MAX_ID:
            raise OptionError(f"n_features: expected a number from 1 to {MAX_ID} or None, got {n_features!r}")
        check_choice("feature_base", feature_base, (0, 1, None))
        return cls(real, sparse, n_features, feature_base)

    def limits(self, with_qid: bool, has_zero: bool) -> Limits:
        """Return what rows may hold; features count from 0 where a feature 0 occurs."""
        base = self.feature_base if self.feature_base is not None else 0 if has_zero else 1
        last_id = MAX_ID if self.n_features is None else self.n_features - 1 + base
        # the middle between the largest float32 and 2^128: from there on, rounding to float32 gives infinity
        largest = math.inf if self.dtype == np.float64 else math.ldexp(2 - 2.0**-24, 127)
        return Limits(with_qid, base, last_id, largest)

    @property
    def advice(self) -> str:
        """Advice about a matrix that is too large."""
        return "sparse=False is what makes it large: use sparse='auto'" if self.sparse is False else TOO_LARGE

    def n_bytes(self, n_rows: int, n_features: int, n_entries: int, is_sparse: bool) -> int:
        """Return the memory that features and labels will take."""
        size = self.dtype.itemsize
        return 8 * n_rows + (n_entries * (size + 4) + 8 * n_rows if is_sparse else n_rows * n_features * size)

    def make_sparse(self, n_rows: int, n_features: int, n_entries: int) -> bool:
        """Choose between dense and CSR; ``n_entries`` counts what is written out, zeros too.

        A matrix that would be absurdly large becomes CSR even if dense was requested; it is rejected at the end, after
        all other errors of the file have been reported.
        """
        size, share = n_rows * n_features * self.dtype.itemsize, n_entries / max(1, n_rows * n_features)
        if self.sparse == "auto":
            return share < SPARSE_SHARE and (n_features > SPARSE_FEATURES or size > HUGE)
        return bool(self.sparse) or (size > HUGE and share < ABSURD_SHARE)


class Parsed(NamedTuple):
    """A file's contents in the order of its rows. A run is a stretch of adjacent rows with the same qid."""

    X: Any
    y: Floats
    run_ids: list[bytes]
    run_starts: Integers
    comments: NDArray[Any] | None
    document_ids: NDArray[Any] | None
    base: int
