"""Group rows into queries by id (any type, any order of rows) or by group sizes, and queries into blocks.

The borders of blocks depend only on the data, for every engine and every file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._types import Integers
from argrank.errors import InputError, shown

BLOCK_ROWS = 24_000  # documents in a block: few enough for the cache, many enough that Python's overhead is small
LARGEST_FLOAT_ID = 2.0**53  # from here on, floats cannot tell integers apart
SMALL_ROWS = 4_000  # up to this many documents, one thread is as fast as two


class Grouping(NamedTuple):
    """Queries by first appearance. ``rows[i]`` is the caller's row stored at i; None if the order is unchanged."""

    query_ids: NDArray[Any]
    indptr: Integers
    rows: Integers | None

    @property
    def query_of_row(self) -> Integers:
        """The number of the query of each of the caller's rows."""
        return in_callers_order(np.repeat(np.arange(len(self.query_ids)), np.diff(self.indptr)), self.rows)


def group_by_id(qid: Any, n_rows: int) -> Grouping:
    """Group rows by query id; rows of one query keep their order and need not be adjacent."""
    ids = id_array(qid, n_rows, "qid")
    if ids.dtype.kind == "f" and (np.abs(ids) >= LARGEST_FLOAT_ID).any():
        raise InputError("qid: expected integers or texts, got floats from 2^53 up, which are not exact")
    codes_first = _codes_of_objects(ids) if ids.dtype == object else _codes_of_values(ids)
    if codes_first is None:  # every query is one run of rows
        starts = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
        return Grouping(ids[starts], np.append(starts, n_rows).astype(np.int64), None)
    codes, first = codes_first
    sizes = np.bincount(codes, minlength=len(first))
    rows = np.argsort(codes, kind="stable")
    in_order = np.array_equal(rows, np.arange(n_rows))
    return Grouping(ids[first], offsets(sizes), None if in_order else rows.astype(np.int64))


def group_by_size(group: Any, n_rows: int) -> Grouping:
    """Group adjacent rows by the sizes of their queries (LightGBM's ``group``), numbered from 0."""
    sizes = np.asarray(unmasked(group, "group"))
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or (sizes < 1).any():
        raise InputError(f"group: expected a list of positive sizes, got {shown(group)}")
    if len(sizes) > n_rows or (sizes > n_rows).any():  # checked before summing, which might overflow
        largest = int(sizes.max(initial=0))
        raise InputError(f"group: expected sizes that add up to {n_rows} rows, got {len(sizes)} up to {largest}")
    sizes = sizes.astype(np.int64)
    if sizes.sum() != n_rows:
        raise InputError(f"group: expected sizes that add up to {n_rows} rows, got a sum of {sizes.sum()}")
    return Grouping(np.arange(len(sizes)), offsets(sizes), None)


def unmasked(values: Any, what: str) -> Any:
    """Return values without a mask; raise if some are masked, because NumPy would ignore the mask."""
    array = as_masked(values)
    if array is None:
        return values
    masked = np.ma.getmaskarray(array)
    if masked.any():
        place = int(np.argwhere(np.atleast_1d(masked))[0][0])
        raise InputError(f"{what}: expected no missing values, got a masked one in row {place}")
    return np.ma.getdata(array)


def as_masked(values: Any) -> Any:
    """Return a masked array, or a list with masked values, as a masked array; None for everything else."""
    nested = isinstance(values, list | tuple) and any(isinstance(one, np.ma.MaskedArray) for one in values)
    return np.ma.array(values) if nested or isinstance(values, np.ma.MaskedArray) else None


def offsets(sizes: NDArray[Any]) -> Integers:
    """Return indptr, the first row of every query and the end, from the sizes of the queries."""
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


