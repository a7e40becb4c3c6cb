"""The options for reading a click log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import typer

from argrank.cli import options

FILES: Any = typer.Argument(
    ...,
    metavar="LOG",
    help="A row for each shown document: .csv, .parquet, .arrow; or --form. Several are one log.",
)
FORM: Any = typer.Option(
    None,
    "--form",
    metavar="ubi|sessions|counts|letor",
    help="Form of the log: OpenSearch's events, session lists, sums, LETOR clicks.",
)
COLUMNS: Any = typer.Option(
    [], "--column", metavar="YOURS=OURS", help="A column and what it is: session, qid, docid, position, click, user, …"
)
FIRST: Any = typer.Option(1, "--first-position", metavar="0|1", help="The position of the top document.")
REPEATED: Any = typer.Option(
    "error", "--repeated", metavar="error|merge|keep", help="How to treat a document that a session shows twice."
)
SUMS: Any = typer.Option(False, "--sums", help="Keep only sums: for Parquet logs larger than memory.")


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
