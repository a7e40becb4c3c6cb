"""``argrank export``: files for the engine that will serve a model, with the proof that it scores the same there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

from argrank._files import refuse_endless
from argrank.cli import arguments, options
from argrank.cli.options import argument, option
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
    model: Path = argument("MODEL.json", ..., "Model saved by `argrank train` or ranker.save."),
    to: str = option(
        "--to TARGET",
        ...,
        "elasticsearch, opensearch, solr, ranklib, xgboost, lightgbm, vespa, onnx, elastic or python.",
        autocompletion=complete_target,
    ),
    output: Path = option("--output -o FOLDER", ..., "Where the files go."),
    check: str | None = option("--check DATA", None, "Data to compare the scores on; judged or not."),
    name: str = option("--name NAME", "argrank", "The model's name in the engine."),
    features: Path | None = option("--features FILE", None, "Names of the features in the engine, one per line."),
    missing: str = option("--missing MODE", "as-trained", "Missing values in trees: as-trained, or zero."),
    shift: bool = option("--shift", False, "Shift the scores of trees so that none is negative."),
    strict: str | None = option(
        "--strict [=beyond-rounding]",
        None,
        "Exit code 1 if a query of --check is reordered, for any reason, or scores differ beyond rounding; with "
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