def id_array(values: Any, n_rows: int, what: str, gaps: bool = False) -> NDArray[Any]:
    """Return ids of any type as a 1-D array, without missing values unless ``gaps``; Python strings stay objects."""
    values = unmasked(values, what)
    if not hasattr(values, "__array__") and not hasattr(values, "__iter__"):
        raise InputError(f"{what}: expected one id for each of {n_rows} rows, got {shown(values)}")
    array = np.asarray(values) if hasattr(values, "__array__") else _array_of_sequence(values)
    if array.ndim != 1 or len(array) != n_rows:
        raise InputError(f"{what}: expected one id for each of {n_rows} rows, got shape {array.shape}")
    if gaps:
        return array
    if array.dtype == object:
        missing = np.array([_is_missing(value) for value in array], bool)
    else:
        missing = array != array if array.dtype.kind in "fcmM" else np.zeros(n_rows, bool)
    if np.any(missing):
        raise InputError(f"{what}: expected an id in every row, got none in row {int(np.argmax(missing))}")
    return array


def _is_missing(value: Any) -> bool:
    """Tell whether an id is None, NaN, NaT or the NA of pandas, whose comparisons are neither true nor false."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True


def _array_of_sequence(values: Any) -> NDArray[Any]:
    """Make an array from a sequence without changing any id.

    NumPy would turn mixed types into texts, tuples into 2-D arrays and integers beyond 64 bits into floats, and strip
    trailing NULs from texts.
    """
    values = list(values)
    kinds = {type(value) for value in values}
    if kinds == {float} or (kinds == {int} and np.asarray(values).dtype.kind in "iu"):
        return np.asarray(values)
    return objects(values)


def objects(values: Collection[Any]) -> NDArray[Any]:
    """Return values as an array of objects, whatever NumPy would make of them."""
    array = np.empty(len(values), object)
    array[:] = list(values)
    return array


def _codes_of_values(ids: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    heads = ids[np.concatenate(([True], ids[1:] != ids[:-1]))]
    if len(np.unique(heads)) == len(heads):
        return None
    _, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    appearance = np.argsort(first)
    rank = np.empty(len(first), np.int64)
    rank[appearance] = np.arange(len(first))
    return rank[inverse], first[appearance]


def _codes_of_objects(ids: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    if set(map(type, ids)) == {str}:
        heads = ids[np.concatenate(([True], ids[1:] != ids[:-1]))]
        if len(set(heads)) == len(heads):
            return None
    code_of: dict[Any, int] = {}
    first: list[int] = []
    codes = np.empty(len(ids), np.int64)
    for row, value in enumerate(ids):
        try:
            code = code_of.setdefault(value, len(code_of))
        except TypeError as error:
            raise InputError(f"qid: expected hashable ids, got {shown(value)} in row {row}") from error
        if code == len(first):
            first.append(row)
        codes[row] = code
    return codes, np.array(first, np.int64)


def in_callers_order(values: NDArray[Any], rows: Integers | None) -> NDArray[Any]:
    """Return one value per stored row in the order of the caller's rows; ``rows`` are those of a Grouping."""
    if rows is None:
        return values
    restored = np.empty_like(values)
    restored[rows] = values
    return restored


def block_borders(indptr: Integers) -> Integers:
    """Return the numbers of the queries at which blocks begin, and the number of queries: cuts about every BLOCK_ROWS.

    They depend only on the sizes of the queries, so sums over blocks are bit-identical for any number of threads.
    """
    n_rows = int(indptr[-1])
    n_blocks = -(-n_rows // BLOCK_ROWS)
    if n_rows > SMALL_ROWS:
        n_blocks += n_blocks % 2  # an even number, so that two threads end together
    return np.unique(np.searchsorted(indptr, np.linspace(0, n_rows, n_blocks + 1)))


def adjacent_queries(indptr: Integers, n_rows: int) -> Iterator[tuple[int, int]]:
    """Yield (first, last) of adjacent queries, in order, that have about ``n_rows`` rows and at least one query."""
    first = 0
    while first < len(indptr) - 1:
        end = min(int(indptr[first]) + n_rows, int(indptr[-1]))
        last = max(first + 1, int(np.searchsorted(indptr, end, side="right")) - 1)
        yield first, last
        first = last
