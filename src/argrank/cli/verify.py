"""``argrank verify``: compare the scores that an engine logged with the model's."""

from __future__ import annotations

from pathlib import Path

import typer

from argrank.cli import options
from argrank.cli.export import complete_target, names_in
from argrank.cli.options import argument, option


def run(
    model: Path = argument("MODEL.json", ..., "The model that was exported."),
    logged: Path = argument(
        "LOGGED.csv",
        ...,
        "What the engine logged: a column for each feature, score, perhaps qid, docid; .csv, .tsv, .parquet or .arrow.",
    ),
    to: str | None = option(
        "--to TARGET",
        None,
        "The engine whose arithmetic is simulated, as in export; default: argrank's own.",
        autocompletion=complete_target,
    ),
    features: Path | None = option(
        "--features FILE", None, "Names of the features in the engine, one per line, as exported."
    ),
    tolerance: float | None = option(
        "--tolerance X",
        None,
        "Largest difference that is accepted, as a share of the numbers summed to a score: 1.9e-6, as in export; "
        "without --to, and for onnx, more for long sums.",
    ),
    missing: str = option(
        "--missing MODE", "as-trained", "As in the export: as-trained, or zero. Empty cells are missing."
    ),
    constant: bool = option(
        "--constant", False, "Allow one constant in all scores: RankLib with a normaliser, --shift, base_score."
    ),
    quiet: bool = options.QUIET,
) -> None:
    """Compare the scores that an engine logged with those of the model; exit code 1 beyond the tolerance.

    Text features may be logged as text, or as the 0/1 columns that the engine computes.

    For example:
      argrank verify model.json logged.csv --to opensearch
    """
    from argrank.deploy.verification import verify

    found = verify(
        model,
        logged,
        to=to,
        tolerance=tolerance,
        missing=missing,
        constant=constant,
        features=None if features is None else names_in(features),
    )
    if not quiet:
        for line in found.lines:
            typer.echo(line)
    if not found.holds:
        raise typer.Exit(1)
