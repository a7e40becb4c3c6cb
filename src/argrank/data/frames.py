"""Convert data frames (pandas, polars, pyarrow) to the arguments of Dataset, with narwhals."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from argrank._lazy import LazyModule
from argrank.data.io.columns.table import Reading, arguments_of
from argrank.errors import InputError

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa
else:
    nw, pa = LazyModule("narwhals"), LazyModule("pyarrow")


FRAMES = ("columns", "column_names")  # attributes of the types of data frames
TABLES = ("__arrow_c_stream__", "__arrow_c_array__", "__dataframe__")  # protocols of any other table


def is_frame(X: Any) -> bool:
    """Tell whether X is a data frame: one that narwhals supports, lazy or not, or a table of the Arrow protocols.

    Nothing of it is read: a stream can be read only once.
    """
    kind = type(X)
    if isinstance(X, np.ndarray | list | tuple) or not any(hasattr(kind, name) for name in (*FRAMES, *TABLES)):
        return False
    try:
        found = nw.from_native(X, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"expected columns of different names: {' '.join(str(error).split())}") from error
    if isinstance(found, nw.Series):
        return False
    if isinstance(found, nw.DataFrame | nw.LazyFrame):
        return True
    speaks_arrow = any(hasattr(kind, name) for name in TABLES)
    return speaks_arrow and (isinstance(X, pa.StructArray) or not isinstance(X, pa.Array | pa.Scalar))  # not one column


def columns_of(
    frame: Any,
    known: Collection[str] = (),
    features: Sequence[str] | None = None,
    given: Mapping[str, str | None] | None = None,
) -> dict[str, Any]:
    """Split a data frame into the arguments of Dataset: features become X, other columns the argument of their name.

    ``known`` are meanings that are given elsewhere. ``features`` are the columns of a model: only these become X, as
    far as they exist, whatever their names. ``given`` are the caller's meanings of columns.
    """
    return arguments_of(eager_frame(frame), Reading(given or {}, known, features))


def select_columns(frame: Any, names: Sequence[str]) -> Any:
    """Return some columns of a data frame, as a frame of the same kind."""
    table, wanted = eager_frame(frame), set(names)
    places = [place for place, name in enumerate(table.columns) if str(name) in wanted]
    return table[:, places].to_native()


def eager_frame(frame: Any) -> Any:
    """Return a data frame as one of narwhals; a lazy one is collected, any other table becomes one of pyarrow."""
    table = nw.from_native(frame, pass_through=True)
    if not isinstance(table, nw.DataFrame | nw.LazyFrame):
        table = nw.from_native(_arrow_table(frame))
    return table.collect() if isinstance(table, nw.LazyFrame) else table


def _arrow_table(X: Any) -> Any:
    """Return the pyarrow table of an object that speaks one of the Arrow protocols."""
    from pyarrow.interchange import from_dataframe

    try:
        streams = any(hasattr(type(X), name) for name in TABLES[:2])
        return pa.table(X) if streams else from_dataframe(X)
    except Exception as error:  # from the other library's exporter
        raise InputError(f"X: expected a table, got {type(X).__name__}, which cannot be read: {error}") from error
