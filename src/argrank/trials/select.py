"""Choose parameters by a measure on validation data."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from argrank._blas import single_threaded_blas
from argrank._progress import Progress
from argrank._threads import count_jobs
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import ArgrankError, ArgrankWarning, InputError, unknown_name
from argrank.evaluation.evaluate import evaluate
from argrank.measures.conventions import Convention, make_convention
from argrank.rankers import make_ranker
from argrank.trials.grid import Grid, Params, borders, points_of, weakness
from argrank.trials.selection import Point, Selection

Tried = tuple[Any, Point]  # the fitted ranker and what is known of it


def select(
    ranker: Any,
    grid: Grid,
    train: Dataset,
    valid: Dataset,
    measure: Any,
    *,
    convention: str | Convention = "default",
    n_jobs: int | None = None,
    progress: bool = True,
) -> Selection:
    """Train at every point of a grid and choose the one with the best measure on validation data.

    Of points with the same value the most regularised one is chosen (smaller C, larger ridge), then the first.
    The choice is the same for any ``n_jobs``.

    Parameters
    ----------
    ranker : estimator or registered name
        Never changed: every point trains a clone.
    grid : dict of parameter -> list of values, or list of such dicts
        ``{"C": {"values": [0.05, 0.5, 5], "divide_by": "pairs"}}`` scales with the training data: rank-svm's loss is a
        sum over pairs.
    train, valid : Dataset
    measure : str
        As in ``ar.evaluate``, with its ``convention``.
    n_jobs : int, optional
        Points trained at a time, each on one thread; None or -1 for every core.
    progress : bool
        Show a bar on terminals.

    Warns
    -----
    ArgrankWarning
        When the choice lies on the border of the grid, with the direction to extend it, or when points failed.
    """
    found = search(ranker, grid, train, valid, measure, convention=convention, n_jobs=n_jobs, progress=progress)
    for note in found.notes:
        warnings.warn(f"select: {note}", ArgrankWarning, stacklevel=2)
    return found


def search(
    ranker: Any,
    grid: Grid,
    train: Dataset,
    valid: Dataset,
    measure: Any,
    *,
    convention: str | Convention = "default",
    n_jobs: int | None = None,
    progress: bool = True,
) -> Selection:
    """Do the work of ``select`` without its warnings; they are in ``notes``."""
    ranker = make_ranker(ranker) if isinstance(ranker, str) else ranker
    points = points_of(grid, train)
    known = ranker.get_params()
    for name in dict.fromkeys(name for point in points for name in point):
        if name not in known:
            raise unknown_name(f"parameter of {type(ranker).__name__}", name, known)
    mean_of(np.zeros(valid.n_documents), valid, measure, convention)  # a mistake here would cost every fit
    alone = quiet(known) if len(points) == 1 else {**quiet(known), **({"n_jobs": 1} if "n_jobs" in known else {})}

    def work(params: Params) -> Tried:
        return _try(ranker, {**alone, **params}, params, train, valid, measure, convention)

    with Progress("selecting", len(points), enabled=progress) as bar:
        tried = _map(work, points, count_jobs(n_jobs), bar)
    good = [(fitted, point) for fitted, point in tried if not np.isnan(point.value)]
    if not good:
        reason = next((point.error for _, point in tried if point.error), f"{measure} is undefined on this data")
        raise InputError(f"select: no point of the grid gave a value; the first failed with: {reason}")
    fitted, chosen = min(good, key=lambda pair: (-pair[1].value, weakness(pair[1].params)))  # stable: then the first
    fitted.set_params(**{name: known[name] for name in alone if name not in chosen.params})
    return Selection(
        ranker=fitted,
        params=chosen.params,
        value=chosen.value,
        points=tuple(point for _, point in tried),
        on_border=borders(chosen.params, points),
        measure=str(measure),
        convention=make_convention(convention).name,
    )


def mean_of(scores: Floats, data: Dataset, measure: Any, convention: str | Convention) -> float:
    """Return the mean of one measure, computed on this thread."""
    (value,) = evaluate(scores, data, measure, convention=convention, n_jobs=1).means.values()
    return value


def quiet(known: Params) -> Params:
    """Return the parameters that keep a fit from showing a progress bar beside ours."""
    return {"verbose": -1} if "verbose" in known else {}


def _map(work: Callable[[Params], Tried], points: Sequence[Params], threads: int, bar: Progress) -> list[Tried]:
    """Run on threads of our own: the shared pool, used by one who waits inside it, could deadlock.

    A single point gets a thread too: Ctrl-C then reaches this loop, not the fit, which would keep its best model so
    far and pass for finished.
    """
    pool = ThreadPoolExecutor(min(threads, len(points)), thread_name_prefix="argrank-select")
    with single_threaded_blas():
        futures = [pool.submit(work, point) for point in points]
        results = []
        try:
            for future in futures:
                results.append(future.result())
                bar.advance(1)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # what has not begun shall not
    return results


def _try(
    ranker: Any,
    settings: Params,
    params: Params,
    train: Dataset,
    valid: Dataset,
    measure: Any,
    convention: str | Convention,
) -> Tried:
    from sklearn.base import clone

    begin = time.perf_counter()
    fitted = clone(ranker).set_params(**settings)
    try:
        fitted.fit(train)
        value = next(
            iter(evaluate(fitted.predict(valid), valid, measure, convention=convention, n_jobs=1).means.values())
        )
    except (ArgrankError, ArithmeticError, np.linalg.LinAlgError) as error:
        reason = f"{type(error).__name__}: {error}"
        return fitted, Point(params, np.nan, np.nan, time.perf_counter() - begin, reason)
    objective = float(getattr(fitted, "objective_", np.nan))
    return fitted, Point(params, value, objective, time.perf_counter() - begin)
