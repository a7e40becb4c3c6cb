"""Features in bins of one byte, for growing symmetric trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._memory import check_memory
from argrank._threads import map_threads
from argrank._types import Floats, Integers
from argrank.rankers.boosted.symmetric._level import fill_bins

WIDTH = 32  # columns of a block: their sums fit the fastest cache, and each thread processes a block
SAMPLED = 200_000  # rows used to choose cuts
BLOCK_VALUES = 1 << 19  # of features that are read at a time

Bytes = NDArray[np.uint8]


class Bins(NamedTuple):
    """The cuts between the bins of values, for the columns that have at least two bins with that of missing values."""

    columns: Integers  # of X
    cuts: list[Floats]

    @property
    def n_bins(self) -> Integers:
        """Number of bins of values, numbered from 1."""
        return np.array([len(cuts) + 1 for cuts in self.cuts], np.int64)

    def cut(self, column: int, beyond: int) -> float:
        """Return the number that values of bins beyond the given one are greater than; infinity beyond the last."""
        cuts = self.cuts[column]
        return float(cuts[beyond - 1]) if beyond <= len(cuts) else np.inf

    def blocks(self, X: Any, numbers: Mapping[int, Floats], n_jobs: int | None) -> list[Bytes]:
        """Return the bins of all rows, WIDTH columns together; ``numbers`` replace the values of some columns."""
        n_rows = X.shape[0]
        check_memory(
            "X: symmetric trees need a byte of every value", float(n_rows) * len(self.columns), "take fewer queries"
        )
        starts = range(0, len(self.columns), WIDTH)
        made = [_aligned(n_rows, min(WIDTH, len(self.columns) - start)) for start in starts]
        tables = [_flat(self.cuts[start : start + WIDTH]) for start in starts]
        for first, values in column_blocks(X, self.columns, numbers):

            def fill(number: int, first: int = first, values: Floats = values) -> None:
                own = values[number * WIDTH : (number + 1) * WIDTH]
                fill_bins(own, first, *tables[number], made[number])

            map_threads(fill, range(len(made)), n_jobs)
        return made


def _aligned(n_rows: int, width: int) -> Bytes:
    """Return an array whose rows of WIDTH bytes do not cross the lines of the cache."""
    given = np.empty(n_rows * width + WIDTH, np.uint8)
    first = -given.ctypes.data % WIDTH
    return given[first : first + n_rows * width].reshape(n_rows, width)


def _flat(cuts: list[Floats]) -> tuple[Floats, Integers]:
    """Return the cuts of several columns one after another, and the borders between them."""
    return np.concatenate([*cuts, np.empty(0)]), np.cumsum([0, *map(len, cuts)])


def column_blocks(X: Any, columns: Integers, numbers: Mapping[int, Floats]) -> Iterator[tuple[int, Floats]]:
    """Yield some rows at a time: the number of the first one, and their values, column by column."""
    step = max(1, BLOCK_VALUES // max(1, len(columns)))
    for first in range(0, X.shape[0], step):
        rows = X[first : first + step]
        values = np.ascontiguousarray(dense(rows)[:, columns].T, np.float64)
        for place, column in enumerate(columns.tolist()):
            if column in numbers:
                values[place] = numbers[column][first : first + step]
        yield first, values


def find_bins(X: Any, most: int, numbers: Mapping[int, Floats], weight: Floats, n_jobs: int | None) -> Bins:
    """Choose cuts such that bins hold about the same weight of rows; a frequent value has its own bin."""
    rows = np.flatnonzero(weight > 0)
    if len(rows) > SAMPLED:
        rows = rows[np.linspace(0, len(rows) - 1, SAMPLED).astype(np.int64)]
    if len(rows) < X.shape[0]:
        X, weight = X[rows], weight[rows]
    if sparse.issparse(X):
        X = X.tocsc()
    even = weight.min(initial=np.inf) == weight.max(initial=-np.inf)

    def look(column: int) -> tuple[Floats, bool]:
        values, own = numbers[column][rows] if column in numbers else X[:, [column]], weight
        if sparse.issparse(values):
            stored = slice(X.indptr[column], X.indptr[column + 1])
            values, own = X.data[stored], weight[X.indices[stored]]
            if len(values) < len(rows):  # the others are 0
                values, own = np.append(values, X.dtype.type(0)), np.append(own, weight.sum() - own.sum())
        return _cuts_of(np.ravel(values), None if even and len(own) == len(rows) else own, most)

    found = map_threads(look, range(X.shape[1]), n_jobs)
    chosen = [column for column, (cuts, missing) in enumerate(found) if len(cuts) or missing]
    return Bins(np.array(chosen, np.int64), [found[column][0] for column in chosen])


def _cuts_of(values: NDArray[Any], weight: Floats | None, most: int) -> tuple[Floats, bool]:
    """Return the cuts of one column, and whether values are missing; None if all are missing."""
    known = ~np.isnan(values)
    if weight is None:
        distinct, counts = np.unique(values[known], return_counts=True)
    else:
        distinct, place = np.unique(values[known], return_inverse=True)
        counts = np.bincount(place.ravel(), weight[known])
    if not len(distinct):
        return np.empty(0), False
    return cuts_between(distinct.astype(np.float64), counts, most), not known.all()


def cuts_between(distinct: Floats, counts: NDArray[Any], most: int) -> Floats:
    """Return cuts between ascending values, for at most a number of bins.

    Values that fill a bin alone get one, and the others share the remaining bins.
    """
    last = np.arange(len(distinct) - 1)
    if len(distinct) > most:
        size, before = counts.sum() / most, np.inf
        while size < before * (1 - 1e-6):
            before, size = size, np.minimum(counts, size).sum() / most
        share = np.minimum(counts, size)
        number = np.floor((np.cumsum(share) - 0.5 * share) / size * (1 - 1e-9))
        last = np.flatnonzero(number[1:] > number[:-1])
    low, high = distinct[last], distinct[last + 1]
    middle = 0.5 * low + 0.5 * high
    return np.where((low <= middle) & (middle < high), middle, low)


def dense(X: Any) -> NDArray[Any]:
    """Return some rows as an array."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X)
