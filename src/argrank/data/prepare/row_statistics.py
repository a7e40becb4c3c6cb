"""Shift and scale of every feature from one or two passes over the rows, for features that lie in a file by row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._types import Floats
from argrank.data.mapped import row_view

BLOCK_VALUES = 1 << 19


def extremes(X: Any) -> tuple[Floats, Floats]:
    """Return the least and the greatest value of every feature, without missing ones; NaN where all are missing."""
    low, high = np.full(X.shape[1], np.nan), np.full(X.shape[1], np.nan)
    stored = np.zeros(X.shape[1])
    for values, columns in _blocks(X):
        if columns is None:
            low, high = np.fmin(low, np.fmin.reduce(values)), np.fmax(high, np.fmax.reduce(values))
        else:
            np.fmin.at(low, columns, values)
            np.fmax.at(high, columns, values)
            stored += np.bincount(columns, minlength=X.shape[1])
    if sparse.issparse(X):
        gaps = stored < X.shape[0]  # zeros that are not stored
        low, high = np.where(gaps, np.fmin(low, 0.0), low), np.where(gaps, np.fmax(high, 0.0), high)
    return low, high


def moments(X: Any) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of every feature, without missing values, in two passes."""
    total, missing, squares, counted = (np.zeros(X.shape[1]) for _ in range(4))
    for values, columns in _blocks(X):
        unknown = np.isnan(values)
        total += _sums(np.where(unknown, 0.0, values), columns, X.shape[1])
        missing += _sums(unknown, columns, X.shape[1])
    known = X.shape[0] - missing  # with the zeros that are not stored
    mean = total / np.maximum(known, 1)
    for values, columns in _blocks(X):
        away = values - (mean if columns is None else mean[columns])
        unknown = np.isnan(values)
        squares += _sums(np.where(unknown, 0.0, away * away), columns, X.shape[1])
        counted += _sums(~unknown, columns, X.shape[1])
    squares += (known - counted) * mean**2
    return mean, np.sqrt(squares / np.maximum(known, 1))


def _sums(values: NDArray[Any], columns: NDArray[Any] | None, n_features: int) -> Floats:
    if columns is None:
        return np.asarray(values.sum(axis=0), np.float64)
    return np.bincount(columns, weights=values, minlength=n_features).astype(np.float64)


def _blocks(X: Any) -> Iterator[tuple[Floats, NDArray[Any] | None]]:
    """Yield some rows as float64: all of their values, or those that are stored and the columns of each."""
    width = max(1, X.nnz // max(1, X.shape[0])) if sparse.issparse(X) else X.shape[1]
    step = max(1, BLOCK_VALUES // width)
    for start in range(0, X.shape[0], step):
        part = row_view(X, slice(start, min(start + step, X.shape[0])))
        if sparse.issparse(part):
            yield part.data.astype(np.float64), part.indices
        else:
            yield part.astype(np.float64), None
