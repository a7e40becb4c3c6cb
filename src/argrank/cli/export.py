"""``argrank export``: files for the engine that will serve a model, with the proof that it scores the same there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

from argrank._files import refuse_endless
from argrank.cli import arguments, options
from argrank.errors import InputError, check_choice

if TYPE_CHECKING:
    from argrank.deploy.options import Missing

STRICT = ("order", "beyond-rounding")  # what fails a pipeline: any reordering, or only differences beyond rounding


def complete_target(incomplete: str) -> list[str]:
    """Return the targets that a shell offers for completion."""
    from argrank.deploy.registry import TARGETS

    return [name for name in TARGETS if name.startswith(incomplete)]


@options.with_columns
def run(
    model: Path = typer.Argument(..., metavar="MODEL.json", help="Model saved by `argrank train` or ranker.save."),
    to: str = typer.Option(
        ...,
        "--to",
        metavar="TARGET",
        autocompletion=complete_target,
        help="elasticsearch, opensearch, solr, ranklib, xgboost, lightgbm, vespa, onnx, elastic or python.",
    ),
    output: Path = typer.Option(..., "--output", "-o", metavar="FOLDER", help="Where the files go."),
    check: str | None = typer.Option(
        None, "--check", metavar="DATA", help="Data to compare the scores on; judged or not."
    ),
    name: str = typer.Option("argrank", "--name", metavar="NAME", help="The model's name in the engine."),
    features: Path | None = typer.Option(
        None, "--features", metavar="FILE", help="Names of the features in the engine, one per line."
    ),
    missing: str = typer.Option(
        "as-trained", "--missing", metavar="MODE", help="Missing values in trees: as-trained, or zero."
    ),
    shift: bool = typer.Option(False, "--shift", help="Shift the scores of trees so that none is negative."),
    strict: str | None = typer.Option(
        None,
        "--strict",
        metavar="[=beyond-rounding]",
        help="Exit code 1 if a query of --check is reordered, for any reason, or scores differ beyond rounding; with "
        "--strict=beyond-rounding only the latter.",
    ),
    quiet: bool = options.QUIET,
) -> None:
    """Export a model to a search engine or another library, and prove that it scores the same there.

    For example:
      argrank export model.json --to opensearch -o deploy --check test.txt
      argrank export model.json --to solr -o deploy --missing zero --strict
    """
    from argrank.deploy.exporting import export
    from argrank.models.files import load_model

    if strict is not None:
        check_choice("--strict", strict, STRICT)
    loaded = load_model(model)
    data = None if check is None else arguments.documents_for(loaded, check, not quiet, judged=True)
    names = None if features is None else names_in(features)
    found = export(loaded, to, name=name, check=data, missing=cast("Missing", missing), features=names, shift=shift)
    found.write(output)
    if not quiet:
        for line in [*found.parity.lines(), *found.notes]:
            typer.echo(line)
        typer.echo(f"Written to {output}: {', '.join(found.files)}.")
    holds = {None: True, "order": found.parity.keeps_order, "beyond-rounding": found.parity.holds}
    if not holds[strict]:
        raise typer.Exit(1)


def names_in(path: Path) -> list[str]:
    """Return the names of features in a file, one per line."""
    try:
        refuse_endless(path)
        return [line.strip() for line in path.read_text("utf-8").splitlines() if line.strip()]
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expected names as UTF-8 text, one per line") from error
