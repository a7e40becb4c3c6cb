"""The options for reading a click log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from argrank.cli import options
from argrank.cli.options import argument, option

FILES = argument("LOG", ..., "A row for each shown document: .csv, .parquet, .arrow; or --form. Several are one log.")
FORM = option(
    "--form ubi|sessions|counts|letor", None, "Form of the log: OpenSearch's events, session lists, sums, LETOR clicks."
)
COLUMNS = option("--column YOURS=OURS", [], "A column and what it is: session, qid, docid, position, click, user, …")
FIRST = option("--first-position 0|1", 1, "The position of the top document.")
REPEATED = option("--repeated error|merge|keep", "error", "How to treat a document that a session shows twice.")
SUMS = option("--sums", False, "Keep only sums: for Parquet logs larger than memory.")


def read(
    files: Sequence[str], form: str | None, columns: list[str], first: int, repeated: str, sums: bool, keep: str | None
) -> Any:
    """Read the log given by the options."""
    from argrank.data.clicks.load import load_clicks

    named = {name: str(value) for name, value in options.parse_parameters(columns, "--column").items()}
    return load_clicks(
        list(files) if len(files) > 1 else files[0],
        columns=named,
        format=form,
        first_position=cast(Any, first),
        repeated=cast(Any, repeated),
        sums=sums,
        keep=() if keep is None else (keep,),
    )
