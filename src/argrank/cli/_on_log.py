"""The options of commands that take a click log instead of judgements, and reading it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from argrank.cli import arguments, options
from argrank.cli.options import option
from argrank.errors import OptionError

LOG = option("--clicks LOG", None, "A click log (see argrank clicks) instead of judgements.")
BESIDE = option("--clicks LOG", None, "A click log (see argrank clicks) beside the judgements.")
CURVE = option("--propensities FILE.json", None, "The examination curve written by argrank clicks propensities.")
ESTIMATOR = option("--estimator NAME", "examinations", "The estimator for --clicks: examinations, ips, dr or model.")
FEATURES = option("--candidates DATA", None, "With --clicks and models instead of runs: the table of candidates.")
MIN_COVERAGE = option("--min-coverage SHARE", 0.9, "With --clicks: refuse a value that covers less of the discount.")
MIN_CLICKS = option("--min-clicks N", 100.0, "With --clicks: refuse a value based on fewer effective clicks.")
USUAL = ["dcg@10"]  # the default


def read(log: Path, curve: Path | None) -> tuple[Any, Any]:
    """Return a log and its examination curve, which is estimated if none is given."""
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
    """Return the measures given, or dcg@10."""
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
    """Raise if an option that needs judgements was given."""
    for name, one in given.items():
        if one:
            raise OptionError(f"--{name.replace('_', '-')}: expected judgements, which it needs, got --clicks")
