"""Products of dense features, and of their transpose, with weights, always in float64.

NumPy multiplies float32 in float32, whose rounding hides a solver's progress and reorders close documents. These loops
widen float32 in registers, and take no longer than BLAS in float32. For float64, BLAS does not profit from a second
thread of ours in ``X.T @ u``; the loop takes as long as BLAS on one thread and half of that on two.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np

from argrank._jit import LazyKernel, kernel, read_only
from argrank._types import Floats

BLOCK_CELLS = 1 << 18  # float32 values that NumPy converts at a time, in the cache


def _signature(types: ModuleType, element: Any) -> Any:
    features = types.Array(element, 2, "C", readonly=True)
    return types.void(features, read_only(types), types.float64[::1])


def _score(X: Any, weights: Any, scores: Any) -> None:
    """Fill in ``X @ weights``."""
    for row in range(X.shape[0]):
        total = 0.0
        for column in range(X.shape[1]):
            total += np.float64(X[row, column]) * weights[column]
        scores[row] = total


def _pull_back(X: Any, u: Any, gradient: Any) -> None:
    """Fill in ``X.T @ u``; four rows at a time, so that the gradient is read and written less often."""
    gradient[:] = 0.0
    in_fours = X.shape[0] - X.shape[0] % 4
    for row in range(0, in_fours, 4):
        for column in range(X.shape[1]):
            gradient[column] += (
                np.float64(X[row, column]) * u[row]
                + np.float64(X[row + 1, column]) * u[row + 1]
                + np.float64(X[row + 2, column]) * u[row + 2]
                + np.float64(X[row + 3, column]) * u[row + 3]
            )
    for row in range(in_fours, X.shape[0]):
        for column in range(X.shape[1]):
            gradient[column] += np.float64(X[row, column]) * u[row]


def _of_both_types(function: Any) -> dict[Any, LazyKernel]:
    return {
        np.dtype(np.float32): kernel(lambda types: _signature(types, types.float32), reorder_sums=True)(function),
        np.dtype(np.float64): kernel(lambda types: _signature(types, types.float64), reorder_sums=True)(function),
    }


SCORE, PULL_BACK = _of_both_types(_score), _of_both_types(_pull_back)


def product(X: Any, weights: Floats) -> Floats:
    """Return ``X @ weights`` of a float32 array in float64, without a copy of all features as NumPy makes one.

    The kernel is used if numba is in memory already: loading it takes longer than NumPy needs for a million rows.
    """
    scores = np.empty(len(X))
    if "numba" in sys.modules and X.flags.c_contiguous:
        SCORE[X.dtype](X, np.ascontiguousarray(weights, np.float64), scores)
        return scores
    n_rows = max(1, BLOCK_CELLS // X.shape[1])
    block = np.empty((min(n_rows, len(X)), X.shape[1]))
    for start in range(0, len(X), n_rows):
        rows = X[start : start + n_rows]
        converted = block[: len(rows)]
        np.copyto(converted, rows)
        np.dot(converted, weights, out=scores[start : start + n_rows])
    return scores
