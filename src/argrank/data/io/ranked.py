"""Scores as a table: the documents of every query, best first, with the caller's columns if asked."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._files import split_suffixes, write_bytes
from argrank._json import json_value
from argrank._types import Floats
from argrank.data import checks
from argrank.data.dataset import Dataset
from argrank.data.grouping import objects
from argrank.data.io.kinds import kind_of
from argrank.data.io.tables import TABLES, write_columns
from argrank.data.io.trec.forms import table_columns
from argrank.errors import OptionError

LINES = "jsonl"


def table_kind(path: str | os.PathLike[str] | None) -> str | None:
    """Return the kind of table of a file name; None if it is not a table."""
    if path is None:
        return None
    if split_suffixes(path)[0] in (".jsonl", ".ndjson"):
        return LINES
    kind = kind_of(path)
    return kind if kind in TABLES else None


def ranked_columns(
    scores: Floats, data: Dataset, source: str | os.PathLike[str] | None = None
) -> dict[str, NDArray[Any]]:
    """Return qid, docid, rank and score of every document, best first in its query; equal scores in row order.

    ``scores`` are in the caller's row order. ``source`` is the table that the data was read from, whose other columns
    are kept.
    """
    values = data.from_caller(checks.numbers(scores, data.n_documents, "scores", "score"))
    order = np.lexsort((np.arange(data.n_documents), -values, data.query_of_row))
    caller = np.arange(data.n_documents) if data.rows is None else data.rows
    rank = np.concatenate([np.arange(1, size + 1) for size in data.sizes.tolist()])
    found = {
        "qid": data.qid[order],
        "docid": caller[order] if data.document_ids is None else data.document_ids[order],
        "rank": rank,
        "score": values[order],
    }
    for name, column in (_columns(source) if source is not None else {}).items():
        if name not in found:
            found[name] = column[caller[order]]
    return found


def _columns(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    if kind_of(path) not in TABLES:
        raise OptionError(f"--keep: expected a table with named columns, got {os.fspath(path)}")
    return {name: objects(values) for name, values in table_columns(path).items()}


def write_ranked(columns: Mapping[str, NDArray[Any]], path: str | os.PathLike[str], kind: str) -> None:
    """Write a table of ranked documents: CSV, TSV, Parquet, Arrow, or a JSON object in every line."""
    if kind != LINES:
        write_columns(columns, path, kind)
        return
    names, cells = list(columns), [values.tolist() for values in columns.values()]
    with write_bytes(path) as stream:
        for row in zip(*cells, strict=True):
            record = dict(zip(names, map(json_value, row), strict=True))
            stream.write(f"{json.dumps(record, ensure_ascii=False)}\n".encode())
