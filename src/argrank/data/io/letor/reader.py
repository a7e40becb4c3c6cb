"""LETOR/SVMlight text: ``2 qid:10 1:0.03 2:0.5 #docid = GX008-86 inc = 1 prob = 0.0246``.

Small texts are read in plain Python, which needs no numba and no compilation.
"""

from __future__ import annotations

import contextlib
import os
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as scipy_sparse

from argrank._files import is_remote, open_bytes, read_all, split_suffixes
from argrank._memory import check_memory
from argrank._once import is_stream
from argrank.data.dataset import Dataset
from argrank.data.grouping import Grouping, group_by_id, group_by_size, objects
from argrank.data.io.letor.format import DOCUMENT_ID, Limits, Options, Parsed, Row, RowError, parse_row
from argrank.data.io.letor.large import read_large
from argrank.data.io.letor.lines import Lines
from argrank.data.io.letor.side_files import GROUPS, find_side_file, read_sizes, read_weights
from argrank.data.io.letor.writer import write_letor
from argrank.errors import FormatError, InputError

__all__ = ["read_letor", "write_letor"]

FEW_BYTES = 1 << 20  # texts below this many bytes are read without compiled code

_FIRST_ROW = re.compile(rb"^[^\S\n]*([^\s#][^#\n]*)", re.MULTILINE)
_INTEGER = re.compile(rb"0|-?[1-9][0-9]{0,18}")  # in its shortest form
_ROW = re.compile(rb"[^\S\n]*[^\s#]")  # a line with something before its comment
_ZERO = re.compile(rb"^[^\S\n]*[^\s#]+[^\S\n](?:[^#\n]*[^\S\n])?0+:", re.MULTILINE)  # a feature 0, after the label


def read_letor(
    path: str | os.PathLike[str],
    *,
    dtype: Any = "float64",
    sparse: bool | str = "auto",
    n_features: int | None = None,
    feature_base: int | None = None,
    n_jobs: int | None = None,
    progress: bool = True,
) -> Dataset:
    """Read a LETOR/SVMlight file, plain or ``.gz .xz .bz2 .zip``; ``-`` is standard input.

    Every value is the float64 that Python's ``float`` returns (rounded once more for float32); absent features are 0,
    ``NULL`` and ``NaN`` are missing (NaN). Query ids become integers if all of them are 64-bit integers in their
    shortest form, else they stay strings. The text after ``#`` is kept as the row's comment; if every comment begins
    with ``docid = ID``, these are the document ids. Empty lines and lines that begin with ``#`` are skipped.

    Rows without qid need a side file with one group size per line, ``FILE.query`` (LightGBM) or ``FILE.group``
    (XGBoost). ``FILE.weight`` holds one weight per line, for rows or for queries; its length decides which.

    Parameters
    ----------
    path : path
    dtype : "float64" or "float32"
    sparse : "auto", True or False
        Whether X is a CSR matrix, without stored zeros. "auto" makes one if less than a fifth of all entries is written
        out and there are more than 256 features or a dense X would exceed 1 GiB.
    n_features : int, optional
        Number of columns, for files in which the last features do not occur; a higher feature id is an error.
    feature_base : 0 or 1, optional
        Id of the first feature. By default 0 if a feature 0 occurs in the file and 1 otherwise.
    n_jobs : int, optional
        Threads; all cores by default. Texts under 1 MB are read by one, in plain Python.
    progress : bool
        Show a bar on a terminal when reading takes longer than a second.
    """
    options = Options.checked(dtype, sparse, n_features, feature_base)
    name = os.fspath(path)
    with open_bytes(path) as stream:
        # else a pipe, an archive or a remote file
        plain = not split_suffixes(name)[1] and not is_remote(name) and stream.seekable()
        text = stream if plain else read_all(stream, name)
        return read_text(text, name, options, n_jobs=n_jobs, progress=progress)


def read_text(
    text: Any,
    name: str,
    options: Options,
    *,
    small: bool | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
    **chunk: int,
) -> Dataset:
    """Read a whole text (bytes or an open file); ``small`` forces one of the two readers."""
    lines = Lines(text, name, **chunk)
    first_row = next(filter(None, (_FIRST_ROW.search(lines.chunk(i).data) for i in range(len(lines)))), None)
    if first_row is None:
        raise FormatError(name, None, "at least one row", "an empty file" if not len(lines) else "no row")
    tokens = first_row[1].split(None, 2)
    has_qid = len(tokens) > 1 and tokens[1].startswith(b"qid:")
    groups = find_side_file(name, GROUPS)
    if not has_qid and groups is None and not any(b"qid:" in lines.chunk(i).tobytes() for i in range(len(lines))):
        sizes = "" if is_stream(name) else f", or the sizes of the queries in {name}{GROUPS[0]}"
        hint = "a table needs a name that ends with .csv, .tsv, .parquet or .arrow"
        raise FormatError(name, None, f"qid:ID in every row{sizes}", f"rows without qid; {hint}")
    with_qid = has_qid or groups is None
    if small if small is not None else lines.n_bytes < FEW_BYTES:
        parsed = read_small(lines, options, with_qid)
    else:
        parsed = read_large(lines, options, with_qid, n_jobs=n_jobs, progress=progress)
    n_rows, width = parsed.X.shape
    if width == 0:
        raise FormatError(name, None, "at least one feature", "rows without features")
    if not options.sparse and scipy_sparse.issparse(parsed.X):
        raise InputError(
            f"{name}: sparse=False: expected a matrix that is not nearly empty, got {n_rows:,} rows and {width:,} "
            f"features, nearly all zero, for {n_rows * width * options.dtype.itemsize / 1e9:.1f} GB; use sparse='auto'"
        )
    queries = _group_runs(parsed) if with_qid else group_by_size(read_sizes(str(groups), n_rows), n_rows)
    return _assemble(parsed, queries, name)


def _group_runs(parsed: Parsed) -> Grouping:
    """Group rows by the qid of their run; the order is unchanged if every query is one run."""
    n_rows = len(parsed.y)
    ids = _query_ids(parsed.run_ids)
    if len(set(parsed.run_ids)) == len(parsed.run_ids):
        return Grouping(ids, np.append(parsed.run_starts, n_rows), None)
    return group_by_id(np.repeat(ids, np.diff(np.append(parsed.run_starts, n_rows))), n_rows)


def _query_ids(texts: list[bytes]) -> NDArray[Any]:
    if all(map(_INTEGER.fullmatch, texts)):
        with contextlib.suppress(OverflowError):  # beyond 64 bits
            return np.array(list(map(int, texts)), np.int64)
    return objects([text.decode() for text in texts])


def _assemble(parsed: Parsed, queries: Grouping, name: str) -> Dataset:
    """Make the Dataset; both readers have checked everything, so X is neither checked again nor copied."""
    fields: dict[str, Any] = {"X": parsed.X, "y": parsed.y}
    fields |= {"comments": parsed.comments, "document_ids": parsed.document_ids}
    weights = read_weights(name, len(parsed.y), len(queries.query_ids))
    if weights is not None:
        fields[weights[0]] = weights[1]
    if queries.rows is not None:
        by_row = [field for field, values in fields.items() if values is not None and field != "query_weight"]
        fields |= {field: fields[field][queries.rows] for field in by_row}
    return Dataset._assemble(**queries._asdict(), feature_base=parsed.base, **fields)


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
        X = scipy_sparse.csr_matrix((values, columns, indptr), shape=(len(rows), n_features))
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
