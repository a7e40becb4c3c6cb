"""Order-independent content hashes of documents and queries.

A sample is drawn with a seed made of the query's own content. So the same query gets the same sample wherever its rows
stand, alone or among others, dense or sparse, repeated or weighted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._types import Integers

Keys = NDArray[np.uint64]

_ODD = np.uint64(0x9E3779B97F4A7C15)
_ANOTHER_ODD = np.uint64(0xC2B2AE3D27D4EB4F)
_HALF = np.uint64(32)
_CELLS = 1 << 20  # numbers worked on together


def document_keys(X: Any) -> Keys:
    """Return a number for every row: the sum, modulo 2^64, of a hash of every feature that is not 0."""
    n_rows, n_features = X.shape
    columns = np.arange(1, n_features + 1, dtype=np.uint64) * _ANOTHER_ODD
    if sparse.issparse(X):
        values = np.asarray(X.data, np.float64)
        hashes = np.where(values != 0, mixed(values.view(np.uint64) ^ columns[X.indices]), np.uint64(0))
        until = np.concatenate((np.zeros(1, np.uint64), np.cumsum(hashes, dtype=np.uint64)))
        sums: Keys = until[X.indptr[1:]] - until[X.indptr[:-1]]
        return sums
    keys = np.empty(n_rows, np.uint64)
    step = max(1, _CELLS // max(1, n_features))
    for start in range(0, n_rows, step):
        values = np.ascontiguousarray(X[start : start + step], np.float64)
        hashes = mixed(values.view(np.uint64) ^ columns)
        hashes[values == 0] = 0
        keys[start : start + step] = hashes.sum(axis=1, dtype=np.uint64)
    return keys


def query_seed(keys: Keys, levels: Integers) -> int:
    """Return a number for a query of these documents and levels, the same for any order of them."""
    return int(mixed(mixed(keys) + levels.astype(np.uint64) * _ODD).sum(dtype=np.uint64))


def mixed(values: Keys) -> Keys:
    """Return numbers that look random, one for each."""
    values = values * _ODD
    values ^= values >> _HALF
    values *= _ANOTHER_ODD
    values ^= values >> _HALF
    return values
