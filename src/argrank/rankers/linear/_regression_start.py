"""Least squares on the labels, as the point from which rankers that are not convex start."""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import OptionError, shown
from argrank.objectives.objective import query_shares
from argrank.solvers import least_squares


def row_shares(data: Dataset) -> Floats:
    """Return what every row counts where queries are weighted: the weight of its query, 1 on average over queries."""
    shares: Floats = np.repeat(query_shares(data) * data.n_queries, data.sizes)
    return shares


def regression_weights(data: Dataset, n_jobs: int | None) -> Floats:
    """Return the weights of least squares on the labels, queries counting by their weight."""
    return least_squares.solve(data.X, data.y, sample_weight=row_shares(data), n_jobs=n_jobs).w


def given_weights(w0: Any, data: Dataset) -> Floats:
    """Return weights that a user gave, checked."""
    try:
        weights: Floats = np.array(w0, np.float64)
    except (TypeError, ValueError) as error:
        raise OptionError(f"w0: expected {data.n_features} finite weights, got {shown(w0)}") from error
    if weights.shape != (data.n_features,) or not np.isfinite(weights).all():
        raise OptionError(f"w0: expected {data.n_features} finite weights, got {shown(w0)}")
    return weights
