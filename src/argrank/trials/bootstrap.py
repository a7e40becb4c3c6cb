"""Intervals for the weights of a linear model, by training on resampled queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from argrank._declared import Above, AtLeast, Below, Seed, checked
from argrank._progress import Progress
from argrank._tables import table, to_text
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import InputError, shown
from argrank.evaluation.intervals import resampled_intervals
from argrank.models.linear import LinearModel
from argrank.models.model import fitted_model
from argrank.rankers.base_ranker import BaseRanker
from argrank.trials.select import quiet


@dataclass(frozen=True, eq=False, repr=False)
class WeightIntervals:
    """Weights with percentile bootstrap intervals that cover ``1 - level``; made by ``ar.bootstrap_weights``."""

    names: tuple[str, ...]
    weights: Floats
    low: Floats
    high: Floats
    n_resamples: int
    level: float

    def __repr__(self) -> str:
        order = np.argsort(-np.abs(self.weights), kind="stable")
        rows = [
            (self.names[i], *(f"{column[i]:+.4g}" for column in (self.weights, self.low, self.high))) for i in order
        ]
        note = f"{100 * (1 - self.level):g} % intervals from {self.n_resamples} trainings on resampled queries."
        return to_text([table(("feature", "weight", "from", "to"), rows)], [note])


@checked
def bootstrap_weights(
    ranker: Any,
    train: Dataset,
    *,
    n_resamples: Annotated[int, AtLeast(2)] = 50,
    level: Annotated[float, Above(0), Below(1)] = 0.05,
    random_state: Seed = 0,
    progress: bool = True,
) -> WeightIntervals:
    """Train a fitted linear ranker repeatedly on queries drawn with replacement.

    A weight whose interval includes zero might have the other sign with other queries of the same kind.

    Parameters
    ----------
    ranker : fitted ranker with ``coef_``
        It is not changed; clones with its parameters train.
    train : Dataset
        What it was trained on.
    n_resamples : int
        Number of trainings; each starts at the given weights if the ranker supports that.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(40, 10, 3, random_state=1)
    >>> found = ar.bootstrap_weights(ar.make_ranker("regression").fit(data), data, n_resamples=20)
    >>> bool((found.low <= found.weights).all() and (found.weights <= found.high).all())
    True
    """
    from sklearn.base import clone

    if not isinstance(ranker, BaseRanker) or not isinstance(fitted_model(ranker), LinearModel):
        raise InputError(f"ranker: expected a fitted linear ranker, got {shown(ranker)}")
    weights = ranker.coef_
    rng = np.random.default_rng(random_state)
    found = np.empty((n_resamples, len(weights)))
    with Progress("resampling", n_resamples, enabled=progress) as bar:
        for number in range(n_resamples):
            drawn = train._take(rng.integers(train.n_queries, size=train.n_queries))  # select() refuses repetitions
            again = clone(ranker).set_params(**quiet(ranker.get_params()))
            again._remember_features(drawn, drawn)
            found[number] = again._fit(drawn, [], weights).coef_
            bar.advance(1)
    low, high = resampled_intervals(found, level)
    return WeightIntervals(feature_names(train), weights, low, high, n_resamples, level)


def feature_names(data: Dataset) -> tuple[str, ...]:
    """Return the features' names, or their numbers as in the file."""
    names: Sequence[str] = data.feature_names or [str(i + data.feature_base) for i in range(data.n_features)]
    return tuple(names)
