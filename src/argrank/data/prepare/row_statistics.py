"""Shift and scale of every feature from one or two passes over blocks of rows.

Features stored by row in a file, or on a cluster, are read block by block, and the results are added in block order, so
that they are bit-identical on one machine and on any number of partitions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._types import Floats
from argrank.data.mapped import row_view

BLOCK_VALUES = 1 << 19

#: Applies a function to the features of every block, and returns the results in block order.
Over = Callable[[Callable[[Any], Any]], list[Any]]


def extremes(over: Over) -> tuple[Floats, Floats]:
    """Return the least and the greatest value of every feature, without missing ones; NaN where all are missing."""
    found = over(_extremes)
    return np.fmin.reduce([one[0] for one in found]), np.fmax.reduce([one[1] for one in found])


def moments(over: Over) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of every feature, without missing values, in two passes."""
    sums = over(_total)
    known = sum(one[1] for one in sums)
    mean = sum(one[0] for one in sums) / np.maximum(known, 1)
    return mean, np.sqrt(sum(over(functools.partial(_squares, mean))) / np.maximum(known, 1))


# ---- of the features of one block -------------------------------------------------------------------------------


def _extremes(X: Any) -> tuple[Floats, Floats]:
    low, high = np.full(X.shape[1], np.nan), np.full(X.shape[1], np.nan)
    stored = np.zeros(X.shape[1])
    for values, columns in _pieces(X):
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


def _total(X: Any) -> tuple[Floats, Floats]:
    """Return the sum of every feature, and how many values are known, with the zeros that are not stored."""
    total, missing = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for values, columns in _pieces(X):
        unknown = np.isnan(values)
        total += _sums(np.where(unknown, 0.0, values), columns, X.shape[1])
        missing += _sums(unknown, columns, X.shape[1])
    return total, X.shape[0] - missing


def _squares(mean: Floats, X: Any) -> Floats:
    """Return the sum of the squares of every feature around its mean."""
    squares, gaps = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for values, columns in _pieces(X):
        away = values - (mean if columns is None else mean[columns])
        squares += _sums(np.where(np.isnan(values), 0.0, away * away), columns, X.shape[1])
    if sparse.issparse(X):
        gaps = X.shape[0] - np.bincount(X.indices, minlength=X.shape[1])  # zeros that are not stored
    return np.asarray(squares + gaps * mean**2)


def _sums(values: NDArray[Any], columns: NDArray[Any] | None, n_features: int) -> Floats:
    if columns is None:
        return np.asarray(values.sum(axis=0), np.float64)
    return np.bincount(columns, weights=values, minlength=n_features).astype(np.float64)


def _pieces(X: Any) -> Iterator[tuple[Floats, NDArray[Any] | None]]:
    """Yield some rows as float64: all of their values, or those that are stored and the columns of each."""
    width = max(1, X.nnz // max(1, X.shape[0])) if sparse.issparse(X) else X.shape[1]
    step = max(1, BLOCK_VALUES // width)
    for start in range(0, X.shape[0], step):
        part = row_view(X, slice(start, min(start + step, X.shape[0])))
        if sparse.issparse(part):
            yield part.data.astype(np.float64), part.indices
        else:
            yield part.astype(np.float64), None
