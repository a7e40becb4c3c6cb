"""Where rankers of one weight at a time begin: warm starts first, then random ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import InputError
from argrank.rankers.cheap_models import rank_svm_weights
from argrank.rankers.climbing.climbing_ranker import Columns
from argrank.solvers import least_squares


def starting_weights(
    data: Dataset, columns: Columns, n_starts: int, rng: np.random.Generator, n_jobs: int | None
) -> Iterator[Floats]:
    """Yield the weights of ``n_starts`` starts: RankSVM, equal weights, least squares, then random ones.

    Equal and random weights are meant for features of unit spread. Warm starts that find nothing are left out.
    Features that change no ranking have weight 0.
    """
    makers = (_rank_svm, _equal, _least_squares)
    for number in range(n_starts):
        weights = makers[number](data, columns, n_jobs) if number < len(makers) else None
        if weights is None or not weights.any():
            weights = columns.scaled(rng.standard_normal(columns.n_features))
        yield columns.useful(weights)


def _rank_svm(data: Dataset, columns: Columns, n_jobs: int | None) -> Floats:
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return rank_svm_weights(data, n_jobs, rough=False)
    except InputError:  # features so large that their squares overflow
        return np.zeros(columns.n_features)


def _equal(data: Dataset, columns: Columns, n_jobs: int | None) -> Floats:
    return columns.scaled(np.ones(columns.n_features))


def _least_squares(data: Dataset, columns: Columns, n_jobs: int | None) -> Floats:
    weight = None if data.query_weight is None else np.repeat(data.query_weight, data.sizes)
    return least_squares.solve(data.X, data.targets, 0.0, weight, n_jobs).w
