"""Identical feature vectors: found by 64-bit fingerprints of the rows, never by comparing pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.mapped import row_view

ROWS_AT_ONCE = 1 << 10  # some hundred kilobytes at a time, to stay in the cache
Bits = NDArray[np.uint64]

_SEED = np.uint64(0x9E3779B97F4A7C15)


def fingerprints(X: Any) -> Bits:
    """Return 64 bits per row that are equal for equal rows, whether dense or CSR, float32 or float64.

    A row's fingerprint is the sum, modulo 2^64, of the mixed bits of its values that are not 0 (all NaN alike), each
    mixed together with its column. Two different rows agree with a probability of about 2^-64.
    """
    columns = mixed(np.arange(1, X.shape[1] + 1, dtype=np.uint64) * _SEED)
    return row_hashes(X, columns, mixed)


def row_hashes(X: Any, columns: Bits, mixed: Callable[[Bits], Bits]) -> Bits:
    """Return the sum, modulo 2^64, of the mixed bits of every row's values that are not 0, XOR those of the columns."""
    starts = range(0, X.shape[0], ROWS_AT_ONCE)
    parts = (row_view(X, slice(start, min(start + ROWS_AT_ONCE, X.shape[0]))) for start in starts)
    return np.concatenate([_row_sums(part, columns, mixed) for part in parts])


def _row_sums(X: Any, columns: Bits, mixed: Callable[[Bits], Bits]) -> Bits:
    if not sparse.issparse(X):
        return np.asarray(_terms(X, columns, mixed).sum(axis=1, dtype=np.uint64))
    terms = _terms(X.data, columns[X.indices], mixed)
    totals = np.concatenate((np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)))
    return np.asarray(totals[X.indptr[1:]] - totals[X.indptr[:-1]])  # modulo 2^64: the sums may wrap


def identical_in_query(data: Dataset, prints: Bits | None = None) -> Integers:
    """Return a number per stored row, the same for the rows of one query whose features are all equal."""
    prints = fingerprints(data.X) if prints is None else prints
    query = data.query_of_row
    order = np.lexsort((prints, query))
    new = np.ones(len(order), bool)
    new[1:] = (prints[order][1:] != prints[order][:-1]) | (query[order][1:] != query[order][:-1])
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(new) - 1
    return group


def _terms(values: NDArray[Any], columns: Bits, mixed: Callable[[Bits], Bits]) -> Bits:
    values = np.array(values, np.float64)  # also for lazily scaled rows
    values[np.isnan(values)] = np.nan  # NaN has many bit patterns
    terms = mixed(values.view(np.uint64) ^ columns)
    terms[values == 0] = 0
    return terms


def mixed(bits: Bits) -> Bits:
    """Return the bits mixed one to one, so that every input bit changes about half of the output (SplitMix64)."""
    bits = bits ^ (bits >> np.uint64(30))
    bits *= np.uint64(0xBF58476D1CE4E5B9)
    bits ^= bits >> np.uint64(27)
    bits *= np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return bits


def labels_in_group(group: Integers, labels: Floats) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the lowest and the highest label of every group of `identical_in_query`."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    return np.minimum.reduceat(labels[order], starts), np.maximum.reduceat(labels[order], starts)
