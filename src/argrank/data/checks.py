"""Checks of what goes into a Dataset; every message says which argument, what was expected and what came."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._types import Floats, Integers
from argrank.errors import InputError, InputTypeError, shown

CHECK_ROWS = 1 << 14  # rows looked at together, so that a check needs little memory


class Preferences(NamedTuple):
    """Pairs of rows of one query, ``better`` over ``worse``, each with a weight; for data without grades."""

    better: Integers
    worse: Integers
    weight: Floats


def features(X: Any) -> Any:
    """Return features as a float32/float64 C-contiguous array or canonical CSR, without infinite values."""
    if sparse.issparse(X):
        matrix = sparse.csr_matrix(X) if X.format != "csr" else X
        if matrix.dtype not in (np.float32, np.float64):
            matrix = matrix.astype(np.float64)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        _refuse_infinite(matrix.data, lambda place: (_csr_row(matrix, place[0]), int(matrix.indices[place[0]])))
        return matrix
    if hasattr(X, "__len__") or hasattr(X, "__array__"):
        array = np.asarray(X)
    else:
        raise InputError(f"X: expected an array, a sparse matrix or a data frame, got {type(X).__name__}")
    if array.dtype.kind == "c":
        raise InputError("X: expected real numbers, got complex data: Complex data not supported")
    if array.dtype not in (np.float32, np.float64):
        try:
            array = array.astype(np.float64)
        except TypeError as error:
            raise InputTypeError(f"X: expected numbers: {error}") from error
        except ValueError as error:
            raise InputError(f"X: expected numbers, got {error}") from error
    if array.ndim != 2:
        raise InputError(
            f"X: expected 2 dimensions (rows, features), got {array.ndim}. Reshape your data: X.reshape(-1, 1) "
            "for a single feature or X.reshape(1, -1) for a single row"
        )
    array = np.ascontiguousarray(array)
    _refuse_infinite(array, lambda place: (place[0], place[1]))
    return array


def _csr_row(matrix: Any, position: int) -> int:
    return int(np.searchsorted(matrix.indptr, position, side="right") - 1)


def _refuse_infinite(values: NDArray[Any], locate: Any) -> None:
    for start in range(0, len(values), CHECK_ROWS):
        block = values[start : start + CHECK_ROWS]
        with np.errstate(invalid="ignore", over="ignore"):
            total = block.sum()
        if np.isfinite(total):  # the usual case, without a temporary
            continue
        found = np.argwhere(np.isinf(block))
        if len(found):
            row, column = locate((int(found[0][0]) + start, *map(int, found[0][1:])))
            raise InputError(
                f"X: expected finite numbers or NaN for missing, got infinity in row {row}, column {column}"
            )


def has_missing(X: Any) -> bool:
    """Tell whether a feature matrix contains NaN."""
    values = X.data if sparse.issparse(X) else X
    return any(bool(np.isnan(values[i : i + CHECK_ROWS]).any()) for i in range(0, len(values), CHECK_ROWS))


def labels(y: Any, n_rows: int) -> Floats:
    """Return labels as float64: any real number from 0 up, one a row."""
    array = numbers(y, n_rows, "y", "label")
    if (array < 0).any():
        row = int(np.argmax(array < 0))
        raise InputError(f"y: expected labels >= 0, got {array[row]:g} in row {row}")
    return array


def numbers(values: Any, n: int, what: str, one: str, each: str = "row") -> Floats:
    """Return one finite number for each row (or query) as float64."""
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or len(array) != n:
        raise InputError(f"{what}: expected one {one} for each of {n} {each}s, got shape {array.shape}")
    if array.dtype.kind == "c":
        raise InputError(f"{what}: expected real numbers, got complex data")
    try:
        array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what}: expected numbers, got {error}") from error
    if not np.isfinite(array).all():
        place = int(np.argmin(np.isfinite(array)))
        raise InputError(f"{what}: expected finite numbers, got {array[place]} (NaN or infinity) in {each} {place}")
    return array


def weights(values: Any, n: int, what: str, each: str) -> Floats:
    """Return weights, one for each row (or query): not negative, not all zero."""
    array = numbers(values, n, what, "weight", each)
    if (array < 0).any() or not array.any():
        got = f"a minimum of {array.min():g}" if array.any() else "a zero weight everywhere"
        raise InputError(f"{what}: expected weights >= 0, not all zero, got {got}")
    return array


def preferences(pairs: Any, indptr: Integers) -> Preferences:
    """Return preferences from (pairs,) of shape (m, 2), or (m, 3) with weights; both rows in one query."""
    array = np.asarray(pairs, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise InputError(f"preferences: expected rows (better, worse) or (better, worse, weight), got {shown(pairs)}")
    rows = array[:, :2].astype(np.int64)
    if (rows != array[:, :2]).any() or (rows < 0).any() or (rows >= indptr[-1]).any():
        raise InputError(f"preferences: expected row numbers from 0 to {indptr[-1] - 1}")
    better, worse = np.ascontiguousarray(rows[:, 0]), np.ascontiguousarray(rows[:, 1])
    query = np.searchsorted(indptr, rows, side="right")
    wrong = (query[:, 0] != query[:, 1]) | (better == worse)
    if wrong.any():
        pair = rows[int(np.argmax(wrong))]
        raise InputError(f"preferences: expected two different rows of one query, got {pair[0]} and {pair[1]}")
    weight = weights(array[:, 2], len(array), "preferences", "pair") if array.shape[1] == 3 else np.ones(len(array))
    return Preferences(better, worse, weight)
