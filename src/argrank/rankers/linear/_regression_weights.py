"""Least squares on the labels, as the point from which rankers that are not convex start."""

from __future__ import annotations

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.objectives.objective import query_shares
from argrank.solvers import least_squares


def row_shares(data: Dataset) -> Floats:
    """Return what every row counts where queries are weighted: the weight of its query, 1 on average over queries."""
    shares: Floats = np.repeat(query_shares(data) * data.n_queries, data.sizes)
    return shares


def regression_weights(data: Dataset, n_jobs: int | None) -> Floats:
    """Return the weights of least squares on the labels, queries counting by their weight."""
    return least_squares.solve(data.X, data.y, sample_weight=row_shares(data), n_jobs=n_jobs).w


def spread_within_queries(scores: Floats, data: Dataset) -> float:
    """Return the standard deviation of scores around the mean of their query."""
    means = np.add.reduceat(scores, data.indptr[:-1]) / data.sizes
    squares = (scores - np.repeat(means, data.sizes)) ** 2
    return float(np.sqrt(np.average(squares, weights=row_shares(data))))
