"""``argrank clicks simulate``: a click log from judged data."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import typer

from argrank.cli import arguments, options


@options.with_columns
def run(
    data: str = options.DATA,
    scores: list[str] = typer.Argument(
        None, metavar="SCORES", help="Scores of the rows; several files are several systems, or NAME=FILE."
    ),
    features: list[str] = options.SYSTEM,
    column: str | None = options.COLUMN,
    model: str = typer.Option(
        "pbm", "--model", metavar="NAME", help="How people click: pbm, trust, cascade, dcm, sdbn, dbn or ubm."
    ),
    eta: float = typer.Option(1.0, "--eta", help="How fast attention falls with rank."),
    noise: float = typer.Option(0.1, "--noise", help="Attraction of a document with label 0."),
    n_sessions: int = typer.Option(10_000, "--sessions", metavar="N", help="Number of searches."),
    n_results: int = typer.Option(10, "--results", metavar="N", help="Documents on a page."),
    vary: float = typer.Option(1.0, "--vary", help="How much pages vary; with 0 everybody sees the same."),
    traffic: float = typer.Option(0.0, "--traffic", help="How unevenly queries are searched; 0 for equally often."),
    random_state: int = typer.Option(0, "--seed", help="Random seed."),
    output: Path = typer.Option(..., "--output", "-o", metavar="FILE", help="Write the log: .csv, .parquet, .arrow."),
) -> None:
    """Simulate what people would click on pages of one or more systems.

    For example:
      argrank clicks simulate judged.txt scores.txt -o log.parquet
      argrank clicks simulate shop.csv --system bm25_title --model dbn --sessions 50000 -o log.parquet
    """
    from argrank.clicks.simulation import simulate_clicks
    from argrank.data.clicks.load import write_clicks

    files = arguments.system_files(scores or [])
    judged, systems = arguments.read_systems(data, files, column, options.names_of(features), progress=True)
    log = simulate_clicks(
        cast(Any, judged),
        systems,
        cast(Any, model),
        eta=eta,
        noise=noise,
        n_sessions=n_sessions,
        n_results=n_results,
        vary=vary,
        traffic=traffic,
        random_state=random_state,
    )
    write_clicks(log, output)
    typer.echo(f"{output}: {log!r}")
