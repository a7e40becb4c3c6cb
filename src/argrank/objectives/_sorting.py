"""Rank the documents of many queries at once: NumPy's fast row sort on padded rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._jit import kernel, read_only


@kernel(
    lambda types: types.void(
        read_only(types), read_only(types, "int64"), read_only(types, "int64"), types.float64[:, ::1]
    )
)
def _pad(scores: Any, indptr: Any, queries: Any, padded: Any) -> None:
    for row in range(len(queries)):
        a, b = indptr[queries[row]] - indptr[0], indptr[queries[row] + 1] - indptr[0]
        padded[row, : b - a] = -scores[a:b]
        padded[row, b - a :] = np.inf


@kernel(
    lambda types: types.void(
        types.int64[:, ::1], read_only(types, "int64"), read_only(types, "int64"), types.int64[::1]
    )
)
def _unpad(sorted_rows: Any, indptr: Any, queries: Any, order: Any) -> None:
    for row in range(len(queries)):
        a, b = indptr[queries[row]] - indptr[0], indptr[queries[row] + 1] - indptr[0]
        order[a:b] = sorted_rows[row, : b - a]


def descending(scores: NDArray[np.float64], indptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row positions of every query by descending score, ties in any order; scores must be finite.

    Queries of similar size are sorted together, so padding at most doubles the work. ``indptr`` may count from the
    beginning of all data; positions count from the query's first row.
    """
    sizes = np.diff(indptr)
    order = np.empty(len(scores), np.int64)
    classes = np.frexp(sizes - 0.5)[1]  # sizes in (2^(k-1), 2^k] share class k
    for size_class in np.unique(classes):
        queries = np.flatnonzero(classes == size_class)
        padded = np.empty((len(queries), sizes[queries].max()))
        _pad(scores, indptr, queries, padded)
        # The unstable sort is several times faster, and any order of tied scores gives a valid subgradient. Padding
        # comes last because it is infinite and scores are not.
        _unpad(np.argsort(padded, axis=1), indptr, queries, order)
    return order
