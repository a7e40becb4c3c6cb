"""The engine of all trials: rankers x folds, by LETOR's protocol.

In every fold, each ranker trains at every point of its grid on the training part, the validation part chooses, and the
chosen model is evaluated on the test part. ``cross_validate``, ``benchmark`` and ``run_experiment`` all use it.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from argrank._progress import Progress
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.data.folds import Fold
from argrank.errors import ArgrankError, ArgrankWarning, InputError
from argrank.evaluation.evaluate import evaluate
from argrank.evaluation.result import Evaluation
from argrank.measures.conventions import Convention
from argrank.models.model import Fitted, Model
from argrank.rankers import make_ranker
from argrank.rankers.optimised import Optimised
from argrank.trials.foreign_estimators import adapt, adapted, came_trained
from argrank.trials.grid import Grid, Params, weakness
from argrank.trials.select import Point, search
from argrank.trials.store import Fits, train

logger = logging.getLogger(__name__)


class Entrant(NamedTuple):
    """A ranker in a trial, with the grid of its parameters."""

    ranker: Any
    grid: Grid | None = None


class Protocol(NamedTuple):
    """How a trial is evaluated: the reported measures, the one that chooses parameters, and the convention.

    Rankers optimise the first of the measures if they can.
    """

    measures: tuple[str, ...]
    select_by: str
    convention: str | Convention = "default"
    n_jobs: int | None = None
    fits: Fits | None = None  # folder of fits, so that the trial can be resumed


@dataclass(frozen=True, eq=False)
class Run:
    """One ranker in one fold.

    ``ranker`` is fitted with the chosen ``params``; ``scores`` are those of the test rows, in the caller's order;
    ``seconds`` is the time of all points of the grid, ``training_seconds`` that of the chosen one; ``notes`` has the
    warnings of the fits, too.
    """

    fold: int
    ranker: Any
    params: Params
    validation: float
    points: tuple[Point, ...]
    scores: Floats
    test: Evaluation
    notes: tuple[str, ...]
    seconds: float
    optimised: Optimised | None = None

    @property
    def means(self) -> dict[str, float]:
        """Mean of each measure over the tested queries."""
        return dict(self.test.means)

    @property
    def n_queries(self) -> int:
        """Number of tested queries."""
        return self.test.n_queries

    @property
    def model(self) -> Model | None:
        """The trained model; estimators of other libraries have none."""
        return self.ranker.model_ if isinstance(self.ranker, Fitted) else None

    @property
    def training_seconds(self) -> float:
        """Seconds of one training at the chosen parameters."""
        return next(point.seconds for point in self.points if point.params == self.params)


def run_trials(
    entrants: Mapping[str, Entrant],
    folds: Iterable[tuple[int, Fold]],
    run: Callable[[str, int, Fold], Any],
    bar: Progress,
    *,
    tolerant: bool = True,
) -> tuple[dict[str, list[Any]], list[str]]:
    """Run every entrant in every fold; return the runs of each, and what went wrong.

    A ranker that fails is left out, with a note; unless ``tolerant``, its error is raised. Folds are read one after the
    other, so that only one has to be in memory.
    """
    runs: dict[str, list[Any]] = {name: [] for name in entrants}
    notes: list[str] = []
    for number, fold in folds:
        for name in list(runs):
            bar.advance(0, f"{name}, fold {number}")
            try:
                runs[name].append(run(name, number, fold))
            except ArgrankError as error:
                if not tolerant:
                    raise
                notes.append(f"{name} failed in fold {number}: {error}")
                logger.warning("%s", notes[-1])
                del runs[name]
                if not runs:
                    raise InputError(f"no ranker could be trained; {notes[0]}") from error
            bar.advance(1)
    return runs, notes


def run_fold(entrant: Entrant, number: int, fold: Fold, protocol: Protocol) -> Run:
    """Train on ``fold.train`` at every point of the grid, choose by ``fold.valid``, evaluate on ``fold.test``.

    Training never sees the validation part, not even without a grid, so that rankers with and without a grid learn
    from the same documents.
    """
    begin = time.perf_counter()
    if fold.valid is None and entrant.grid:
        raise InputError("a grid needs a validation part, got a fold without one")
    valid = fold.test if fold.valid is None else fold.valid  # without a grid there is nothing to choose
    with warnings.catch_warnings(record=True) as caught:  # at the ends of a grid warnings are normal; they become notes
        warnings.simplefilter("always", ArgrankWarning)
        found = search(
            entrant.ranker, entrant.grid or {}, fold.train, valid, protocol.select_by, asked=protocol.measures[0],
            convention=protocol.convention, n_jobs=protocol.n_jobs, progress=False, fits=protocol.fits,
        )  # fmt: skip
    warned = dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, ArgrankWarning))
    scores = found.ranker.predict(fold.test)
    trained = came_trained(found.ranker)
    told = (
        "already fitted: tested without training and never chosen; the test is fair only if it was not trained "
        "on these queries",
    ) * trained
    return Run(
        fold=number,
        ranker=found.ranker,
        params=found.params,
        validation=np.nan if fold.valid is None or trained else found.value,
        points=found.points,
        scores=scores,
        test=evaluate(scores, fold.test, list(protocol.measures), convention=protocol.convention),
        notes=(*told, *found.notes, *warned),
        seconds=time.perf_counter() - begin,
        optimised=found.optimised,
    )


def entrants_of(rankers: Mapping[str, Any], grids: Mapping[str, Grid | None]) -> dict[str, Entrant]:
    """Return the entrants of rankers, given as estimators or by their registered names."""
    return {
        name: Entrant(make_ranker(one) if isinstance(one, str) else adapt(one, name), grids.get(name))
        for name, one in rankers.items()
    }


def mean_points(runs: Sequence[Run]) -> list[Point]:
    """Return the points that every fold tried, each with the mean over folds of its validation measure."""
    found = []
    for point in runs[0].points:
        same = [next((one for one in run.points if one.params == point.params), None) for run in runs]
        tried = [one for one in same if one is not None]
        if len(tried) == len(runs):
            value, seconds = np.mean([one.value for one in tried]), sum(one.seconds for one in tried)
            found.append(Point(point.params, float(value), np.nan, seconds))
    return found


def params_of(runs: Sequence[Run]) -> Params:
    """Return the parameters with the best mean over folds of the validation measure; of equals the most regularised."""
    if len(runs) == 1:
        return runs[0].params
    good = [point for point in mean_points(runs) if not np.isnan(point.value)]
    if not good:  # no point worked in every fold
        return max(runs, key=lambda run: run.validation).params
    return min(good, key=lambda point: (-point.value, weakness(point.params))).params


def refit(runs: Sequence[Run], parts: Sequence[Dataset], fits: Fits | None = None) -> Any:
    """Train the ranker of these runs again, on all parts together, with the parameters of ``params_of``."""
    from sklearn.base import clone

    if came_trained(runs[0].ranker):
        return adapted(runs[0].ranker)
    if len(parts) > 1:  # parts may number their queries separately; training does not use the ids
        starts = np.cumsum([0, *(part.n_queries for part in parts)])
        parts = [
            part._but(query_ids=np.arange(start, start + part.n_queries))
            for part, start in zip(parts, starts[:-1].tolist(), strict=True)
        ]
    everything = parts[0] if len(parts) == 1 else Dataset.concatenate(parts)
    ranker = clone(runs[0].ranker).set_params(**params_of(runs))
    train(ranker, everything, fits)
    return adapted(ranker)
