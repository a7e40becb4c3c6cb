"""Base class of rankers of boosted trees: running scores, validation, early stopping, the parameters of growth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from argrank._declared import LARGEST_32, AtLeast, AtMost, Count32, Positive, Share
from argrank._types import Floats
from argrank.data.arranged import arranged
from argrank.data.dataset import Dataset
from argrank.engines import is_distributed
from argrank.errors import InputError
from argrank.models.model import Model
from argrank.rankers.base_ranker import BaseRanker
from argrank.rankers.trace import Watcher
from argrank.rankers.training_data import TREES, Work

Sums = Callable[[Sequence[Any], Any, int], Floats]


@dataclass(eq=False, repr=False, kw_only=True)
class BoostedRanker(BaseRanker):
    """A ranker of additive trees.

    Parameters
    ----------
    n_trees
        Number of rounds, one tree each. Fewer give a smaller and faster model.
    learning_rate
        Weight of every tree, rarely above 0.3. Halve it and double ``n_trees`` for a little more accuracy.
    feature_fraction
        Share of the features, drawn for each tree, that it may split. Raise it if there are few features.
    categorical_features : sequence of column numbers or feature names, optional
        Features whose values, integers from 0 up, have no order. Text columns are detected automatically.
    start
        Fit trees to the residuals of a ridge regression; the model is then the sum of both. With missing values, and
        for categorical features, there is no linear part.
    scoring : str or Measure, optional
        The measure of ``score``, the validation column of ``trace_`` and early stopping; None for the measure that is
        optimised, and "ndcg@10" where none is.
    early_stopping
        Stop when ``scoring`` on the first ``eval_set`` has not improved for this many rounds; keep the best round.
    normalise
        Scaling of the features, applied before training and stored with the model; None for none. "standard" and
        "minmax" scale by the whole training data, "query-minmax", "query-zscore" and "query-sum" within each query.
        Trees hardly depend on the first two.
    random_state
        Seeds the draw of features.
    """

    takes_missing: ClassVar[bool] = True
    compares: ClassVar[bool] = True
    work: ClassVar[Work] = TREES

    n_trees: Count32 = 100
    learning_rate: Positive = 0.1
    feature_fraction: Share = 1.0
    categorical_features: Sequence[int | str] | None = None
    start: Literal["linear"] | None = None
    early_stopping: Count32 | None = None
    random_state: Annotated[int, AtLeast(0), AtMost(LARGEST_32)] = 0

    def _arranged(self, data: Dataset) -> Dataset:
        """Return the data sorted by its content, so that random draws do not depend on the order of the rows."""
        return (
            data
            if is_distributed(data)
            else arranged(data, whole=self.normalise is not None or self.prepare is not None)
        )

    def _served_rows(self, X: Any, qid: Any, group: Any) -> Dataset:
        """Return rows to score as a Dataset; one query if the model does not need queries."""
        check_is_fitted(self)
        if not isinstance(X, Dataset):
            if qid is None and group is None and not self.model_.needs_queries:
                group = [X.shape[0] if hasattr(X, "shape") else len(X)]
            X = Dataset(X, None, qid, group=group)
        data: Dataset = X
        model = self.model_
        names: dict[str, Any] = {"feature_names": model.feature_names, "categories": model.categories}
        return data._but(X=model.features_of(data), dates=model.dates, **names)


@dataclass(eq=False, repr=False, kw_only=True)
class LeafwiseRanker(BoostedRanker):
    """A ranker of trees that LightGBM grows leaf by leaf; missing values are handled by LightGBM.

    Parameters
    ----------
    n_leaves
        Most leaves a tree may have. More leaves model more interactions, and overfit sooner; try 10 to 63.
    min_documents
        Fewest training documents in a leaf. Raise it on noisy data, lower it on a few hundred documents.
    extra_trees
        Whether a split tries one random cut of each feature instead of all cuts, which is faster and overfits less.
        Turn it off for LightGBM's usual splits.
    """

    n_leaves: Annotated[int, AtLeast(2), AtMost(LARGEST_32)] = 31
    min_documents: Count32 = 20
    extra_trees: bool = True


class Rounds:
    """The trees so far, the scores they give to validation rows, and which round was best.

    ``kept`` are the members, and ``objective`` is the objective, after the best round: the last one, or with early
    stopping the best on validation data.

    ``sums`` computes scores from members (such as trees) and rows, which are added to those of ``start``.
    """

    def __init__(self, watcher: Watcher, patience: int | None, sums: Sums, start: Model | None) -> None:
        self._watcher, self._patience, self._sums = watcher, patience, sums
        self.members: list[Any] = []
        self._starts = [
            np.zeros((part.data.n_documents, 1)) if start is None else part.scores_of(start)[:, None]
            for part in watcher.validations
        ]
        check_starts(None, *self._starts)
        self._validation = [scores.copy() for scores in self._starts]
        self.best, self._best_value, self.n_recorded = 0, -np.inf, 0
        self.kept: list[Any] = []
        self.objective = np.nan

    def add(self, member: Any) -> None:
        """Add a member."""
        self.members.append(member)
        for part, scores in zip(self._watcher.validations, self._validation, strict=True):
            scores += self._sums([member], part.data.X, 1)

    def state(self) -> dict[str, float]:
        """Return the state without the members."""
        numbers = {"best": self.best, "best_value": self._best_value, "n_recorded": self.n_recorded}
        return {**numbers, "n_kept": len(self.kept), "objective": self.objective}

    def resume(self, members: Sequence[Any], state: Mapping[str, Any]) -> None:
        """Resume with the members and the state of another process."""
        for member in members:
            self.add(member)
        self.best, self._best_value, self.n_recorded = (state[name] for name in ("best", "best_value", "n_recorded"))
        self.kept, self.objective = self.members[: state["n_kept"]], state["objective"]

    def replace(self, members: Sequence[Any]) -> None:
        """Replace all members so far."""
        self.members = list(members)
        for part, begin, scores in zip(self._watcher.validations, self._starts, self._validation, strict=True):
            scores[:] = begin + self._sums(members, part.data.X, 1)

    def record(self, facts: dict[str, float]) -> bool:
        """Record a round; tell whether to continue."""
        row = self._watcher.record([scores[:, 0] for scores in self._validation], facts)
        self.n_recorded += 1
        value = np.inf if self._patience is None else stopping_value(row, self._watcher)
        if value > self._best_value or self._patience is None:
            self.best, self._best_value = self.n_recorded, value
            self.kept, self.objective = list(self.members), facts["objective"]
        return self._patience is None or self.n_recorded - self.best < self._patience


def stopping_value(row: Mapping[str, float], watcher: Watcher) -> float:
    """Return the measure for early stopping: that on the first ``eval_set``, in a row of the trace."""
    value = row[watcher.validations[0].column]
    if np.isnan(value):
        raise InputError("early_stopping: expected an eval_set on which the measure is defined, got NaN")
    return value


def check_starts(training: Floats | None, *validation: Floats) -> None:
    """Raise if there are rows that the model which trees start from cannot score, since values are missing."""
    if training is not None and np.isnan(training).any():
        raise InputError(
            "init_model: expected one that scores missing values, which the data has; train it with prepare='always', "
            "or see argrank.impute"
        )
    if any(np.isnan(scores).any() for scores in validation):
        raise InputError(
            "eval_set: expected no missing values, as in training, got NaN, for which there is no linear start; train "
            "with start=None or prepare='always', or see argrank.impute"
        )


def row_weights(data: Dataset) -> Floats:
    """Return every row's weight, a number of rows, times that of its query, which is 1 on average.

    Rows with gains are weighted only by their examinations, which include the sessions of their query.
    """
    if data.examinations is not None:
        return np.asarray(data.examinations * (data.n_documents / data.examinations.sum()), np.float64)
    weight = np.ones(data.n_documents) if data.sample_weight is None else data.sample_weight.astype(np.float64)
    if data.query_weight is not None:
        weight = weight * np.repeat(data.query_weight * (data.n_queries / data.query_weight.sum()), data.sizes)
    return weight
