"""``argrank clicks interleave``: mix two or more rankings into one list, so that clicks show which one users prefer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from argrank.cli import arguments
from argrank.cli.options import argument, file_option, option


def run(
    runs: list[str] = argument("RUN RUN…", ..., "Runs, as FILE or NAME=FILE; the names are teams."),
    method: str = option("--method NAME", "team-draft", "team-draft, balanced or probabilistic; see the guide."),
    k: int = option("--results N", 10, "Documents per list."),
    random_state: int = option("--seed", 0, "Random seed."),
    output: Path = file_option("--output -o FILE", ..., "Write .csv, .tsv, .parquet or .arrow."),
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
