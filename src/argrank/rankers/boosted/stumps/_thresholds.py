"""Boosting of thresholds on single features: positions of documents among them, sums above each, steps taken."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from argrank._declared import Count
from argrank._jit import kernel
from argrank._memory import check_memory
from argrank._types import FilledMatrix, Floats, Matrix
from argrank.data.dataset import Dataset
from argrank.data.mapped import by_column
from argrank.models.stumps import StumpsModel
from argrank.rankers.base_ranker import BaseRanker
from argrank.rankers.trace import Interruption, Outcome, Watcher

MOST_THRESHOLDS = 255  # a document's position among them fits a byte
SEPARATED = 1e-9  # objective below which all pairs are in the right order by a large margin


@kernel()
def _add_up(places: Matrix[np.uint8], values: Floats, sums: FilledMatrix[np.float64]) -> None:
    """Fill in, for every feature, the sums of the values of the documents of each place."""
    for feature in range(places.shape[0]):
        for place in range(sums.shape[1]):
            sums[feature, place] = 0.0
        for row in range(places.shape[1]):
            sums[feature, places[feature, row]] += values[row]


class Thresholds:
    """All values of a feature as thresholds, or 255 evenly chosen ones if it has more.

    ``places`` is the number of thresholds that each document exceeds, for every feature.
    """

    def __init__(self, data: Dataset) -> None:
        X, columns = data.X, by_column(data, "a search for thresholds")
        check_memory("X: a byte of every value", X.shape[0] * X.shape[1], "take a part of the queries or features")
        self.places = np.empty((X.shape[1], X.shape[0]), np.uint8)
        self.values = np.full((X.shape[1], MOST_THRESHOLDS), np.inf)
        for feature in range(X.shape[1]):
            values = column_of(columns, feature)
            different = np.unique(values)[:-1]  # nothing exceeds the greatest
            if len(different) > MOST_THRESHOLDS:
                chosen = np.linspace(0, len(different) - 1, MOST_THRESHOLDS)  # regardless of frequencies
                different = different[np.round(chosen).astype(np.int64)]
            self.places[feature] = np.searchsorted(different, values)
            self.values[feature, : len(different)] = different
        self._sums = np.empty((X.shape[1], MOST_THRESHOLDS + 1))

    def sums_above(self, values: Floats) -> Floats:
        """Return, for every feature and threshold, the sum of the values of documents above it: O(n) per feature."""
        _add_up(self.places, values, self._sums)
        return np.asarray(np.cumsum(self._sums[:, ::-1], axis=1)[:, ::-1][:, 1:])


def column_of(columns: Any, number: int) -> Floats:
    """Return one feature of all rows, dense and in float64."""
    column = columns[:, [number]]
    return np.asarray(column if isinstance(column, np.ndarray) else column.toarray(), np.float64).reshape(-1)


Step = tuple[int, float, float]  # feature, threshold, weight


class Steps:
    """The steps taken so far, here or before a checkpoint, and the scores they give to training and validation rows."""

    def __init__(self, data: Dataset, watcher: Watcher) -> None:
        self._n_features, self._watcher = data.n_features, watcher
        found = watcher.keeper.resumed()
        self.scores = np.zeros(data.n_documents) if found is None else found["scores"]
        self._taken: list[Step] = [] if found is None else [tuple(step) for step in found["taken"]]
        self._held = [np.zeros(part.data.n_documents) for part in watcher.validations]
        for step in self._taken:
            self._held = self._held_after(step)

    def take(self, step: Step, scores: Floats, facts: Mapping[str, float]) -> None:
        """Add a step and record the round; scores of the training rows and facts are what it led to."""
        held = self._held_after(step)
        self._watcher.record(held, facts)
        self._taken.append(step)
        self._held, self.scores = held, scores
        self._watcher.keeper.offer({"scores": scores, "taken": list(self._taken)})

    def _held_after(self, step: Step) -> list[Floats]:
        latest, parts = self._model([step]), self._watcher.validations
        return [old + latest.scores(part.data.X) for old, part in zip(self._held, parts, strict=True)]

    def __len__(self) -> int:
        return len(self._taken)

    @property
    def model(self) -> StumpsModel:
        """The sum of all steps."""
        return self._model(self._taken)

    def _model(self, taken: list[Step]) -> StumpsModel:
        features, thresholds, steps = zip(*taken, strict=True) if taken else ((), (), ())
        return StumpsModel(np.array(features, np.int64), np.array(thresholds), np.array(steps), self._n_features)


class Choice(NamedTuple):
    """A threshold to take next."""

    feature: int
    cut: int  # number of the threshold
    step: float
    fact: tuple[str, float]  # recorded in the trace


class Search(Protocol):
    """The part that differs between boosting methods on pairs."""

    thresholds: Thresholds

    def look(self, scores: Floats) -> tuple[float, Floats]:
        """Return the objective and its potentials, minus its slopes by the scores."""

    def choose(self, scores: Floats, objective: float, potentials: Floats) -> Choice | None:
        """Return the best threshold, None if none orders more pairs correctly than incorrectly."""


@dataclass(eq=False, repr=False, kw_only=True)
class ThresholdRanker(BaseRanker):
    """A ranker of additive step functions of single features, boosted on pairs.

    Parameters
    ----------
    n_rounds
        Number of weak rankers. It is the only regulariser; choose it by validation.
    """

    compares: ClassVar[bool] = True

    n_rounds: Count = 100

    @abstractmethod
    def _search(self, data: Dataset) -> Search:
        """Return the search for thresholds."""

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        search, steps = self._search(data), Steps(data, watcher)
        objective, potentials = search.look(steps.scores)
        watcher.expect(self.n_rounds)
        with Interruption(lambda: len(steps)) as stop:
            while len(steps) < self.n_rounds and objective >= SEPARATED:
                chosen = search.choose(steps.scores, objective, potentials)
                if chosen is None:
                    break
                feature, cut, step, (name, value) = chosen
                scores = steps.scores + step * (search.thresholds.places[feature] > cut)
                found = search.look(scores)
                facts = {"objective": found[0], name: value}
                steps.take((feature, float(search.thresholds.values[feature, cut]), step), scores, facts)
                objective, potentials = found
        return Outcome(steps.model, objective, np.nan, len(steps), stop.stop, stop.note)
