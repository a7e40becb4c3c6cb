"""Least squares on the labels, over blocks of queries, and the spread of its scores: where other rankers start."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.data.prepare.query_statistics import blocks
from argrank.engines import map_blocks
from argrank.measures.gains import gains_of
from argrank.objectives.objective import query_weights, total_weight
from argrank.solvers import least_squares
from argrank.solvers.least_squares import LeastSquares, Rows


def regression(data: Dataset, gain: Any, ridge: float, by_row: bool, n_jobs: int | None) -> LeastSquares:
    """Return least squares on gains of the labels, queries counting by their weight, rows by theirs where asked."""
    rows_of = functools.partial(_rows, gain, data.n_queries / total_weight(data), by_row)
    if data.is_sparse and data.n_features > least_squares.MOST_COLUMNS:
        return least_squares.solve(*rows_of(data)[:2], ridge, rows_of(data).weight, n_jobs)

    def over(function: Callable[[Rows], Any]) -> list[Any]:
        return map_blocks(data, functools.partial(_on_rows, function, rows_of), n_jobs)

    return least_squares.solve_over(over, (data.n_documents, data.n_features), ridge)


def regression_weights(data: Dataset, n_jobs: int | None) -> Floats:
    """Return the weights of least squares on the labels, queries counting by their weight."""
    return regression(data, "linear", 0.0, False, n_jobs).w


def spread_within_queries(w: Floats, data: Dataset, n_jobs: int | None) -> float:
    """Return the standard deviation of the scores of some weights around the mean of their query."""
    sums = map_blocks(data, functools.partial(_squares_and_weight, w), n_jobs)
    return float(np.sqrt(sum(one[0] for one in sums) / sum(one[1] for one in sums)))


def feature_spreads(data: Dataset, n_jobs: int | None) -> Floats:
    """Return the standard deviation of every feature around the mean of its query, exactly 0 where it is constant."""
    sums = map_blocks(data, _feature_squares_and_weight, n_jobs)
    return np.sqrt(sum((one[0] for one in sums), np.zeros(data.n_features)) / sum(one[1] for one in sums))


def _rows(gain: Any, scale: float, by_row: bool, data: Dataset) -> Rows:
    weight = np.repeat(query_weights(data) * scale, data.sizes)
    if by_row and data.sample_weight is not None:
        weight = weight * data.sample_weight
    return Rows(data.X, gains_of(data.y, gain), weight)


def _on_rows(function: Callable[[Rows], Any], rows_of: Callable[[Dataset], Rows], data: Dataset) -> Any:
    return function(rows_of(data))


def _squares_and_weight(w: Floats, data: Dataset) -> tuple[float, float]:
    scores, weight = np.asarray(data.X @ w, np.float64), np.repeat(query_weights(data), data.sizes)
    means = np.add.reduceat(scores, data.indptr[:-1]) / data.sizes
    return float((weight * (scores - np.repeat(means, data.sizes)) ** 2).sum()), float(weight.sum())


def _feature_squares_and_weight(data: Dataset) -> tuple[Floats, float]:
    counts, squares = query_weights(data) * data.sizes, np.zeros(data.n_features)
    for block in blocks(data.X, data.indptr):
        deviation = np.where(block.maximum() > block.minimum(), block.deviation(block.mean()), 0.0)
        squares += block.per_feature(block.column(counts[block.queries]) * deviation**2, data.n_features)
    return squares, float(counts.sum())
