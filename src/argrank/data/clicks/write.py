"""Click logs as tables, which ``load_clicks`` reads back."""

from __future__ import annotations

import os

from argrank._declared import checked
from argrank.data.clicks.log import Clicks
from argrank.data.io.tables import write_columns


@checked
def write_clicks(log: Clicks, path: str | os.PathLike[str]) -> None:
    """Write a log with one row for each shown document: .csv, .tsv, .parquet or .arrow."""
    write_columns(log.columns(), path)
