"""Gradients of the scores by the weights of dense features, in float64 whatever the features are.

BLAS would do for float64, were it not that its ``X.T @ u`` gains nothing from a second thread of ours, and that it
multiplies float32 by float32 only. The loop takes as long as BLAS on one thread and half of that on two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._jit import kernel, read_only


def _signature(types: Any, element: Any) -> Any:
    features = types.Array(element, 2, "C", readonly=True)
    return types.void(features, read_only(types), types.float64[::1])


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


PULL_BACK = {
    np.dtype(np.float32): kernel(lambda types: _signature(types, types.float32), reorder_sums=True)(_pull_back),
    np.dtype(np.float64): kernel(lambda types: _signature(types, types.float64), reorder_sums=True)(_pull_back),
}
