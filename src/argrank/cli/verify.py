"""``argrank verify``: compare the scores that an engine logged with the model's."""

from __future__ import annotations

from pathlib import Path

import typer

from argrank.cli import _options as options


def run(
    model: Path = typer.Argument(..., metavar="MODEL.json", help="The model that was exported."),
    logged: Path = typer.Argument(
        ..., metavar="LOGGED.csv", help="What the engine logged: a column for each feature, score, perhaps qid, docid."
    ),
    tolerance: float = typer.Option(1e-5, "--tolerance", metavar="X", help="Largest difference that is accepted."),
    missing: str = typer.Option(
        "as-trained", "--missing", metavar="MODE", help="As exported: as-trained, or zero. Empty cells are missing."
    ),
    constant: bool = typer.Option(
        False, "--constant", help="Allow one constant in all scores: RankLib with a normaliser, --shift, base_score."
    ),
    quiet: bool = options.QUIET,
) -> None:
    """Compare the scores that an engine logged with those of the model; exit code 1 beyond the tolerance.

    For example:
      argrank verify model.json logged.csv --tolerance 1e-5
    """
    from argrank.deploy.verification import verify

    found = verify(model, logged, tolerance=tolerance, missing=missing, constant=constant)
    if not quiet:
        typer.echo(found.line)
    if not found.holds:
        raise typer.Exit(1)
