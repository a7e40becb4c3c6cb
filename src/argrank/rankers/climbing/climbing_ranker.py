"""Base class of rankers that climb the measure itself: starts, rounds, choice of the best iterate, feature columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from argrank._blas import single_threaded_blas
from argrank._declared import Count, NotNegative, Seed
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.data.mapped import by_column, refuse_copy
from argrank.errors import OptionError
from argrank.linesearch.landscape import Landscape
from argrank.measures.function import ties_of
from argrank.measures.names import measure as parse_measure
from argrank.models.linear import LinearModel
from argrank.rankers.base_ranker import BaseRanker
from argrank.rankers.estimator import Measured
from argrank.rankers.trace import Outcome, Watcher
from argrank.solvers.problem import Stop, random_state, restore_random


class Iterate(NamedTuple):
    """Weights after a round, and the training measure there."""

    weights: Floats
    value: float


#: Yields the initial weights, from a start or an interrupted climb, and the weights after every round.
Rounds = Callable[[Floats, Floats | None], Iterator[Iterate]]


@dataclass(eq=False, repr=False, kw_only=True)
class ClimbingRanker(Measured, BaseRanker):
    """A linear ranker that raises the training measure itself, round by round, from several starts.

    Parameters
    ----------
    measure : str or Measure
        What is maximised, expected over ties: use the measure that you report.
    scoring : str, Measure or callable, optional
        The measure of ``score``, the validation column and the choice of the best iterate; None for ``measure``.
    n_starts
        Number of starts.
    tol
        A climb ends when a round adds no more than this to the measure. Lower it to continue for small gains.
    max_iter
        Maximum number of rounds from each start. Climbs mostly end earlier, by ``tol``.
    early_stopping
        End a climb after this number of rounds without a better validation measure; None never stops early. It needs an
        ``eval_set``.
    random_state
        Seed of the order of the weights and of random starts.
    """

    takes_gains: ClassVar[bool] = True

    n_starts: Count
    tol: NotNegative
    max_iter: Count = 100
    early_stopping: Count | None = None
    random_state: Seed = 0

    @property
    def _ties(self) -> str:
        """The treatment of tied scores."""
        return ties_of(parse_measure(self.measure))

    def _mixed(self, data: Dataset, rng: np.random.Generator) -> Dataset:
        """Return the data; for a function, with every query's rows in random order, so that ties leak no labels."""
        if self._ties == "expected":
            return data
        refuse_copy(data.X, "a function as measure: rows in random order", "a measure by name")
        order = np.lexsort((rng.random(data.n_documents), data.query_of_row))
        return Dataset(data.X[order], data.y[order], group=data.sizes, query_weight=data.query_weight)

    def _landscape(self, data: Dataset) -> Landscape:
        return Landscape(data, self.measure, self._ties, self.n_jobs)

    def _climb(
        self,
        starts: Iterable[Floats],
        rounds: Rounds,
        watcher: Watcher,
        rng: np.random.Generator,
        climbs: bool = True,
    ) -> Outcome:
        """Climb from every start, round by round, unless only starts are requested, and return the best iterate of all.

        With validation data the best iterate is the one of the greatest validation measure (as in the DirectRank
        paper), else of the greatest training measure. Ctrl-C ends the training with the best so far.
        """
        done = watcher.keeper.finished()
        if done is not None:
            restore_random(rng, done["random"])
            return Outcome.restored(LinearModel(done["weights"]), done)
        kept = watcher.keeper.resumed()
        at = Standing() if kept is None else Standing(**kept["standing"])
        try:
            for start, weights in enumerate(starts):
                if start < at.start:
                    continue  # climbed before
                if kept is None:
                    at.begin(start, weights)
                else:
                    restore_random(rng, kept["random"])
                ended = self._climb_on(at, self._iterates(rounds, at, kept is not None), watcher, rng, climbs)
                kept, at.unfinished = None, at.unfinished or not ended
        except KeyboardInterrupt:
            if at.best is None:
                raise
            outcome = Outcome(LinearModel(at.best), 1.0 - at.best_value, np.nan, at.rounds_done)
            return outcome._replace(stop=Stop.INTERRUPTED, note="interrupted")
        if at.best is None:
            raise OptionError("n_starts: expected a number from 1 up")
        if at.trace_row != len(watcher.trace):
            self._record(watcher, Iterate(at.best, at.best_value), at.best_start)  # so that the last row is the model's
        outcome = Outcome(LinearModel(at.best), 1.0 - at.best_value, np.nan, at.rounds_done)
        if at.unfinished:
            note = f"a climb was still rising after max_iter={self.max_iter} rounds"
            outcome = outcome._replace(stop=Stop.ROUNDS, note=note)
        watcher.keeper.finish({"weights": at.best, "random": random_state(rng), **outcome.numbers()})
        return outcome

    def _climb_on(
        self,
        at: Standing,
        iterates: Iterable[tuple[int, Iterate]],
        watcher: Watcher,
        rng: np.random.Generator,
        climbs: bool,
    ) -> bool:
        """Process the iterates; tell whether the climb ended before ``max_iter`` rounds."""
        for number, iterate in iterates:
            at.note(number, iterate, self._record(watcher, iterate, at.start), len(watcher.trace))
            flat = number > 0 and at.value - at.before <= self.tol
            in_vain = self.early_stopping is not None and at.since >= self.early_stopping
            if flat or in_vain or not climbs:
                return True
            if number >= self.max_iter:
                break
            at.before = iterate.value
            watcher.keeper.offer({"standing": vars(at).copy(), "random": random_state(rng)})
        return False

    def _iterates(self, rounds: Rounds, at: Standing, resumed: bool) -> Iterator[tuple[int, Iterate]]:
        """Return the numbered iterates of a climb: from its start, or after the last recorded one."""
        if not resumed:
            return enumerate(rounds(at.origin, None))
        iterates = rounds(at.origin, at.weights)
        next(iterates)  # recorded before
        return enumerate(iterates, at.number + 1)

    def _record(self, watcher: Watcher, iterate: Iterate, start: int) -> float:
        watcher(iterate.weights, {"objective": 1.0 - iterate.value, "measure": iterate.value, "start": start})
        return float(watcher.trace.last.get("validation", iterate.value))


