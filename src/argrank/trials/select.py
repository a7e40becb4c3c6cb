"""Choose parameters by a measure on validation data."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from argrank._blas import single_threaded_blas
from argrank._declared import Jobs, checked
from argrank._progress import Progress
from argrank._tables import Cell, measure_text, number_text, parameters_text, table, to_text
from argrank._threads import count_jobs
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.engines import Data, is_distributed
from argrank.errors import ArgrankError, InputError, OptionError, check_name, warn
from argrank.evaluation.evaluate import mean_of
from argrank.measures.conventions import Convention, make_convention
from argrank.rankers import make_ranker
from argrank.rankers.estimator import spoken
from argrank.rankers.optimised import Optimised, aimed, optimised
from argrank.rankers.registry import default_grid
from argrank.trials.foreign_estimators import Outside, adapt, adapted
from argrank.trials.grid import Grid, OpenGrid, Params, beyond, borders, is_number, points_of, weakness
from argrank.trials.store import Fits, fits_in
from argrank.trials.store import train as train_kept

logger = logging.getLogger(__name__)

DEFAULT = "default"  # as a grid: the ranker's own
MOST_STEPS = 2  # most further points of an open grid
AIMING = {"measure", "k", "a", "b"}  # parameters about the optimised measure


@dataclass(frozen=True)
class Point:
    """One point of a grid: its value on the validation data, or the error that stopped it (then NaN)."""

    params: Params
    value: float
    objective: float
    seconds: float
    error: str | None = None


@dataclass(frozen=True, repr=False)
class Selection:
    """The best point of a grid and all others; made by ``ar.select``.

    Attributes
    ----------
    ranker : fitted estimator
        Trained on the training data with the chosen parameters.
    params : dict
    value : float
        Of ``measure`` on the validation data.
    points : tuple of Point
        Every point in the order of the grid.
    on_border : dict
        Chosen parameters at an end of their values -> "below" or "above", the direction to extend the grid.
    optimised : Optimised or None
        What the ranker optimises: ``measure``, or something else.
    """

    ranker: Any
    params: Params
    value: float
    points: tuple[Point, ...]
    on_border: dict[str, str]
    measure: str
    convention: str
    optimised: Optimised | None = None

    @checked
    def curve(self, parameter: str) -> tuple[NDArray[Any], Floats]:
        """Return the values tried of a parameter and the best value of the measure at each, over all others."""
        names = dict.fromkeys(name for point in self.points for name in point.params)
        check_name("parameter of this grid", parameter, names)
        best: dict[Any, tuple[Any, float]] = {}
        for point in self.points:
            if parameter in point.params:
                value = point.params[parameter]
                key = value if is_number(value) else repr(value)  # lists, too: weights of several measures
                best[key] = (value, float(np.fmax(best.get(key, (value, np.nan))[1], point.value)))
        keys = sorted(best) if all(is_number(key) for key in best) else list(best)
        return np.array([best[key][0] for key in keys]), np.array([best[key][1] for key in keys])

    def __repr__(self) -> str:
        names = list(dict.fromkeys(name for point in self.points for name in point.params))
        rows = [
            (
                *(number_text(point.params[name]) if name in point.params else "-" for name in names),
                Cell("failed" if point.error else measure_text(point.value), best=point.params == self.params),
                f"{point.objective:.6g}",
                f"{point.seconds:.2f}",
            )
            for point in self.points
        ]
        chosen = f"* chosen by {self.measure} on validation data, convention {self.convention}"
        aim = [] if self.optimised is None else [self.optimised.line()]
        return to_text([table((*names, self.measure, "objective", "seconds"), rows, 0)], [chosen, *aim, *self.notes])

    @property
    def notes(self) -> list[str]:
        """Remarks about this choice."""
        notes = [
            f"{name} = {number_text(self.params[name])} is at the border of the grid; also try values {side} it"
            for name, side in self.on_border.items()
        ]
        failed = [point for point in self.points if point.error is not None]
        if failed:
            notes.append(f"{len(failed)} of {len(self.points)} points failed, the first: {failed[0].error}")
        return notes


Tried = tuple[Any, Point]  # the fitted ranker and its point


@checked
def select(
    ranker: Any,
    grid: Grid | str,
    train: Data,
    valid: Data,
    measure: Any,
    *,
    convention: str | Convention = "default",
    n_jobs: Jobs = None,
    progress: bool = True,
    resume: str | os.PathLike[str] | None = None,
) -> Selection:
    """Train at every point of a grid and choose the one with the best measure on validation data.

    Of points with the same value the most regularised one is chosen (smaller C, larger ridge), then the first.
    The choice is the same for any ``n_jobs``.

    Parameters
    ----------
    ranker : estimator or registered name
        Never changed: every point trains a clone. Estimators of other libraries work too.
    grid : dict of parameter -> list of values, or list of such dicts
        Every combination of a dict's values is a point. "default" is the ranker's own grid, without parameters that
        were set on the ranker; if the best C or ridge is the last value, one or two further ones are tried.
    train, valid : Dataset or DistributedDataset
    measure : str
        As in ``ar.evaluate``, with its ``convention``. The ranker optimises it if it can, unless it was given another
        measure.
    n_jobs : int, optional
        Number of points trained at the same time, each on one thread; None or -1 for every core. On a
        cluster None is 1.
    progress : bool
        Show a bar on terminals.
    resume : path, optional
        Folder in which every fit is stored, finished or not; the same call continues from there, with bit-identical
        results. Estimators of other libraries are trained again.

    Warns
    -----
    ArgrankWarning
        If the choice is at the border of the grid, with the direction to extend it, or if points failed.
    """
    found = search(
        ranker, grid, cast(Dataset, train), cast(Dataset, valid), measure, asked=measure, convention=convention,
        n_jobs=n_jobs, progress=progress, fits=fits_in(resume),
    )  # fmt: skip
    for note in found.notes:
        warn(f"select: {note}")
    return replace(found, ranker=adapted(found.ranker))


def search(
    ranker: Any,
    grid: Grid | str,
    train: Dataset,
    valid: Dataset,
    measure: Any,
    *,
    asked: Any,
    convention: str | Convention,
    n_jobs: int | None,
    progress: bool,
    fits: Fits | None,
) -> Selection:
    """Do the work of ``select`` without its warnings, which are in ``notes``. ``asked`` is the measure to optimise."""
    ranker = make_ranker(ranker) if isinstance(ranker, str) else adapt(ranker)
    meant = make_grid(ranker, grid)
    points = points_of(meant)
    if not any(AIMING & set(point) for point in points):
        ranker = aimed(clone(ranker), asked, train)
    known = ranker.get_params()
    for name in dict.fromkeys(name for point in points for name in point):
        check_name(f"parameter of {type(ranker).__name__}", name, known)
    if not is_distributed(valid):
        mean_of(np.zeros(valid.n_documents), valid, measure, convention=convention)  # find mistakes before any fit
    n_jobs = 1 if n_jobs is None and is_distributed(train) else n_jobs  # the workers are the threads
    alone = {} if isinstance(ranker, Outside) else quiet(known)
    if len(points) > 1 and "n_jobs" in known:
        alone = {**alone, "n_jobs": 1}

    def work(params: Params) -> Tried:
        begin = time.perf_counter()
        fitted = clone(ranker).set_params(**{**alone, **params})
        try:
            train_kept(fitted, train, fits)
            value = mean_of(fitted.predict(valid), valid, measure, convention=convention, n_jobs=1)
        except (ArgrankError, ArithmeticError, np.linalg.LinAlgError) as error:
            reason = f"{type(error).__name__}: {error}"
            return fitted, Point(params, np.nan, np.nan, time.perf_counter() - begin, reason)
        objective = float(getattr(fitted, "objective_", np.nan))
        before = getattr(getattr(fitted, "trace_", None), "seconds_before", 0.0)  # of processes that were ended
        return fitted, Point(params, value, objective, before + time.perf_counter() - begin)

    with Progress("selecting", len(points), enabled=progress) as bar:
        tried = _map(work, points, count_jobs(n_jobs), bar)
        fitted, chosen = _best(tried, measure)
        for _ in range(MOST_STEPS if isinstance(meant, OpenGrid) else 0):
            further = beyond(chosen.params, points)
            if not further:
                break
            texts = parameters_text(chosen.params), " and ".join(map(parameters_text, further))
            logger.info("%s: %s is at the end of the grid, also trying %s", type(ranker).__name__, *texts)
            points += further
            tried += _map(work, further, count_jobs(n_jobs), bar)
            fitted, chosen = _best(tried, measure)
    fitted.set_params(**{name: known[name] for name in alone if name not in chosen.params})
    return Selection(
        ranker=fitted,
        params=chosen.params,
        value=chosen.value,
        points=tuple(point for _, point in tried),
        on_border=borders(chosen.params, points),
        measure=str(spoken(measure)),
        convention=make_convention(convention).name,
        optimised=optimised(fitted, asked),
    )


def make_grid(ranker: Any, grid: Any) -> Any:
    """Return the grid: for "default" the ranker's own, which is open, else the one given."""
    if not isinstance(grid, str):
        return grid
    if grid != DEFAULT:
        raise OptionError(f"grid: expected parameters and values, {DEFAULT!r} or None, got {grid!r}")
    return OpenGrid(default_grid(ranker))


def _best(tried: Sequence[Tried], measure: Any) -> Tried:
    good = [(fitted, point) for fitted, point in tried if not np.isnan(point.value)]
    if not good:
        reason = next((point.error for _, point in tried if point.error), f"{measure} is undefined on this data")
        raise InputError(f"select: no point of the grid gave a value; the first failed with: {reason}")
    return min(good, key=lambda pair: (-pair[1].value, weakness(pair[1].params)))  # stable: then the first


def quiet(known: Params) -> Params:
    """Return the parameters that hide a fit's progress bar."""
    return {"verbose": -1} if "verbose" in known else {}


def _map(work: Callable[[Params], Tried], points: Sequence[Params], threads: int, bar: Progress) -> list[Tried]:
    """Run on threads of our own: waiting inside the shared pool could deadlock.

    A single point also gets a thread: Ctrl-C then interrupts this loop and not the fit, which would keep its best model
    so far and look finished.
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
            pool.shutdown(wait=False, cancel_futures=True)  # start no further point
    return results
