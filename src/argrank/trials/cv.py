"""Cross-validation by query, on a user's own data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from argrank._progress import Progress
from argrank._types import Integers
from argrank.data.dataset import Dataset
from argrank.data.folds import Fold, QueryKFold
from argrank.errors import InputError, OptionError, shown, unknown_name
from argrank.measures.conventions import Convention
from argrank.measures.names import measure_list
from argrank.rankers import make_ranker
from argrank.rankers.registry import default_grid, registered_name
from argrank.trials.cross_validation import CrossValidation, FoldResult
from argrank.trials.protocol import Run, run_fold

DEFAULT = "default"  # as a grid: each ranker's own


def cross_validate(
    ranker: Any,
    data: Dataset | None,
    measures: Any,
    *,
    grid: Any = None,
    n_folds: int = 5,
    select_by: Any = None,
    convention: str | Convention = "default",
    random_state: int | None = 0,
    folds: Sequence[Fold] | None = None,
    n_jobs: int | None = None,
    progress: bool = True,
) -> CrossValidation:
    """Cross-validate rankers by LETOR's protocol: all parts but two train, one validates, one tests, in turn.

    Parameters
    ----------
    ranker : estimator, registered name, list of names, or dict of name -> estimator or registered name
    data : Dataset
        Split by query into ``n_folds`` random parts.
    measures : str, Measure or a list of them
        As in ``ar.evaluate``.
    grid : grid as in ``ar.select``, "default", or None
        For several rankers a dict of name -> grid. "default" is each ranker's own. None trains as given.
    select_by : str, optional
        The measure that chooses from the grid on the validation part; by default the first of ``measures``.
    folds : sequence of Fold, optional
        Folds made elsewhere, instead of ``data``; no query may be tested twice.
    n_jobs : int, optional
        Points of a grid trained at a time.
    """
    rankers = _rankers(ranker)
    grids = _grids(rankers, grid, single=not isinstance(ranker, Mapping | list | tuple))
    asked = measure_list(measures)
    chosen_by = asked[0][0] if select_by is None else select_by
    if folds is None:
        if data is None:
            raise InputError("cross_validate: expected data or folds, got neither")
        splitter = QueryKFold(n_folds, random_state=random_state)
        folds, tested = list(splitter.folds(data)), _tested(data, n_folds, random_state)
    else:
        folds = list(folds)
        data = Dataset.concatenate([fold.test for fold in folds])
        tested = list(np.split(np.arange(data.n_documents), np.cumsum([f.test.n_documents for f in folds])[:-1]))
    results: dict[str, list[FoldResult]] = {name: [] for name in rankers}
    scores = {name: np.empty(data.n_documents) for name in rankers}
    with Progress("cross-validating", len(folds) * len(rankers), enabled=progress) as bar:
        for number, (fold, rows) in enumerate(zip(folds, tested, strict=True), 1):
            for name, one in rankers.items():
                run = run_fold(one, grids[name], fold, measures, chosen_by, convention=convention, n_jobs=n_jobs)
                results[name].append(_fold_result(number, run, fold))
                scores[name][rows] = fold.test.from_caller(run.scores)
                bar.advance(1, f"{name}, fold {number}")
    return CrossValidation(
        systems=tuple(rankers),
        measures=tuple(name for name, _ in asked),
        folds={name: tuple(found) for name, found in results.items()},
        scores={name: data.to_caller(found) for name, found in scores.items()},
        data=data,
        select_by=str(chosen_by),
        convention=convention,
    )


def _rankers(given: Any) -> dict[str, Any]:
    if isinstance(given, str):
        given = [given]
    if isinstance(given, list | tuple):
        names = [one if isinstance(one, str) else registered_name(one) for one in given]
        if len(set(names)) < len(names):
            raise OptionError(f"ranker: expected different names, got {', '.join(names)}; use a dict of name -> ranker")
        given = dict(zip(names, given, strict=True))
    elif not isinstance(given, Mapping):
        given = {registered_name(given): given}
    if not given:
        raise OptionError("ranker: expected at least one, got none")
    return {str(name): make_ranker(one) if isinstance(one, str) else one for name, one in given.items()}


def _grids(rankers: Mapping[str, Any], grid: Any, single: bool) -> dict[str, Any]:
    if isinstance(grid, str):
        if grid != DEFAULT:
            raise OptionError(f"grid: expected parameters and values, {DEFAULT!r} or None, got {grid!r}")
        return {name: default_grid(ranker) for name, ranker in rankers.items()}
    if single or grid is None:
        return dict.fromkeys(rankers, grid)
    if not isinstance(grid, Mapping):
        raise OptionError(f"grid: expected a dict of name -> grid for several rankers, got {shown(grid)}")
    for name in grid:
        if name not in rankers:
            raise unknown_name("ranker in grid", name, rankers)
    return {name: default_grid(one) if grid.get(name) == DEFAULT else grid.get(name) for name, one in rankers.items()}


def _tested(data: Dataset, n_folds: int, random_state: int | None) -> list[Integers]:
    """Return the stored rows that each fold tests."""
    splitter = QueryKFold(n_folds, random_state=random_state, letor=True)
    return [np.flatnonzero(np.isin(data.query_of_row, test)) for _, test in splitter.split(data)]


def _fold_result(number: int, run: Run, fold: Fold) -> FoldResult:
    return FoldResult(
        fold=number,
        params=run.params,
        validation=run.validation,
        means=dict(run.test.means),
        n_queries=fold.test.n_queries,
        notes=run.notes,
        model=getattr(run.ranker, "model_", None),  # estimators of other libraries have none
    )
