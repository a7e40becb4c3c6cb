"""Click logs as tables, which ``load_clicks`` reads back."""

from __future__ import annotations

import os

from argrank._declared import checked
from argrank.data.clicks.log import Clicks
from argrank.data.io import arrow, delimited_writer
from argrank.data.io.delimited import DELIMITERS
from argrank.data.io.kinds import kind_of
from argrank.errors import OptionError


@checked
def write_clicks(log: Clicks, path: str | os.PathLike[str]) -> None:
    """Write a log with one row for each shown document: .csv, .tsv, .parquet or .arrow."""
    kind, columns = kind_of(path, None), log.columns()
    if kind in DELIMITERS:
        delimited_writer.write(columns, path, DELIMITERS[kind])
    elif kind in ("parquet", "arrow"):
        arrow.write(columns, path, kind)
    else:
        raise OptionError(f"{os.fspath(path)}: expected a name that ends with .csv, .tsv, .parquet or .arrow")
