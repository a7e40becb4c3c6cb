"""Tables with named columns (CSV, TSV, Parquet, Arrow) to and from Datasets.

The columns with a meaning are those of `argrank.data.io.columns.roles`; all others are features.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._files import write_bytes
from argrank.data.dataset import Dataset
from argrank.data.io import arrow, delimited
from argrank.data.io.columns.table import Reading
from argrank.data.io.delimited import DELIMITERS
from argrank.data.io.dialects import Given
from argrank.data.io.kinds import kind_of
from argrank.data.io.naming import Naming, told_naming
from argrank.data.io.text import id_texts, number_text
from argrank.errors import ArgrankWarning, FormatError, InputError, OptionError, check_choice

TABLES = ("arrow", "csv", "parquet", "tsv")

CHUNK_ROWS = 8192  # rows to convert at a time


def read_table(
    path: str | os.PathLike[str],
    kind: str,
    *,
    columns: Mapping[str, str | None] | None = None,
    features: Sequence[str] | None = None,
    dtype: Any = None,
    written: Given = Given(),  # noqa: B008 - it is frozen
) -> Dataset:
    """Read a table with named columns into a Dataset; without a label column the data is unjudged.

    Parameters
    ----------
    path : path
        Decompressed by its suffix (.gz .xz .bz2 .zip); ``-`` is standard input.
    kind : "csv", "tsv", "parquet" or "arrow"
        In CSV and TSV, ids that are all integers become integers.
    columns : mapping of column name to meaning, optional
        For files that name their columns differently, as in `ar.load`.
    features : sequence of str, optional
        The columns that are features, in this order; by default all without a meaning.
    dtype : "float64", "float32" or None
        Of the features; None keeps what the file holds (CSV and TSV: float64).
    written : Given
        The dialect of delimited text; what is None is detected.
    """
    check_choice("kind", kind, TABLES)
    said = Naming(columns or {}, features, written).over(told_naming())
    reading = Reading(said.columns, said.known, said.features, where=os.fspath(path), days=said.days)
    try:
        if kind in DELIMITERS:
            found = delimited.read(path, DELIMITERS[kind], reading, said.written)
        else:
            found = arrow.read(path, kind, reading)
        if dtype is not None:
            with np.errstate(over="ignore"):  # values too large for float32 become infinite, which a Dataset refuses
                found["X"] = found["X"].astype(dtype, copy=False)
        found["X"].flags.writeable = False  # made here: no copy needed
        return Dataset(**found)
    except FormatError:
        raise
    except InputError as error:  # an error of Dataset, with the file's name added
        raise InputError(f"{os.fspath(path)}: {error}") from error


def write_table(data: Dataset, path: str | os.PathLike[str], kind: str) -> None:
    """Write a Dataset as a table, rows in the caller's order; features without a name are called f1, f2, …."""
    check_choice("kind", kind, TABLES)
    if data.preferences is not None:
        warnings.warn(
            f"{os.fspath(path)}: a table cannot hold preferences, they are left out", ArgrankWarning, stacklevel=2
        )
    columns = data.to_columns()
    if kind in DELIMITERS:
        _check_ids(data, columns["qid"])
    write_columns(columns, path, kind)


def write_columns(columns: Mapping[str, NDArray[Any]], path: str | os.PathLike[str], kind: str | None = None) -> None:
    """Write columns as a table of a kind, by default as the name ends."""
    kind = kind_of(path, kind)
    if kind in DELIMITERS:
        write_delimited(columns, path, DELIMITERS[kind])
    elif kind in TABLES:
        arrow.write(columns, path, kind)
    else:
        raise OptionError(f"{os.fspath(path)}: expected a name that ends with .csv, .tsv, .parquet or .arrow")


def _check_ids(data: Dataset, qid: NDArray[Any]) -> None:
    """Raise if different query ids would have the same text in a delimited file."""
    texts = set(map(str, qid.tolist()))
    if len(texts) != data.n_queries or "" in texts:
        raise InputError(
            f"qid: expected {data.n_queries} ids with different texts for a delimited file, got {len(texts)}"
            f"{', one of them empty' if '' in texts else ''}"
        )


def write_delimited(columns: Mapping[str, NDArray[Any]], path: str | os.PathLike[str], delimiter: str) -> None:
    """Write columns with a header: numbers that float() reads back exactly, missing values as empty cells."""
    n_rows = len(next(iter(columns.values())))
    header = id_texts(np.array(list(columns), object), "feature_names")
    with write_bytes(path) as stream:
        for start in range(0, n_rows, CHUNK_ROWS):
            if start == 0:
                stream.write((delimiter.join(_quoted(header, delimiter)) + "\n").encode())
            rows = slice(start, start + CHUNK_ROWS)
            cells = [_cells(name, values[rows], delimiter) for name, values in columns.items()]
            stream.write("".join(f"{delimiter.join(row)}\n" for row in zip(*cells, strict=True)).encode())


def _cells(name: str, values: NDArray[Any], delimiter: str) -> list[str]:
    if values.dtype.kind == "f":
        return [number_text(value) for value in values.tolist()]
    if values.dtype == object:
        values = np.array(["" if value is None else value for value in values.tolist()], object)
    return _quoted(id_texts(values, name), delimiter)


def _quoted(texts: list[str], delimiter: str) -> list[str]:
    special = (delimiter, '"', "\n", "\r")
    return [
        '"' + text.replace('"', '""') + '"' if any(character in text for character in special) else text
        for text in texts
    ]
