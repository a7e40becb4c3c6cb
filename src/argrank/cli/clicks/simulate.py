"""``argrank clicks simulate``: a click log from judged data."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import typer

from argrank.cli import arguments, options
from argrank.cli.options import argument, file_option, option
from argrank.errors import InputError


@options.with_columns
def run(
    data: str = options.DATA,
    scores: list[str] = argument(
        "SCORES", None, "Scores of the rows, or models; several files are several systems, or NAME=FILE."
    ),
    features: list[str] = options.SYSTEM,
    column: str | None = options.COLUMN,
    model: str = option("--model NAME", "pbm", "How people click: pbm, trust, cascade, dcm, sdbn, dbn or ubm."),
    eta: float = option("--eta", 1.0, "How fast attention falls with rank."),
    noise: float = option("--noise", 0.1, "Attraction of a document with label 0."),
    n_sessions: int = option("--sessions N", 10_000, "Number of searches."),
    n_results: int = option("--results N", 10, "Documents on a page."),
    vary: float = option("--vary", 1.0, "How much pages vary; with 0 everybody sees the same."),
    traffic: float = option("--traffic", 0.0, "How unevenly queries are searched; 0 for equally often."),
    random_state: int = option("--seed", 0, "Random seed."),
    output: Path = file_option("--output -o FILE", ..., "Write the log: .csv, .parquet, .arrow."),
) -> None:
    """Simulate what people would click on pages of one or more systems.

    For example:
      argrank clicks simulate judged.txt scores.txt -o log.parquet
      argrank clicks simulate shop.csv --system bm25_title --model dbn --sessions 50000 -o log.parquet
    """
    from argrank.clicks.simulation import simulate_clicks
    from argrank.data.clicks.load import write_clicks
    from argrank.models.model import Model

    files = arguments.system_files(scores or [])
    for file in files.values():
        if arguments.is_run(file, column):
            raise InputError(f"{file}: expected a model, or one score for each row, got a run")
    judged, systems = arguments.read_systems(data, files, column, options.names_of(features), progress=True)
    log = simulate_clicks(
        cast(Any, judged),
        {name: one.predict(judged) if isinstance(one, Model) else one for name, one in systems.items()},
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
