"""``argrank clicks interleave``: mix two or more rankings into one list, so that clicks show which one users prefer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from argrank.cli import arguments


def run(
    runs: list[str] = typer.Argument(..., metavar="RUN RUN…", help="Runs, as FILE or NAME=FILE; the names are teams."),
    method: str = typer.Option(
        "team-draft", "--method", metavar="NAME", help="team-draft, balanced or probabilistic; see the guide."
    ),
    k: int = typer.Option(10, "--results", metavar="N", help="Documents per list."),
    random_state: int = typer.Option(0, "--seed", help="Random seed."),
    output: Path = typer.Option(..., "--output", "-o", metavar="FILE", help="Write .csv, .tsv, .parquet or .arrow."),
) -> None:
    """Mix rankings into one list for each query, with the team of every document.

    Show the lists, log the column team with the clicks, and run argrank clicks preference on the log.

    For example:
      argrank clicks interleave bm25.run ours.run -o lists.csv
    """
    from argrank.clicks.interleaving import interleave

    chosen: Any = method
    found = interleave(dict(arguments.system_files(runs)), chosen, k=k, random_state=random_state)
    found.write(output)
    typer.echo(f"{output}: {found!r}")
