"""cross_validate and benchmark: rankers on a user's own data, tested by query."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from scipy import sparse

from argrank._declared import AtLeast, Jobs, Seed, checked
from argrank._progress import Progress
from argrank._types import Integers
from argrank.data.dataset import Dataset
from argrank.data.doctor import doctor
from argrank.data.folds import Fold, QueryKFold
from argrank.errors import InputError, OptionError, check_name, shown
from argrank.measures.conventions import Convention
from argrank.measures.names import measure_list
from argrank.rankers import make_ranker
from argrank.rankers.registry import RANKERS, first_comparison, registered_name
from argrank.trials.engine import Entrant, Protocol, Run, entrants_of, run_fold, run_trials
from argrank.trials.select import DEFAULT, make_grid
from argrank.trials.store import fits_in
from argrank.trials.trial import Trial, aims_and_stays, systems_of

logger = logging.getLogger(__name__)

MEASURES = ("ndcg@10", "map", "mrr@10", "auc")


@checked
def cross_validate(
    ranker: Any,
    data: Dataset | None,
    measures: Any,
    *,
    grid: Mapping[str, Any] | Sequence[Mapping[str, Any]] | str | None = None,
    n_folds: Annotated[int, AtLeast(2)] = 5,
    select_by: Any = None,
    convention: str | Convention = "default",
    random_state: Seed | None = 0,
    folds: Sequence[Fold] | None = None,
    n_jobs: Jobs = None,
    progress: bool = True,
    resume: str | os.PathLike[str] | None = None,
) -> Trial:
    """Cross-validate rankers by LETOR's protocol: all parts but two train, one validates, one tests, in turn.

    Parameters
    ----------
    ranker : estimator, registered name, list of names, or dict of name -> estimator or registered name
        A ranker that fails is left out with a note, unless all fail. Estimators of other libraries (LGBMRanker,
        XGBRanker, CatBoostRanker, scikit-learn's) work too, see ``ar.benchmark``.
    data : Dataset
        Split by query into ``n_folds`` random parts.
    measures : str, Measure or a list of them
        As in ``ar.evaluate``. Rankers optimise the first one if they can, unless they were given another measure.
    grid : grid as in ``ar.select``, "default", or None
        For several rankers a dict of name -> grid. "default" is each ranker's own, as in ``ar.select``. None trains
        with the given parameters.
    select_by : str, optional
        The measure that chooses from the grid on the validation part; by default the first of ``measures``.
    folds : sequence of Fold, optional
        Folds made elsewhere, instead of ``data``; no query may be tested twice.
    n_jobs : int, optional
        Number of grid points trained at the same time.
    resume : path, optional
        Folder in which every fit is stored, finished or not; the same call continues from there, with bit-identical
        results. Estimators of other libraries are trained again.

    Returns
    -------
    Trial
        Prints as tables; ``means`` are means over folds.
    """
    rankers = _named(ranker)
    grids = _grids(rankers, grid, single=not isinstance(ranker, Mapping | list | tuple))
    names = tuple(name for name, _ in measure_list(measures))
    if folds is None:
        if data is None:
            raise InputError("cross_validate: expected data or folds, got neither")
        if resume is not None and random_state is None:
            raise OptionError("resume: expected a random_state, got None, with which every split is different")
        folds, tested = _split(data, n_folds, random_state)
        everything: tuple[Dataset, ...] = (data,)
    else:
        folds = list(folds)
        data = Dataset.concatenate([fold.test for fold in folds])
        everything = _parts(folds[0]) if len(folds) == 1 else (data,)
        tested = np.split(np.arange(data.n_queries), np.cumsum([fold.test.n_queries for fold in folds])[:-1])
    select_by = names[0] if select_by is None else str(select_by)
    protocol = Protocol(names, select_by, convention, n_jobs, fits_in(resume))
    entrants = entrants_of(rankers, grids)
    return _trial(entrants, data, folds, tested, protocol, progress, "cross-validating", everything=everything)


@checked
def benchmark(
    data: Dataset,
    measures: Any = MEASURES,
    rankers: str | Sequence[Any] | Mapping[str, Any] | None = None,
    *,
    valid: Dataset | None = None,
    test: Dataset | None = None,
    n_folds: Annotated[int, AtLeast(2)] = 5,
    normalise: str | None = "auto",
    convention: str | Convention = "default",
    random_state: Seed = 0,
    n_jobs: Jobs = None,
    progress: bool = True,
    resume: str | os.PathLike[str] | None = None,
) -> Trial:
    """Train several rankers, each with its parameters chosen by validation, and compare them on held-out queries.

    Parameters
    ----------
    data : Dataset
        With ``valid`` and ``test``, the training part; otherwise everything, split by query into ``n_folds`` parts as
        in ``ar.cross_validate``, so that every query is tested once by a model that was not trained on it.
    measures : str or sequence
        Rankers optimise the first one if they can; on validation queries, it also chooses the parameters and the best
        ranker.
    rankers : names and estimators, or dict of name -> estimator, optional
        By default one or two of every family. A ranker that fails is left out with a note. Given parameters of an
        estimator are kept; the others are chosen from its default grid. Estimators of other libraries are trained with
        the given parameters. Fitted ones, and any object with ``predict``, are tested without training and cannot be
        the best, because they may have been trained on these queries.
    normalise : str or None
        How features are scaled for scale-sensitive rankers: a normaliser's name, None, or "auto": "standard", unless
        all features lie in [0, 1] already or are sparse.
    n_jobs : int, optional
        Number of grid points trained at the same time.
    resume : path, optional
        Folder in which every fit is stored, finished or not; the same call continues from there, with bit-identical
        results. Estimators of other libraries are trained again.

    Returns
    -------
    Trial
        Prints as a table, in notebooks too; ``means`` are means over all tested queries. ``best`` is the best by
        validation; ``ranker()`` returns it, trained again on all data. ``ar.write_report(path, trial)`` writes the HTML
        report.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(30, 10, 4, random_state=0)
    >>> found = ar.benchmark(data, ["ndcg@5"], ["regression", "svm-auc"], n_folds=3, progress=False)
    >>> sorted(found.systems)
    ['regression', 'svm-auc']
    """
    names = tuple(name for name, _ in measure_list(measures))
    if (valid is None) != (test is None):
        raise InputError("benchmark: expected valid and test together, or neither, got one of them")
    scaling = _scaling(data) if normalise == "auto" else normalise
    made = _spread(rankers, scaling)
    if valid is not None and test is not None:
        judged, folds, tested = test, [Fold(data, valid, test)], [np.arange(test.n_queries)]
        diagnosis = doctor(data, valid, test, names=("training", "validation", "test"))
    else:
        judged, (folds, tested) = data, _split(data, n_folds, random_state)
        diagnosis = doctor(data)
    everything = _parts(folds[0]) if valid is not None else (data,)
    told = (
        (f"Features are scaled by {scaling} for rankers that need it; the scaling is part of the model.",)
        if scaling
        else ()
    )
    entrants = entrants_of(made, {name: make_grid(one, DEFAULT) for name, one in made.items()})
    protocol = Protocol(names, names[0], convention, n_jobs, fits_in(resume))
    shared: dict[str, Any] = {"averaged": "queries", "diagnosis": diagnosis, "notes": told, "everything": everything}
    return _trial(entrants, judged, folds, tested, protocol, progress, "benchmark", **shared)


def _trial(
    entrants: Mapping[str, Entrant],
    data: Dataset,
    folds: Sequence[Fold],
    tested: Sequence[Integers],
    protocol: Protocol,
    progress: bool,
    title: str,
    notes: tuple[str, ...] = (),
    **shared: Any,
) -> Trial:
    validated: dict[str, list[Run]] = {name: [] for name in entrants}

    def run(name: str, number: int, fold: Fold) -> Run:
        found = run_fold(entrants[name], number, fold, protocol)
        own = validated[name]
        own.append(found)
        if number == len(folds):
            value, seconds = np.mean([one.validation for one in own]), sum(one.seconds for one in own)
            logger.info("%s: validation %s %.4f, all settings in %.1f s", name, protocol.select_by, value, seconds)
        return found

    with Progress(title, len(entrants) * len(folds), enabled=progress) as bar:
        runs, failures = run_trials(entrants, enumerate(folds, 1), run, bar)
    systems, silent = systems_of(runs, data, tested)
    return Trial(
        data=data,
        folds={name: tuple(own) for name, own in runs.items()},
        systems=systems,
        measures=protocol.measures,
        select_by=protocol.select_by,
        convention=protocol.convention,
        fits=protocol.fits,
        notes=(*failures, *silent, *aims_and_stays(runs, protocol.measures[0]), *notes),
        **shared,
    )


def _parts(fold: Fold) -> tuple[Dataset, ...]:
    """Return all data of a single fold."""
    return tuple(part for part in fold if part is not None)


def _split(data: Dataset, n_folds: int, random_state: int | None) -> tuple[list[Fold], list[Integers]]:
    """Return the folds by LETOR's rule and the numbers of the queries that each of them tests."""
    splitter = QueryKFold(n_folds, random_state=random_state, letor=True)
    return list(splitter.folds(data)), [test for _, test in splitter.split(data)]


def _named(given: Any) -> dict[str, Any]:
    """Return rankers by name."""
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
        return {name: make_grid(ranker, grid) for name, ranker in rankers.items()}
    if single or grid is None:
        return dict.fromkeys(rankers, grid)
    if not isinstance(grid, Mapping):
        raise OptionError(f"grid: expected a dict of name -> grid for several rankers, got {shown(grid)}")
    for name in grid:
        check_name("ranker in grid", name, rankers)
    return {name: make_grid(one, grid.get(name)) for name, one in rankers.items()}


def _spread(rankers: str | Sequence[Any] | Mapping[str, Any] | None, scaling: str | None) -> dict[str, Any]:
    """Return rankers by name; those given by name get scaled features if they need it."""
    if isinstance(rankers, Mapping):
        return _named(rankers)
    given = first_comparison() if rankers is None else [rankers] if isinstance(rankers, str) else list(rankers)
    named = [one for one in given if isinstance(one, str)]
    made = _named([*dict.fromkeys(named), *(one for one in given if not isinstance(one, str))])
    for name in named if scaling is not None else []:
        if not RANKERS[name].scale_free and "normalise" in made[name].get_params():
            made[name].set_params(normalise=scaling)
    return made


def _scaling(data: Dataset) -> str | None:
    if sparse.issparse(data.X) or (np.nanmin(data.X) >= 0 and np.nanmax(data.X) <= 1):
        return None
    return "standard"
