"""Write LETOR/SVMlight text that reads back as the same Dataset."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._files import write_bytes
from argrank.data.dataset import Dataset
from argrank.data.io.letor.format import DOCUMENT_ID
from argrank.data.io.letor.side_files import WEIGHT, find_side_file
from argrank.data.io.text import number_text
from argrank.errors import InputError, OptionError, shown

BLOCK = 1 << 10  # rows to format at a time
UNWRITTEN = ("sources", "titles", "query_texts", "feature_names", "preferences")

_LOG = logging.getLogger(__name__)
_ID = re.compile(r"[^\s#\0]+")  # \s of Unicode: stricter than the reader, so that other readers agree


def write_letor(data: Dataset, path: str | os.PathLike[str]) -> None:
    """Write a Dataset as LETOR text, compressed by the suffix of the path, atomically.

    Numbers are written with as many digits as it takes to read the same float64 back; a dense X is written in full, a
    CSR matrix without its zeros. Rows come in the caller's order. Query ids are written as text, so that strings of
    digits come back as integers. Without comments, document ids are written as ``#docid = ID``. Weights go to
    ``FILE.weight``: those of the rows, or those of the queries.
    """
    name = os.fspath(path)
    if not data.is_judged:
        raise InputError(f"{name}: expected labels, which LETOR text requires, got data without judgements")
    if data.sample_weight is not None and data.query_weight is not None:
        raise OptionError(f"{name}: expected row weights or query weights, got both; {WEIGHT} files hold one kind")
    weights = data.query_weight if data.sample_weight is None else data.to_caller(data.sample_weight)
    if weights is None and (stale := find_side_file(path, (WEIGHT,))) is not None:
        raise InputError(f"{name}: expected no file {stale}, which would be read as its weights; remove it first")
    left_out = [field.replace("_", " ") for field in UNWRITTEN if getattr(data, field) is not None]
    if left_out:
        _LOG.warning("%s: LETOR text cannot hold %s", name, ", ".join(left_out))
    with write_bytes(path) as stream:
        for block in _blocks(data, name):
            stream.write(block)
        if weights is not None:
            with write_bytes(name + WEIGHT) as side:
                side.write("".join(f"{number_text(weight)}\n" for weight in weights.tolist()).encode())


def _blocks(data: Dataset, name: str) -> Iterator[bytes]:
    order = data.to_caller(np.arange(data.n_documents))  # stored rows in the caller's order
    heads = [f"qid:{qid}" for qid in _texts(data.query_ids, _ID, f"{name}: query id")]
    if len(set(heads)) < len(heads):
        raise InputError(f"{name}: expected query ids that differ as text, got two alike")
    tails = _tails(data, name)
    features = _features_of(data)
    query = data.query_of_row
    for start in range(0, len(order), BLOCK):
        rows = order[start : start + BLOCK]
        lines = [
            f"{number_text(label)} {heads[q]}{text}{tails(row)}\n"
            for label, q, text, row in zip(
                data.y[rows].tolist(), query[rows].tolist(), features(rows), rows.tolist(), strict=True
            )
        ]
        try:
            yield "".join(lines).encode()
        except UnicodeEncodeError as error:
            raise InputError(f"{name}: expected text that UTF-8 can write, got {shown(error.object)}") from error


def _features_of(data: Dataset) -> Callable[[NDArray[Any]], Iterator[str]]:
    """Return the function that formats rows: `` 1:0.5 2:3``, each feature with a space before it."""
    base = data.feature_base
    names = [f" {i}:" for i in range(base, base + data.n_features)] if not data.is_sparse else []

    def dense(rows: NDArray[Any]) -> Iterator[str]:
        for values in data.X[rows].astype(np.float64).tolist():
            yield _short("".join([f"{name}{value!r}" for name, value in zip(names, values, strict=True)]))

    def csr(rows: NDArray[Any]) -> Iterator[str]:
        X = data.X
        for row in rows.tolist():
            at = slice(X.indptr[row], X.indptr[row + 1])
            entries = dict(zip(X.indices[at].tolist(), X.data[at].astype(np.float64).tolist(), strict=True))
            entries = {column: value for column, value in entries.items() if value != 0}
            if row == first:  # zeros, so that the reader knows the first and the last feature
                for column in {0, data.n_features - 1} if base == 0 else {data.n_features - 1}:
                    entries.setdefault(column, 0.0)
            yield _short("".join([f" {column + base}:{value!r}" for column, value in sorted(entries.items())]))

    first = 0 if data.rows is None else int(np.argmin(data.rows))
    return csr if data.is_sparse else dense


def _short(text: str) -> str:
    """Write whole numbers without their ``.0``."""
    return (text + " ").replace(".0 ", " ")[:-1]


def _tails(data: Dataset, name: str) -> Callable[[int], str]:
    """Return the function that formats a stored row's comment, with its ``#``."""
    if data.comments is not None:
        comments = data.comments
        for comment in comments:
            if comment is not None and re.search(r"[\n\0]|\r\Z", str(comment)):
                raise InputError(f"{name}: expected comments of one line, got {shown(comment)}")
        if data.document_ids is not None and not all(map(_carries, comments, data.document_ids)):
            _LOG.warning(
                "%s: the comments are written; the document ids are lost, as the comments do not contain them", name
            )
        return lambda row: "" if comments[row] is None else f" #{comments[row]}"
    if data.document_ids is not None:
        ids = _texts(data.document_ids, re.compile(r"[^\s\0]+"), f"{name}: document id")
        return lambda row: f" #docid = {ids[row]}"
    return lambda row: ""


def _carries(comment: Any, document_id: Any) -> bool:
    match = DOCUMENT_ID.match(str(comment))
    return match is not None and match[1] == str(document_id)


def _texts(ids: NDArray[Any], allowed: re.Pattern[str], what: str) -> list[str]:
    texts = [str(value) for value in ids.tolist()]
    for text in texts:
        if not allowed.fullmatch(text):
            raise InputError(f"{what}: expected text without blanks, got {shown(text)}")
    return texts
