"""Tables with named columns (CSV, TSV, Parquet, Arrow) to and from Datasets.

The columns with a meaning are those of `argrank.data.frames.COLUMNS`; all others are features.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from argrank.data.dataset import Dataset
from argrank.data.io import arrow, delimited
from argrank.errors import ArgrankWarning, FormatError, InputError, check_choice

DELIMITERS = {"csv": ",", "tsv": "\t"}
TABLES = ("arrow", "csv", "parquet", "tsv")


class Naming(NamedTuple):
    """What the columns of all tables mean, as the command line states it once."""

    columns: Mapping[str, str | None]
    features: Sequence[str] | None


_NAMING: ContextVar[Naming | None] = ContextVar("naming", default=None)


@contextmanager
def naming(columns: Mapping[str, str | None], features: Sequence[str] | None) -> Iterator[None]:
    """Read all tables with these ``columns`` and ``features`` where `read_table` is not told otherwise."""
    token = _NAMING.set(Naming(columns, features) if columns or features is not None else None)
    try:
        yield
    finally:
        _NAMING.reset(token)


def named(
    columns: Mapping[str, str | None] | None, features: Sequence[str] | None
) -> tuple[Mapping[str, str | None], Sequence[str] | None]:
    """Return what columns mean and which are features, as given or as told for all reading."""
    told = _NAMING.get()
    if told is None:
        return columns or {}, features
    return {**told.columns, **(columns or {})}, told.features if features is None else features


def is_naming() -> bool:
    """Tell whether columns of tables were named for all reading."""
    return _NAMING.get() is not None


def read_table(
    path: str | os.PathLike[str],
    kind: str,
    *,
    columns: Mapping[str, str | None] | None = None,
    features: Sequence[str] | None = None,
    dtype: Any = None,
) -> Dataset:
    """Read a table with named columns into a Dataset; without a label column the data is unjudged.

    Parameters
    ----------
    path : path
        Decompressed by its suffix (.gz .xz .bz2 .zip); ``-`` is standard input.
    kind : "csv", "tsv", "parquet" or "arrow"
        In CSV and TSV an empty cell, ``NULL`` or ``NaN`` is a missing value, and ids that are all integers become
        integers.
    columns : mapping of column name to meaning, optional
        For files that name their columns differently: ``{"relevance": "label", "sku": "docid"}``; None as meaning
        leaves a column out, and "feature" makes it a feature whatever its name. Common names (query_id, relevance,
        doc_id, docno …) are known.
    features : sequence of str, optional
        The columns that are features, in this order; by default all without a meaning.
    dtype : "float64", "float32" or None
        Of the features; None keeps what the file holds (CSV and TSV: float64).
    """
    check_choice("kind", kind, TABLES)
    meanings, features = named(columns, features)
    try:
        if kind in DELIMITERS:
            found = delimited.read(path, DELIMITERS[kind], meanings, features, dtype or "float64")
        else:
            found = arrow.read(path, kind, meanings, features, dtype)
        found["X"].flags.writeable = False  # it is ours: no copy needed
        return Dataset(**found)
    except FormatError:
        raise
    except InputError as error:  # what a Dataset refuses, now with the file's name
        raise InputError(f"{os.fspath(path)}: {error}") from error


def write_table(data: Dataset, path: str | os.PathLike[str], kind: str) -> None:
    """Write a Dataset as a table, rows in the caller's order; features without a name are called f1, f2, …."""
    check_choice("kind", kind, TABLES)
    if data.preferences is not None:
        warnings.warn(
            f"{os.fspath(path)}: a table has no place for preferences, they are left out", ArgrankWarning, stacklevel=2
        )
    if kind in DELIMITERS:
        delimited.write(data, path, DELIMITERS[kind])
    else:
        arrow.write(data, path, kind)
