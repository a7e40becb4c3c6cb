"""Products of float32 features with float64 vectors, in float64, without widening the features in memory.

BLAS multiplies float32 by float32 only. Its rounding hides a solver's progress well before a gradient of 1e-6 and
multiplies the steps of conjugate gradients; copies in float64 would cost the memory and the time that float32 is
chosen to save. These loops read float32, widen in registers and are no slower than BLAS's own float32 products.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._jit import kernel, read_only


def _signature(types: Any) -> Any:
    features = types.Array(types.float32, 2, "C", readonly=True)
    return types.void(features, read_only(types), types.float64[::1])


@kernel(_signature, reorder_sums=True)
def score(X: Any, weights: Any, scores: Any) -> None:
    """Fill in ``X @ weights``."""
    for row in range(X.shape[0]):
        total = 0.0
        for column in range(X.shape[1]):
            total += np.float64(X[row, column]) * weights[column]
        scores[row] = total


@kernel(_signature)
def pull_back(X: Any, u: Any, gradient: Any) -> None:
    """Fill in ``X.T @ u``."""
    gradient[:] = 0.0
    for row in range(X.shape[0]):
        for column in range(X.shape[1]):
            gradient[column] += np.float64(X[row, column]) * u[row]
