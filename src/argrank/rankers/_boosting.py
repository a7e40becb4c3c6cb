"""What learners of boosted trees share: running scores, validation, early stopping, the parameters of growth."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from argrank.data.dataset import Dataset
from argrank.errors import InputError, OptionError, shown
from argrank.models import _forest
from argrank.models._tree import Tree
from argrank.rankers._base import BaseRanker
from argrank.rankers._growth import Settings
from argrank.rankers._trace import Watcher

Floats = NDArray[np.float64]


class BoostedRanker(BaseRanker):
    """A learner of additive trees; missing values go where LightGBM sends them."""

    takes_missing: ClassVar[bool] = True
    n_trees: int
    n_leaves: int
    min_documents: int
    feature_fraction: float
    categorical_features: Sequence[int | str] | None
    early_stopping: int | None
    random_state: int

    @property
    def feature_importances_(self) -> Floats:
        """What every feature contributed: the summed gain of its splits, as a share."""
        if not hasattr(self, "model_") or not hasattr(self.model_, "importances"):
            raise AttributeError(f"{type(self).__name__} has no feature_importances_: not fitted, or not made of trees")
        gains = cast(Floats, self.model_.importances("gain"))
        return gains / gains.sum() if gains.any() else gains

    def _settings(self) -> Settings:
        return Settings(
            self.n_leaves,
            self.min_documents,
            self.feature_fraction,
            self.categorical_features,
            self.random_state,
            self.n_jobs,
        )

    def _rounds(self, data: Dataset, watcher: Watcher, n_outputs: int = 1) -> Rounds:
        rounds, patience = self.n_trees, self.early_stopping
        for name, value in (("n_trees", rounds), ("early_stopping", 1 if patience is None else patience)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise OptionError(f"{name}: expected a whole number from 1 up, got {shown(value)}")
        if patience is not None and not watcher.validations:
            raise InputError("early_stopping: expected an eval_set to stop by, got none")
        return Rounds(data, watcher, patience, n_outputs)


class Rounds:
    """The trees so far, the scores they give to training and validation rows, and which round was best.

    Used as a context, Ctrl-C inside ends the training and keeps the rounds that were recorded.
    """

    def __init__(self, data: Dataset, watcher: Watcher, patience: int | None, n_outputs: int = 1) -> None:
        self._watcher, self._patience, self._n_outputs = watcher, patience, n_outputs
        self.trees: list[Tree] = []
        self.scores = np.zeros((data.n_documents, n_outputs))
        self._validation = [np.zeros((part.data.n_documents, n_outputs)) for part in watcher.validations]
        self.best, self._best_value = 0, -np.inf
        self.n_recorded = 0
        self.objectives: list[float] = []
        self.interrupted = False

    def add(self, trees: Sequence[Tree], outputs: Sequence[Floats]) -> None:
        """Add a tree for every output, given its values for the training rows."""
        self.trees += trees
        for i, output in enumerate(outputs):
            self.scores[:, i] += output
        for part, scores in zip(self._watcher.validations, self._validation, strict=True):
            scores += _forest.sums(trees, part.data.X, self._n_outputs)

    def record(self, facts: dict[str, float], score: Any = None) -> bool:
        """Record a round; tell whether to go on. ``score`` makes one score of the outputs of a row."""
        seen = [scores[:, 0] if score is None else score(scores) for scores in self._validation]
        row = self._watcher.record(seen, facts)
        self.objectives.append(facts["objective"])
        self.n_recorded += 1
        if self._patience is None:
            self.best = self.n_recorded
            return True
        value = row[self._watcher.validations[0].column]
        if value > self._best_value:
            self.best, self._best_value = self.n_recorded, value
        return self.n_recorded - self.best < self._patience

    def kept(self) -> list[Tree]:
        """Return the trees up to the best round: the last one, or the best on validation data with early stopping."""
        return self.trees[: self.best * self._n_outputs]

    @property
    def objective(self) -> float:
        """The objective after the best round."""
        return self.objectives[self.best - 1] if self.objectives else 0.0

    @property
    def complaint(self) -> str | None:
        """Why the training ended early, if it was not meant to."""
        return f"interrupted; the {self.best} rounds before were kept" if self.interrupted else None

    def __enter__(self) -> Rounds:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> bool:
        self.interrupted = kind is KeyboardInterrupt and self.n_recorded > 0
        return self.interrupted


def row_weights(data: Dataset) -> Floats:
    """Return what every row counts: its own weight times that of its query, which are 1 on average."""
    weight = np.ones(data.n_documents) if data.sample_weight is None else data.sample_weight.astype(np.float64)
    if data.query_weight is not None:
        weight = weight * np.repeat(data.query_weight * (data.n_queries / data.query_weight.sum()), data.sizes)
    return weight
