"""benchmark: a spread of rankers on one's own data, each at its best, in one call."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from argrank._progress import Progress
from argrank.data.dataset import Dataset
from argrank.data.doctor import doctor
from argrank.data.folds import Fold, QueryKFold
from argrank.errors import ArgrankError, ArgrankWarning, InputError
from argrank.measures.conventions import Convention
from argrank.measures.names import measure_list
from argrank.rankers import make_ranker
from argrank.rankers.registry import default_grid, first_comparison, registered
from argrank.trials.benchmark_result import Benchmark, Entry
from argrank.trials.protocol import Run, run_fold
from argrank.trials.system import System

logger = logging.getLogger(__name__)

MEASURES = ("ndcg@10", "map", "mrr@10", "auc")


def benchmark(
    data: Dataset,
    measures: Any = MEASURES,
    rankers: Sequence[str] | Mapping[str, Any] | None = None,
    *,
    valid: Dataset | None = None,
    test: Dataset | None = None,
    n_folds: int = 5,
    normalise: str | None = "auto",
    convention: str | Convention = "default",
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool = True,
) -> Benchmark:
    """Train a spread of rankers, each with its parameters chosen by validation, and compare them on unseen queries.

    Parameters
    ----------
    data : Dataset
        With ``valid`` and ``test``, the training part; else everything, split by query into ``n_folds`` parts as in
        ``ar.cross_validate``, so that every query is tested once by a model that never saw it.
    measures : str or sequence
        The first one chooses the parameters and the best ranker.
    rankers : names, or dict of name -> estimator, optional
        By default one or two of every family.
    normalise : str or None
        How features are scaled for rankers that mind: a normaliser's name, None, or "auto": "standard", unless all
        features lie in [0, 1] already or are sparse.
    n_jobs : int, optional
        Points of a grid trained at a time.

    Returns
    -------
    Benchmark
        Prints as a table, in notebooks too; ``.report(path)`` writes the HTML report.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(30, 10, 4, random_state=0)
    >>> found = ar.benchmark(data, ["ndcg@5"], ["regression", "svm-auc"], n_folds=3, progress=False)
    >>> sorted(found.systems)
    ['regression', 'svm-auc']
    """
    asked = [name for name, _ in measure_list(list(measures) if not isinstance(measures, str) else measures)]
    if (valid is None) != (test is None):
        raise InputError("benchmark: expected valid and test together, or neither, got one of them")
    scaling = _scaling(data) if normalise == "auto" else normalise
    made = _rankers(rankers, scaling)
    if valid is not None and test is not None:
        judged, folds, tested = test, [Fold(data, valid, test)], [np.arange(test.n_queries)]
        diagnosis = doctor(data, valid, test, names=("training", "validation", "test"))
    else:
        diagnosis = doctor(data)
        judged, folds = data, list(QueryKFold(n_folds, random_state=random_state).folds(data))
        splits = QueryKFold(n_folds, random_state=random_state, letor=True).split(data)
        tested = [np.asarray(test_queries) for _, test_queries in splits]
    entries: dict[str, Entry] = {}
    notes: list[str] = []
    with Progress("benchmark", len(made) * len(folds), enabled=progress) as bar:
        for name, ranker in made.items():
            runs: list[Run] = []
            begin = time.perf_counter()
            try:
                for number, fold in enumerate(folds, 1):
                    bar.advance(0, f"{name}, fold {number}" if len(folds) > 1 else name)
                    runs.append(_run(ranker, fold, asked, convention, n_jobs))
                    bar.advance(1, name)
            except ArgrankError as error:  # data that one ranker cannot use must not cost the others
                notes.append(f"{name} failed: {error}")
                logger.warning("benchmark: %s", notes[-1])
                bar.advance(len(folds) - len(runs), name)
                continue
            value, seconds = np.mean([run.validation for run in runs]), time.perf_counter() - begin
            logger.info("%s: validation %s %.4f, all settings in %.1f s", name, asked[0], value, seconds)
            entries[name] = _entry(name, runs, judged, tested)
            notes += _collapse(entries[name], judged)
    if not entries:
        raise InputError(f"benchmark: no ranker could be trained; {notes[0]}")
    if scaling is not None:
        notes.append(f"Features scaled by {scaling} where it matters; the scaling is part of the model.")
    return Benchmark(judged, entries, tuple(asked), convention, len(folds), diagnosis, tuple(notes))


def _rankers(rankers: Sequence[str] | Mapping[str, Any] | None, scaling: str | None) -> dict[str, Any]:
    if isinstance(rankers, Mapping):
        return {name: make_ranker(one) if isinstance(one, str) else one for name, one in rankers.items()}
    names = first_comparison() if rankers is None else [rankers] if isinstance(rankers, str) else list(rankers)
    made = {name: make_ranker(name) for name in dict.fromkeys(names)}
    for name, ranker in made.items():
        if scaling is not None and not registered(name).scale_free and "normalise" in ranker.get_params():
            ranker.set_params(normalise=scaling)
    return made


def _scaling(data: Dataset) -> str | None:
    if sparse.issparse(data.X) or (np.nanmin(data.X) >= 0 and np.nanmax(data.X) <= 1):
        return None
    return "standard"


def _run(ranker: Any, fold: Fold, measures: list[str], convention: str | Convention, n_jobs: int | None) -> Run:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArgrankWarning)  # a grid has ends where a ranker collapses; that is its use
        return run_fold(ranker, default_grid(ranker), fold, measures, measures[0], convention=convention, n_jobs=n_jobs)


def _entry(name: str, runs: list[Run], data: Dataset, tested: list[Any]) -> Entry:
    scores = np.empty(data.n_documents)
    for run, queries in zip(runs, tested, strict=True):
        part = data.select(queries)
        scores[np.isin(data.query_of_row, queries)] = part.from_caller(run.scores)
    seconds = [next(point.seconds for point in run.points if point.params == run.params) for run in runs]
    trace = getattr(runs[0].ranker, "trace_", None)
    system = System(
        name=name,
        scores=scores,
        models=tuple((run.ranker.model_, queries) for run, queries in zip(runs, tested, strict=True)),
        trace=trace.to_dict() if len(runs) == 1 and trace is not None and len(trace) else None,
        seconds=float(np.mean(seconds)),
        validated=_validated(runs),
    )
    return Entry(system, tuple(runs))


def _collapse(entry: Entry, data: Dataset) -> list[str]:
    """Say in how many queries a ranker has nothing to say: all documents have the same score."""
    scores, starts = entry.system.scores, data.indptr[:-1]
    same = np.maximum.reduceat(scores, starts) == np.minimum.reduceat(scores, starts)
    silent = int((same & (data.sizes > 1)).sum())
    if silent == 0:
        return []
    helps = "; bound='tight' may help" if entry.runs[0].ranker.get_params().get("bound") == "convex" else ""
    return [
        f"{entry.system.name} gives all documents the same score in {silent:,} of {data.n_queries:,} queries{helps}."
    ]


def _validated(runs: list[Run]) -> tuple[tuple[float, float], ...]:
    """Return every C tried and the mean over the folds of its validation measure, where C is all that was tried.

    A C that is divided by the number of pairs differs a little between folds: then their geometric mean.
    """
    found = []
    for points in zip(*(run.points for run in runs), strict=True):
        if any(set(point.params) != {"C"} for point in points):
            return ()
        C = np.exp(np.mean([np.log(point.params["C"]) for point in points]))
        found.append((float(C), float(np.mean([point.value for point in points]))))
    return tuple(found)