@dataclass
class Standing:
    """The progress of a training: the best iterate of all, and the state of the current climb."""

    best: Floats | None = None
    best_value: float = -np.inf
    best_start: int = 0
    greatest: float = -np.inf  # of the selection measure
    trace_row: int = -1  # of the best
    rounds_done: int = 0
    unfinished: bool = False
    start: int = 0
    origin: Any = None  # the weights of the start
    weights: Any = None  # of the last iterate
    number: int = 0  # of the last iterate; that of the start is 0
    value: float = -np.inf  # of the last iterate
    before: float = -np.inf  # value of the iterate before it
    here: float = -np.inf  # greatest selection measure of this climb
    since: int = 0  # rounds since then

    def begin(self, start: int, weights: Floats) -> None:
        """Begin a climb."""
        self.start, self.origin = start, weights
        self.here, self.since, self.before = -np.inf, 0, -np.inf

    def note(self, number: int, iterate: Iterate, chosen_by: float, trace_row: int) -> None:
        """Update with an iterate."""
        self.number, self.weights, self.value = number, iterate.weights, iterate.value
        self.rounds_done += 1 if number > 0 else 0
        self.since = 0 if chosen_by > self.here else self.since + 1
        self.here = max(self.here, chosen_by)
        if self.best is None or chosen_by > self.greatest:
            self.best, self.best_value, self.best_start = iterate.weights, iterate.value, self.start
            self.greatest, self.trace_row = chosen_by, trace_row


def nothing_to_learn(n_features: int, watcher: Watcher) -> Outcome:
    """Return the model for data on which the measure is undefined: weights of 0, a measure of 0."""
    weights = np.zeros(n_features)
    watcher(weights, {"objective": 1.0, "measure": 0.0, "start": 0})
    return Outcome(LinearModel(weights), 1.0, np.nan, 0)


class Columns:
    """A copy of the features by column, and computations on it."""

    def __init__(self, data: Dataset) -> None:
        X = data.X
        self.n_features = int(X.shape[1])
        self._rows = X
        columns = by_column(data, "a line search")
        self._columns: Any = columns if sparse.issparse(X) else np.asfortranarray(columns)
        weight = None if data.query_weight is None else np.repeat(data.query_weight, data.sizes)
        self.spread = np.empty(self.n_features)
        moves = np.empty(self.n_features, bool)
        for number in range(self.n_features):
            values = self.column(number)
            self.spread[number] = _deviation(values, weight)
            lowest, greatest = (ufunc.reduceat(values, data.indptr[:-1]) for ufunc in (np.minimum, np.maximum))
            moves[number] = (greatest > lowest).any()
        self.moving = np.flatnonzero(moves)  # features that vary within a query: others cannot change a ranking

    def column(self, number: int) -> Floats:
        """Return one feature of all rows, dense and in float64."""
        if not sparse.issparse(self._columns):
            return np.asarray(self._columns[:, number], np.float64)
        begin, end = self._columns.indptr[number : number + 2]
        values = np.zeros(self._columns.shape[0])
        values[self._columns.indices[begin:end]] = self._columns.data[begin:end]
        return values

    def scores(self, weights: Floats) -> Floats:
        """Return ``X @ weights`` in float64, bit-identical for any number of threads."""
        with single_threaded_blas():
            return LinearModel(weights).scores(self._rows)

    def scaled(self, weights: Floats) -> Floats:
        """Convert weights of features of unit spread to weights of the original features."""
        return self.useful(np.divide(weights, self.spread, out=np.zeros(self.n_features), where=self.spread > 0))

    def useful(self, weights: Floats) -> Floats:
        """Return the weights, with 0 for features that are constant within every query and change no ranking."""
        useful = np.zeros(self.n_features)
        useful[self.moving] = weights[self.moving]
        return useful

    def normed(self, weights: Floats) -> Floats:
        """Return weights scaled to a length near 1, in features of unit spread.

        The divisor is a power of two, so that scores are not rounded differently and no documents swap.
        """
        norm = _length(weights * self.spread)
        return np.asarray(weights * 2.0 ** -round(np.log2(norm))) if 0 < norm < np.inf else weights


def _deviation(values: Floats, weight: Floats | None) -> float:
    mean = np.average(values, weights=weight)
    size = float(np.abs(values - mean).max()) or 1.0  # squares of numbers beyond 1e154 overflow
    return size * float(np.sqrt(np.average(((values - mean) / size) ** 2, weights=weight)))


def _length(vector: Floats) -> float:
    size = float(np.abs(vector).max(initial=0.0))
    return size * float(np.linalg.norm(vector / size)) if 0 < size < np.inf else size
