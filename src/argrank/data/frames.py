"""Data frames (pandas, polars, pyarrow) to the columns of a Dataset, through narwhals."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from argrank.data.io.columns.table import Reading, arguments_of
from argrank.errors import InputError


def is_frame(X: Any) -> bool:
    """Tell whether X is a data frame that narwhals knows, lazy or not, without importing any frame library."""
    kind = type(X)
    if isinstance(X, np.ndarray | list | tuple) or not (hasattr(kind, "columns") or hasattr(kind, "column_names")):
        return False
    import narwhals as nw

    try:
        return isinstance(nw.from_native(X, pass_through=True), nw.DataFrame | nw.LazyFrame)
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"expected columns of different names: {' '.join(str(error).split())}") from error


def columns_of(
    frame: Any,
    known: Collection[str] = (),
    features: Sequence[str] | None = None,
    given: Mapping[str, str | None] | None = None,
) -> dict[str, Any]:
    """Split a data frame into the arguments of Dataset: features become X, other columns what they mean.

    ``known`` are meanings that come from elsewhere. ``features`` are the columns of a model: they alone become X, as
    far as they are there, whatever their names mean. ``given`` says what columns are.
    """
    return arguments_of(_table(frame), Reading(given or {}, known, features))


def column_names(frame: Any) -> list[str]:
    """Return the names of the columns of a data frame."""
    import narwhals as nw

    table = nw.from_native(frame)
    return list(table.collect_schema().names() if isinstance(table, nw.LazyFrame) else table.columns)


def select_columns(frame: Any, names: Sequence[str]) -> Any:
    """Return some columns of a data frame, as a frame of the same kind."""
    table, wanted = _table(frame), set(names)
    places = [place for place, name in enumerate(table.columns) if str(name) in wanted]
    return table[:, places].to_native()


def _table(frame: Any) -> Any:
    """Return an eager frame of narwhals."""
    import narwhals as nw

    table = nw.from_native(frame)
    return table.collect() if isinstance(table, nw.LazyFrame) else table
