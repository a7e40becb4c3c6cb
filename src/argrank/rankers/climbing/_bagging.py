"""Bagging over queries: the mean weights of fits on samples of the queries, for rankers that overfit few of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.models.linear import LinearModel
from argrank.rankers.base_ranker import Outcome
from argrank.rankers.climbing._columns import Columns


def resampled(data: Dataset, rng: np.random.Generator) -> Dataset:
    """Return as many queries as there are, drawn with replacement; one drawn twice has twice the weight."""
    counts = np.bincount(rng.integers(0, data.n_queries, data.n_queries), minlength=data.n_queries).astype(np.float64)
    if data.query_weight is not None:
        counts *= data.query_weight
    part = data.select(counts > 0)
    return Dataset(part.X, part.y, group=part.sizes, query_weight=counts[counts > 0])


def mean_weights(
    data: Dataset, columns: Columns, n_bags: int, rng: np.random.Generator, fit: Callable[[Dataset], Outcome]
) -> Outcome:
    """Fit every sample and return the mean of the weights, each vector of length 1 in features of unit spread.

    The objective is that of the last fit: the caller knows what the mean is worth. Ctrl-C ends it after the fit that
    it met, with the mean so far.
    """
    found: list[Floats] = []
    n_iter, complaint = 0, None
    while len(found) < n_bags and complaint != "interrupted":
        outcome = fit(resampled(data, rng))
        weights = cast(LinearModel, outcome.model).weights
        length = float(np.linalg.norm(weights * columns.spread))
        found.append(weights / (length if length > 0 else 1.0))
        n_iter, complaint = n_iter + outcome.n_iter, outcome.complaint or complaint
    return Outcome(LinearModel(np.mean(found, axis=0)), outcome.objective, np.nan, n_iter, complaint)
