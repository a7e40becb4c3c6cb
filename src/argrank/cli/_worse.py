"""``argrank train --fail-if-worse``: compare the new model with the old one and baselines on held-out queries."""

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

FOLDS = 5  # for out-of-fold scores, if there is no test data
NEW, OLD = "the new model", "the old model"


def check(baselines: Sequence[str], fail: bool, test: str | None, way: str, scheduler: str | None) -> None:
    """Raise, before any training, if the comparison is impossible or would use training queries."""
    if not baselines and not fail:
        return
    if way != "ranking" or scheduler is not None:
        raise OptionError(
            "--baseline, --fail-if-worse: expected a ranker of documents in memory, got another kind of training"
        )
    seen = next((name for name in baselines if Path(name).suffix.lower() == ".json"), None)
    if test is None and seen is not None:
        raise OptionError(
            f"--baseline {seen}: expected --test FILE, since a model may have been trained on these queries, got none"
        )
    if test is None and not baselines:
        raise OptionError(
            "--fail-if-worse: expected --test FILE, to compare with the model at -o on queries that neither has seen, "
            "or --baseline FEATURE, got neither"
        )


def out_of_fold(ranker: Any, data: Dataset) -> Any:
    """Return scores of the training data, every query scored by a model that was trained without it."""
    from sklearn.base import clone

    from argrank.data.checks import has_missing
    from argrank.data.folds import QueryKFold

    ranker, scores = clone(ranker), np.empty(data.n_documents)
    if ranker.prepare == "auto" and has_missing(data.X):  # even if the training part of a fold has no missing values
        ranker.set_params(prepare="always")
    for train, held in QueryKFold(FOLDS).split(data):
        part = data.select(held)
        rows = np.concatenate([np.arange(*data.indptr[query : query + 2]) for query in held])
        scores[rows] = part.from_caller(clone(ranker).fit(data.select(train)).predict(part))
    return data.to_caller(scores)


def compared(
    ranker: Any, data: Dataset, baselines: Sequence[str], old: Path | None, how: tuple[str, str], held_out: bool
) -> Comparison:
    """Compare the new model with baselines, and with the model that it would replace, by measure and convention.

    If the data is the training data and not ``held_out``, the new model is compared by its out-of-fold scores, and the
    old model, which may have been trained on these queries, is left out.
    """
    from argrank.evaluation.compare import compare
    from argrank.models.files import load_model

    scores = ranker.predict(data) if held_out else out_of_fold(ranker, data)
    systems = {NEW: scores, **{name: _scores(name, data) for name in baselines}}
    if held_out and old is not None and old.exists():
        systems[OLD] = load_model(old).predict(data)
    if len(systems) == 1:
        raise InputError("--fail-if-worse: expected --baseline, or an earlier model at -o FILE, got neither")
    return compare(systems, data, how[0], baseline=NEW, convention=how[1])


def better_than_all(found: Comparison) -> bool:
    """Tell whether the new model has a greater mean than every other system."""
    return all(one.difference < 0 for one in found.pairs if one.b == NEW) and all(
        one.difference > 0 for one in found.pairs if one.a == NEW
    )


def text(found: Comparison, held_out: bool) -> str:
    """Return a line for every system: the gain of the new model over it, with interval and p-value."""
    from argrank.evaluation.intervals import difference_text

    rows = []
    for one in found.pairs:
        sign, other = (1.0, one.b) if one.a == NEW else (-1.0, one.a)
        low, high = sorted(sign * end for end in one.interval)
        gain = f"{sign * one.difference:+.4f} {difference_text(low, high)}"
        rows.append((other, measure_text(found.means[other][one.measure]), gain, f"{one.p_corrected:.3g}"))
    (measure,) = found.measures
    queries = "test queries" if held_out else f"training queries out of fold ({FOLDS} folds)"
    header = (f"{queries}, {measure}", "mean", "gain of the new model, 95 % interval", "p")
    return to_text([table(header, rows)])


def _scores(name: str, data: Dataset) -> Any:
    """Return the scores of a feature by its name, of a model or of a file of scores; missing values rank last."""
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
    return arguments.system(name, data, None)
