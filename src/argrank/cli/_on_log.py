"""The options of commands that take a click log in the place of judgements, and what they read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from argrank.cli import arguments, options
from argrank.errors import OptionError

LOG: Any = typer.Option(
    None, "--clicks", metavar="LOG", help="A click log (see argrank clicks) in the place of judgements."
)
BESIDE: Any = typer.Option(
    None, "--clicks", metavar="LOG", help="A click log (see argrank clicks) beside the judgements."
)
CURVE: Any = typer.Option(
    None, "--propensities", metavar="FILE.json", help="How ranks are seen, of argrank clicks propensities."
)
ESTIMATOR: Any = typer.Option(
    "examinations", "--estimator", metavar="NAME", help="Of --clicks: examinations, ips, dr or model."
)
FEATURES: Any = typer.Option(
    None, "--candidates", metavar="DATA", help="Of --clicks: the table of candidates, for models instead of runs."
)
MIN_COVERAGE: Any = typer.Option(
    0.9, "--min-coverage", metavar="SHARE", help="Of --clicks: refuse a value that covers less of the discount."
)
MIN_CLICKS: Any = typer.Option(
    100.0, "--min-clicks", metavar="N", help="Of --clicks: refuse a value that rests on fewer effective clicks."
)
USUAL = ["dcg@10"]  # where nothing else is asked for


def read(log: Path, curve: Path | None) -> tuple[Any, Any]:
    """Return a log and its curve of examination, which is estimated where none is given."""
    from argrank.clicks.curve import PropensitiesBy, read_propensities
    from argrank.clicks.propensities import propensities
    from argrank.data.clicks.load import load_clicks
    from argrank.data.clicks.log import Clicks

    theta = None if curve is None else read_propensities(curve)
    keep = (theta.column,) if isinstance(theta, PropensitiesBy) else ()
    found = load_clicks(str(log), keep=keep)
    own = found.propensity if isinstance(found, Clicks) else None
    return found, propensities(found) if theta is None and own is None else theta


def measures(given: Sequence[str]) -> list[str]:
    """Return the measures that are asked for, dcg@10 where none are."""
    names = options.split_names(list(given))
    return USUAL if tuple(names) == options.DEFAULT_MEASURES else names


def systems(files: Sequence[str], candidates: str | None) -> tuple[dict[str, Any], Any]:
    """Return runs by name, or with a table of candidates the scores of models; and the candidates."""
    named = arguments.system_files(list(files))
    if candidates is None:
        return dict(named), None
    from argrank.data.io.load import load

    table = load(candidates)
    from argrank.models.files import load_model

    found = {}
    for name, file in named.items():
        is_model = str(file).endswith(".json")
        found[name] = load_model(file).predict(table) if is_model else arguments.system(file, table, None)
    return found, table


def refuse(**given: Any) -> None:
    """Refuse options that need judgements."""
    for name, one in given.items():
        if one:
            raise OptionError(f"--{name.replace('_', '-')}: expected judgements beside it, got --clicks")
