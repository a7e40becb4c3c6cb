"""``argrank train --fail-if-worse``: the new model against the old one and baselines, on queries that none has seen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from argrank._tables import measure_text, table, to_text
from argrank.cli import arguments
from argrank.errors import InputError, OptionError

if TYPE_CHECKING:
    from argrank.data.dataset import Dataset
    from argrank.evaluation.comparison import Comparison

NEW, OLD = "the new model", "the old model"


def check(baselines: Sequence[str], fail: bool, test: str | None, way: str, scheduler: str | None) -> None:
    """Refuse, before any training, a comparison that could not be made or would not be honest."""
    if not baselines and not fail:
        return
    if way != "ranking" or scheduler is not None:
        raise OptionError("--baseline, --fail-if-worse: expected a ranker of documents in memory, got another training")
    if test is None:
        raise OptionError(
            "--baseline, --fail-if-worse: expected --test FILE with queries that no model was trained on, got none"
        )


def compared(
    ranker: Any, data: Dataset, baselines: Sequence[str], old: Path | None, how: tuple[str, str]
) -> Comparison:
    """Compare the new model with baselines, and with the model that it would replace, by measure and convention."""
    from argrank.evaluation.compare import compare
    from argrank.models.files import load_model

    systems = {NEW: ranker.predict(data), **{name: _scores(name, data) for name in baselines}}
    if old is not None and old.exists():
        systems[OLD] = load_model(old).predict(data)
    if len(systems) == 1:
        raise InputError("--fail-if-worse: expected --baseline, or a model of before at -o FILE, got neither")
    return compare(systems, data, how[0], baseline=NEW, convention=how[1])


def better_than_all(found: Comparison) -> bool:
    """Tell whether the new model has a greater mean than every other system."""
    return all(one.difference < 0 for one in found.pairs if one.b == NEW) and all(
        one.difference > 0 for one in found.pairs if one.a == NEW
    )


def text(found: Comparison) -> str:
    """Return a line for every system: what the new model gains over it, with interval and p-value."""
    rows = []
    for one in found.pairs:
        sign, other = (1.0, one.b) if one.a == NEW else (-1.0, one.a)
        low, high = sorted(sign * end for end in one.interval)
        gain = f"{sign * one.difference:+.4f} ({low:+.4f} to {high:+.4f})"
        rows.append((other, measure_text(found.means[other][one.measure]), gain, f"{one.p_corrected:.3g}"))
    (measure,) = found.measures
    header = (f"test queries, {measure}", "mean", "gain of the new model, 95 % interval", "p")
    return to_text([table(header, rows)])


def _scores(name: str, data: Dataset) -> Any:
    """Return the scores of a feature by its name, of a model file or of a file of scores; a missing value is last."""
    names = data.feature_names or ()
    if name in names:
        column = data.X[:, names.index(name)]
        values = np.asarray(column.toarray().ravel() if data.is_sparse else column, np.float64)
        known = values[~np.isnan(values)]
        lowest = float(known.min()) - 1.0 if len(known) else 0.0
        return data.to_caller(np.where(np.isnan(values), lowest, values))
    if not Path(name).exists():
        listing = ", ".join(names[:10]) or "LETOR text has no names"
        raise OptionError(f"--baseline: expected a feature ({listing}), a model or a file of scores, got {name!r}")
    if Path(name).suffix.lower() == ".json":
        from argrank.models.files import load_model

        return load_model(name).predict(data)
    return arguments.system(name, data, None)
