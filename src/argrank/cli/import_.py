"""``argrank import``: a model of another library as an argrank model."""

from __future__ import annotations

from pathlib import Path

import typer

from argrank.cli import options
from argrank.cli.options import argument, option


def run(
    model: Path = argument("MODEL", ..., "Model saved by XGBoost, LightGBM, CatBoost or RankLib."),
    source: str | None = option(
        "--from FORMAT", None, "xgboost, lightgbm, catboost or ranklib; default: by the content."
    ),
    output: Path = option("--output -o FILE.json", ..., "Where to save the argrank model."),
    quiet: bool = options.QUIET,
) -> None:
    """Turn a model of XGBoost (JSON, UBJ), LightGBM, CatBoost (JSON) or RankLib into an argrank model.

    It can then be evaluated, reported, explained and exported like any argrank model.

    For example:
      argrank import booster.ubj -o model.json
      argrank export model.json --to solr -o deploy
    """
    from argrank.deploy.importing import import_model
    from argrank.deploy.registry import targets

    found = import_model(model, source)
    found.save(output)
    if not quiet:
        typer.echo(
            f"{output}: {found.kind}, {found.n_features:,} features; can be exported to {', '.join(targets(found))}."
        )
