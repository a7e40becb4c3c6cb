"""Read a table of a log, from a file or a data frame, with pyarrow."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from typing import Any

from argrank.data.frames import eager_frame, is_frame
from argrank.data.io.arrow import read_columns
from argrank.data.io.delimited import DELIMITERS, table_of
from argrank.data.io.kinds import kind_of
from argrank.errors import InputError, shown


def read_table(source: Any, ids: Callable[[list[str]], Collection[str]]) -> Any:
    """Return a pyarrow table; ``ids`` chooses by their names the columns that a text file's types are not for."""
    import pyarrow as pa

    if isinstance(source, pa.Table):
        return source
    if is_frame(source):
        try:
            return eager_frame(source).to_arrow()
        except pa.ArrowException as error:  # a column of objects of several types
            raise InputError(f"log: expected values of one type in every column, got {shown(str(error))}") from error
    if not isinstance(source, str | os.PathLike):
        raise InputError(f"expected the path of a log or a data frame, got {shown(source)}")
    kind = kind_of(source, None)
    if kind in ("parquet", "arrow"):
        return read_columns(source, kind)
    return table_of(source, DELIMITERS.get(kind, ","), ids)


def place_of(source: Any) -> str:
    """Return the name of a source in errors."""
    return os.fspath(source) if isinstance(source, str | os.PathLike) else "log"
