"""Rows in the form for the kernels of trees, and when to load a kernel."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from argrank._types import Floats

KERNEL_CELLS = 1 << 16  # values in a block of rows that is converted to float64 for a kernel
LOADING = 300_000  # rows times trees that NumPy handles in the time it takes to load a kernel

_walked = 0  # rows times trees by NumPy in this process


def kernel_pays(cells: int) -> bool:
    """Tell whether to use a kernel for some rows times trees: numba is in memory, or enough was predicted without."""
    global _walked
    if "numba" in sys.modules or _walked + cells > LOADING:
        return True
    _walked += cells
    return False


def blocks(X: Any) -> Iterator[tuple[slice, Floats]]:
    """Yield rows in the kernels' form: float64, C-contiguous."""
    whole = isinstance(X, np.ndarray) and X.dtype == np.float64 and X.flags.c_contiguous
    n_rows = max(1, X.shape[0] if whole else KERNEL_CELLS // max(1, X.shape[1]))
    for start in range(0, X.shape[0], n_rows):
        rows = X[start : start + n_rows]
        yield slice(start, start + n_rows), rows if whole else as_doubles(rows)


def as_doubles(rows: Any) -> Floats:
    """Return rows as a dense float64 matrix."""
    return np.ascontiguousarray(rows.toarray() if sparse.issparse(rows) else rows, np.float64)
