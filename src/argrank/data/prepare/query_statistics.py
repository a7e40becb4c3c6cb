"""Statistics of every feature within every query, for dense and CSR matrices, a block of queries at a time.

A `Block` holds the values of adjacent queries so that one `reduceat` runs over each pair of query and feature: for a
dense matrix along the rows, for CSR along the stored entries, brought together first. Zeros that CSR does not store
count as values; NaN is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._types import Floats, Integers
from argrank.data.grouping import adjacent_queries

BLOCK_VALUES = 1 << 16  # half a megabyte of float64 at a time, so that temporaries stay in the cache


@dataclass(frozen=True)
class Block:
    """Some adjacent queries: ``values`` has one group of equal query (and, where 1-D, feature) after the other.

    ``starts`` and ``lengths`` delimit the groups, ``documents`` is the number of documents of each group, ``queries``
    the index of its query, ``place`` the position of the values: a slice of the rows, or the positions among the stored
    entries of CSR.
    """

    values: Floats
    starts: Integers
    lengths: Integers
    documents: Integers
    queries: Integers
    features: Integers | slice
    place: Any

    @cached_property
    def _has_missing(self) -> bool:
        return bool(np.isnan(self.values.sum()))  # values are finite or NaN; an overflow to infinity is no NaN

    @property
    def unstored(self) -> Integers:
        """Number of zeros that are not stored, in every group."""
        stored: Integers = self.column(self.lengths)
        return self.documents - stored

    def minimum(self) -> Floats:
        """Return the smallest value of every group; NaN where all are missing."""
        least: Floats = np.fmin.reduceat(self.values, self.starts, axis=0)
        return np.where(self.unstored > 0, np.fmin(least, 0.0), least)

    def maximum(self) -> Floats:
        """Return the largest value of every group; NaN where all are missing."""
        most: Floats = np.fmax.reduceat(self.values, self.starts, axis=0)
        return np.where(self.unstored > 0, np.fmax(most, 0.0), most)

    def known(self) -> Integers:
        """Return how many values of every group are not missing."""
        if not self._has_missing:
            return np.broadcast_to(self.documents, self.lengths.shape + self.values.shape[1:])
        missing: Integers = np.add.reduceat(np.isnan(self.values), self.starts, axis=0, dtype=np.int64)
        return self.documents - missing

    def total(self, values: Floats | None = None) -> Floats:
        """Return the sum of every group, of the block's values or of the given ones."""
        summands = self.values if values is None else values
        if self._has_missing:
            summands = np.where(np.isnan(summands), 0.0, summands)
        return np.asarray(np.add.reduceat(summands, self.starts, axis=0))

    def mean(self) -> Floats:
        """Return the mean of every group; 0 where all are missing."""
        return np.divide(self.total(), np.maximum(self.known(), 1))

    def deviation(self, mean: Floats) -> Floats:
        """Return the standard deviation of every group around its mean, dividing by the number of values."""
        squares = self.total((self.values - self.spread(mean)) ** 2) + self.unstored * mean**2
        return np.sqrt(squares / np.maximum(self.known(), 1))

    def spread(self, statistic: Floats) -> Floats:
        """Repeat one number per group for each of the group's values."""
        return np.repeat(statistic, self.lengths, axis=0)

    def per_feature(self, statistic: NDArray[Any], n_features: int) -> Floats:
        """Add up one number per group to one number per feature."""
        if isinstance(self.features, slice):
            return np.asarray(statistic.sum(axis=0, dtype=np.float64))
        return np.bincount(self.features, weights=statistic, minlength=n_features).astype(np.float64)

    def column(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return one number per group, in the shape of the group's statistics."""
        return numbers[:, None] if self.values.ndim == 2 else numbers


def blocks(X: Any, indptr: Integers) -> Iterator[Block]:
    """Yield the queries of a matrix in order, as Blocks of about BLOCK_VALUES values and at least one query."""
    width = max(1, X.nnz // max(1, X.shape[0])) if sparse.issparse(X) else X.shape[1]
    rows_at_once = max(1, BLOCK_VALUES // max(1, width))
    for first, last in adjacent_queries(indptr, rows_at_once):
        yield (_csr_block if sparse.issparse(X) else _dense_block)(X, indptr[first : last + 1], first)


def _dense_block(X: NDArray[Any], part: Integers, first: int) -> Block:
    rows, sizes, queries = slice(int(part[0]), int(part[-1])), np.diff(part), np.arange(first, first + len(part) - 1)
    return Block(X[rows].astype(np.float64), part[:-1] - part[0], sizes, sizes[:, None], queries, slice(None), rows)


def _csr_block(X: Any, part: Integers, first: int) -> Block:
    begin, end = int(X.indptr[part[0]]), int(X.indptr[part[-1]])
    sizes, stored = np.diff(part), np.diff(X.indptr[part])
    query = np.repeat(np.arange(len(sizes)), stored)
    key = query * X.shape[1] + X.indices[begin:end]
    order = np.argsort(key, kind="stable")
    key = key[order]
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    groups, features = np.divmod(key[starts], X.shape[1])
    lengths = np.diff(np.append(starts, len(key)))
    values = X.data[begin:end][order].astype(np.float64)
    return Block(values, starts, lengths, sizes[groups], first + groups, features, begin + order)
