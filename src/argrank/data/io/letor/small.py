"""Read small LETOR texts in plain Python, so that they compile nothing and need no numba."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._memory import check_memory
from argrank.data.io.letor.format import DOCUMENT_ID, Limits, Options, Parsed, Row, RowError, parse_row
from argrank.data.io.letor.lines import Lines
from argrank.errors import FormatError

_ROW = re.compile(rb"[^\S\n]*[^\s#]")  # a line with something before its comment
_ZERO = re.compile(rb"^[^\S\n]*[^\s#]+[^\S\n](?:[^#\n]*[^\S\n])?0+:", re.MULTILINE)  # a feature 0, behind the label


def read_small(lines: Lines, options: Options, with_qid: bool) -> Parsed:
    """Parse a whole text line by line."""
    text, path = lines.text(), lines.name
    wrong = lines.wrong_encoding(0, np.frombuffer(text, np.uint8))
    if wrong is not None:
        raise wrong
    limits = options.limits(with_qid, bool(_ZERO.search(text)))
    rows = _rows(text, path, limits)
    n_entries = sum(len(row.columns) for row in rows)
    n_features = options.n_features or max((row.columns[-1] + 1 for row in rows if row.columns), default=0)
    columns = np.array([column for row in rows for column in row.columns], np.int64)
    values = np.array([value for row in rows for value in row.values], np.float64).astype(options.dtype)
    sizes = [len(row.columns) for row in rows]
    is_sparse = options.make_sparse(len(rows), n_features, n_entries)
    check_memory(path, options.n_bytes(len(rows), n_features, n_entries, is_sparse), options.advice)
    if is_sparse:
        indptr = np.concatenate(([0], np.cumsum(sizes)))
        X = sparse.csr_matrix((values, columns, indptr), shape=(len(rows), n_features))
        X.eliminate_zeros()
    else:
        X = np.zeros((len(rows), n_features), options.dtype)
        X[np.repeat(np.arange(len(rows)), sizes), columns] = values
    starts = [i for i, row in enumerate(rows) if i == 0 or row.qid != rows[i - 1].qid]
    comments = [None if row.comment is None else row.comment.decode() for row in rows]
    return Parsed(
        X,
        np.array([row.label for row in rows]),
        [rows[i].qid for i in starts],
        np.array(starts),
        np.array(comments, object) if any(comment is not None for comment in comments) else None,
        _document_ids(comments),
        limits.base,
    )


def _rows(text: bytes, path: str, limits: Limits) -> list[Row]:
    rows, number = [], 1
    try:
        for line in text.split(b"\n"):
            if _ROW.match(line):
                rows.append(parse_row(line, limits))
            elif b"\0" in line:
                raise RowError("text", "a NUL byte")
            number += 1
    except RowError as error:
        raise FormatError(path, number, error.expected, error.got) from None
    return rows


def _document_ids(comments: list[str | None]) -> NDArray[Any] | None:
    found = [DOCUMENT_ID.match(comment) if comment is not None else None for comment in comments]
    ids = [match[1] for match in found if match]
    return np.array(ids, object) if len(ids) == len(comments) else None
