"""Named columns: which column of a file means what, and the columns that a Dataset becomes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._types import Integers
from argrank.data.categories import decode
from argrank.data.dataset import Dataset
from argrank.data.frames import COLUMNS, FEATURE, meanings_of
from argrank.data.io.text import first_repeated
from argrank.data.subsets import BY_QUERY
from argrank.errors import FormatError, InputError, shown, unknown_name

NUMBERS = ("label", "query_weight", "sample_weight")  # columns with a meaning that are numbers from 0 up
TEXTS = ("comment", "query", "title")  # columns in which an empty cell is an empty text, and an absent text is empty


class Chosen(NamedTuple):
    """Positions of the columns of a file: those with a meaning by that meaning, and the features."""

    named: dict[str, int]
    features: list[int]


def choose(
    names: Sequence[str],
    columns: Mapping[str, str | None],
    path: str | os.PathLike[str],
    line: int | None,
    features: Sequence[str] | None = None,
) -> Chosen:
    """Say what each column of a file is, given names that differ from ours; ``line`` is where the names stand.

    ``features`` are the columns to use as features, in this order; by default all without a meaning.
    """
    listing = ", ".join(names)
    listing = listing if len(listing) <= 200 else listing[:199] + "…"
    _check_names(names, listing, path, line)
    for meaning in columns.values():
        if meaning is not None and meaning not in (*COLUMNS, FEATURE):
            raise unknown_name("meaning of a column", meaning, [*COLUMNS, FEATURE])
    for name in (*columns, *(features or ())):
        if name not in names:
            raise FormatError(path, line, f"a column {name!r}", f"columns {listing}")
    meanings = meanings_of(names, columns, features=features or (), where=os.fspath(path))
    named: dict[str, int] = {}
    for name, meaning in sorted(meanings.items(), key=lambda pair: names.index(pair[0])):
        if meaning in named:
            got = f"{shown(names[named[meaning]])} and {shown(name)}"
            raise FormatError(path, line, f"one column that is the {meaning}", got)
        if meaning is not None:
            named[meaning] = names.index(name)
    if "qid" not in named:
        raise FormatError(
            path, line, "a column 'qid'", f"columns {listing}; say which with columns={{…: 'qid'}}, --qid"
        )
    places = [names.index(name) for name in features or [name for name in names if name not in meanings]]
    if not places:
        raise FormatError(path, line, "at least one column that is a feature", f"columns {listing}")
    return Chosen(named, places)


def _check_names(names: Sequence[str], listing: str, path: str | os.PathLike[str], line: int | None) -> None:
    twice = first_repeated(names)
    if twice is not None:
        raise FormatError(path, line, "columns of different names", f"{shown(twice)} twice")
    if "" in names:
        raise FormatError(path, line, "a name for every column", f"none for column {names.index('') + 1} of {listing}")


def refused_text(path: str | os.PathLike[str], name: str) -> InputError:
    """Return the error for a feature that is a text, where a file is read piece by piece."""
    return InputError(
        f"{os.fspath(path)}: column {name!r}: expected numbers, got texts, whose categories are known only at the end; "
        "leave it out (--drop), replace it by numbers, or pack data in memory: ar.pack(ar.load(…), …)"
    )


def feature_names(data: Dataset) -> list[str]:
    """Return the names of the feature columns: f1, f2, … where the Dataset has none."""
    if data.feature_names is None:
        return [f"f{data.feature_base + position}" for position in range(data.n_features)]
    taken = [name for name in data.feature_names if name in COLUMNS or name == ""]
    if taken:
        raise InputError(f"feature_names: expected names without a meaning of their own, got {taken[0]!r}")
    return list(data.feature_names)


def named_columns(data: Dataset) -> dict[str, NDArray[Any]]:
    """Return the columns with a meaning that a Dataset holds, one value for each row in the caller's order."""
    found: dict[str, NDArray[Any]] = {}
    for column, argument in COLUMNS.items():
        field = "query_ids" if argument == "qid" else argument
        values = getattr(data, field)
        if values is None or (column == "label" and not data.is_judged):
            continue
        if column in TEXTS:
            values = np.array(["" if text is None else text for text in values.tolist()], dtype=object)
        by_row = np.repeat(values, data.sizes) if field in BY_QUERY else values
        found[column] = data.to_caller(by_row)
    return found


def stored_rows(data: Dataset) -> Integers:
    """Return the stored row of every row of the caller."""
    return data.to_caller(np.arange(data.n_documents))


def columns_of_data(data: Dataset) -> dict[str, NDArray[Any]]:
    """Return the columns of a table in the caller's row order: those with a meaning, then the features."""
    order, columns = stored_rows(data), named_columns(data)
    X = data.X.tocsc() if data.is_sparse else data.X
    for position, name in enumerate(feature_names(data)):
        column = X[:, [position]].toarray()[:, 0] if data.is_sparse else X[:, position]
        columns[name] = column[order]
        if data.categories and name in data.categories:
            columns[name] = np.array(decode(column[order], data.categories[name]), object)
    return columns
