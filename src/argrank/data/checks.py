"""Checks of the arguments of a Dataset; every message names the argument, what was expected and what was given."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._memory import check_memory
from argrank._types import Floats, Integers
from argrank.data.categories import is_date
from argrank.data.grouping import Grouping, as_masked, group_by_id, group_by_size, id_array, unmasked
from argrank.data.mapped import is_mapped, refuse_copy, size_of
from argrank.errors import InputError, InputTypeError, OptionError, is_text, shown, warn

LARGEST_LABEL = 1e100  # beyond this, squares and sums of labels overflow
TIMES = (np.datetime64, np.timedelta64)  # which NumPy would turn into days or nanoseconds
CHECK_ROWS = 1 << 14  # rows checked at a time, to bound memory


class Preferences(NamedTuple):
    """Pairs of rows of one query, ``better`` over ``worse``, each with a weight; for data without grades."""

    better: Integers
    worse: Integers
    weight: Floats


def as_array(values: Any, what: str, dtype: Any = None) -> NDArray[Any]:
    """Return anything as an array of numbers; raise for rows of different lengths, text, times and masked values."""
    try:
        array = np.asarray(unmasked(values, what))
        if array.dtype.kind in "mM" or (array.dtype == object and any(isinstance(one, TIMES) for one in array.flat)):
            raise InputError(f"{what}: expected numbers, got times; say in which unit, as with astype(float)")
        if array.dtype.kind == "c" and dtype is not None:
            raise InputError(f"{what}: expected real numbers, got complex data")
        return array if dtype is None else array.astype(dtype)
    except InputError:
        raise
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{what}: expected an array of numbers: {error}") from error


def features(X: Any, finite: bool = True) -> Any:
    """Return features as a float32/float64 C-contiguous array or canonical CSR, without infinite values.

    ``finite=False`` skips that check for dense features that are checked elsewhere.
    """
    if sparse.issparse(X):
        return _sparse_features(X)
    if hasattr(X, "__len__") or hasattr(X, "__array__"):
        array = as_array(_filled(X), "X")
    else:
        raise InputError(f"X: expected an array, a sparse matrix or a data frame, got {type(X).__name__}")
    _refuse_complex(array)
    if array.dtype not in (np.float32, np.float64):
        _ask_for(8.0 * array.size)
        try:
            array = array.astype(np.float64)
        except TypeError as error:
            raise InputTypeError(f"X: expected numbers: {error}") from error
        except (ValueError, OverflowError) as error:
            raise InputError(f"X: expected numbers, got {error}") from error
    if array.ndim != 2:
        raise InputError(
            f"X: expected 2 dimensions (rows, features), got {array.ndim}. Reshape your data: X.reshape(-1, 1) "
            "for a single feature or X.reshape(1, -1) for a single row"
        )
    if not array.flags.c_contiguous:
        _ask_for(array.nbytes)
        array = np.ascontiguousarray(array)
    if finite:
        _refuse_infinite(array, lambda place: (place[0], place[1]))
    return array


def _filled(X: Any) -> Any:
    """Return a masked array as numbers, NaN where it is masked."""
    masked = as_masked(X)
    if masked is None or masked.dtype.kind not in "fiub":
        return X
    return masked.astype(masked.dtype if masked.dtype in (np.float32, np.float64) else np.float64).filled(np.nan)


def _ask_for(n_bytes: float) -> None:
    check_memory("X", n_bytes, "pack the data, which is read from the disk (ar.pack), or take a part of it")


def _sparse_features(X: Any) -> Any:
    matrix = _csr(X)
    _refuse_complex(matrix)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    _refuse_infinite(matrix.data, lambda place: (_csr_row(matrix, place[0]), int(matrix.indices[place[0]])))
    return matrix


def _refuse_complex(X: Any) -> None:
    if X.dtype.kind == "c":
        raise InputError("X: expected real numbers, got complex data: Complex data not supported")


def _csr(X: Any) -> Any:
    """Return a sparse matrix as CSR with indices checked to be in range: compiled code does not check them."""
    try:
        if X.ndim != 2:
            raise ValueError(f"{X.ndim} dimensions")
        if X.format in ("csr", "csc", "bsr"):
            X.check_format(full_check=True)
        elif X.format == "coo" and X.nnz:
            for place, length in zip(X.coords, X.shape, strict=True):
                if len(place) != len(X.data) or place.min() < 0 or place.max() >= length:
                    raise ValueError(f"row or column numbers outside of {X.shape}")
        matrix = sparse.csr_matrix(X)
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, IndexError, AttributeError, OverflowError) as error:
        raise InputError(f"X: expected a valid sparse matrix, got one that is not: {error}") from error
    # do not trust the caller's flags: check again whether indices are sorted and unique
    return sparse.csr_matrix((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)


def owned(X: Any) -> Any:
    """Return checked features that the caller cannot change: a copy unless they are read-only or mapped."""
    if is_mapped(X) or not (X.data if sparse.issparse(X) else X).flags.writeable:
        return X
    _ask_for(size_of(X))
    return X.copy()


def _csr_row(matrix: Any, position: int) -> int:
    return int(np.searchsorted(matrix.indptr, position, side="right") - 1)


def _refuse_infinite(values: NDArray[Any], locate: Any) -> None:
    for start in range(0, len(values), CHECK_ROWS):
        block = values[start : start + CHECK_ROWS]
        with np.errstate(invalid="ignore", over="ignore"):
            total = block.sum()
        if np.isfinite(total):  # the usual case, without a temporary
            continue
        infinite = np.isinf(block)
        if infinite.any():
            found = np.argwhere(infinite)
            row, column = locate((int(found[0][0]) + start, *map(int, found[0][1:])))
            raise InputError(
                f"X: expected finite numbers or NaN for missing, got infinity in row {row}, column {column}"
            )


def has_missing(X: Any) -> bool:
    """Tell whether a feature matrix contains NaN."""
    values = X.data if sparse.issparse(X) else X
    return any(bool(np.isnan(values[i : i + CHECK_ROWS]).any()) for i in range(0, len(values), CHECK_ROWS))


def labels(y: Any, n_rows: int) -> Floats:
    """Return labels as float64: any real number from 0 up, one per row."""
    array = numbers(y, n_rows, "y", "label")
    if (array < 0).any():
        row = int(np.argmax(array < 0))
        raise InputError(f"y: expected labels >= 0, got {array[row]:g} in row {row}")
    if (array > LARGEST_LABEL).any():
        row = int(np.argmax(array))
        raise InputError(f"y: expected labels up to {LARGEST_LABEL:g}, got {array[row]:g} in row {row}")
    return array


def numbers(values: Any, n: int, what: str, one: str, each: str = "row") -> Floats:
    """Return one finite number for each row (or query) as float64."""
    array = as_array(values, what)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or len(array) != n:
        raise InputError(f"{what}: expected one {one} for each of {n} {each}s, got shape {array.shape}")
    if array.dtype.kind == "c":
        raise InputError(f"{what}: expected real numbers, got complex data")
    try:
        array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what}: expected numbers, got {error}") from error
    if not np.isfinite(array).all():
        place = int(np.argmin(np.isfinite(array)))
        raise InputError(f"{what}: expected finite numbers, got {array[place]} (NaN or infinity) in {each} {place}")
    return array


def weights(values: Any, n: int, what: str, each: str) -> Floats:
    """Return weights, one for each row (or query): not negative, not all zero."""
    array = numbers(values, n, what, "weight", each)
    with np.errstate(over="ignore"):
        if array.sum() == np.inf:
            raise InputError(f"{what}: expected weights with a finite sum, got a maximum of {array.max():g}")
    if (array < 0).any() or not array.any():
        got = f"a minimum of {array.min():g}" if array.any() else "a zero weight everywhere"
        raise InputError(f"{what}: expected weights >= 0, not all zero, got {got}")
    return array


def preferences(pairs: Any, indptr: Integers) -> Preferences:
    """Return preferences from (pairs,) of shape (m, 2), or (m, 3) with weights; both rows in one query."""
    array = as_array(pairs, "preferences", np.float64)
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


def queries_of(qid: Any, group: Any, n_rows: int) -> Grouping:
    """Group the rows by query id or by sizes; without either all rows are one query."""
    if qid is not None and group is not None:
        raise InputError("expected qid or group, got both")
    single = Grouping(np.zeros(1, np.int64), np.array([0, n_rows]), None)
    if isinstance(qid, str):
        if qid != "single":
            raise InputError(f"qid: expected one id for each of {n_rows} rows, or 'single', got {shown(qid)}")
        return single
    if qid is not None:
        return group_by_id(qid, n_rows)
    if group is not None:
        return group_by_size(group, n_rows)
    if n_rows > 1:
        warn("no qid and no group given: all rows are taken as one query")
    return single


def numbers_of(given: Any, n: int, what: str, one: str, many: str) -> Integers:
    """Return indices into n things, given as indices, which may count from the end, or as a mask."""
    chosen = as_array(given, what)
    if chosen.dtype == bool:
        if chosen.shape != (n,):
            raise InputError(f"{what}: expected a mask of {n} {many}, got {chosen.size}")
        chosen = np.flatnonzero(chosen)
    if chosen.ndim != 1 or len(chosen) == 0 or chosen.dtype.kind not in "iu":
        raise InputError(f"{what}: expected the numbers of at least one {one}, got {shown(given)}")
    if chosen.min() < -n or chosen.max() >= n:
        raise InputError(f"{what}: expected {one} numbers below {n}, got {int(np.abs(chosen).max())}")
    return chosen.astype(np.int64) % n


def row_count(values: Any, what: str) -> int:
    """Return the number of rows of anything that has rows."""
    if sparse.issparse(values) or (isinstance(values, np.ndarray) and values.ndim):
        return int(values.shape[0])
    if not hasattr(values, "__len__") or isinstance(values, str | bytes | type | np.ndarray):
        raise InputTypeError(f"{what}: expected an array, got {shown(values)}")
    return len(values)


def float_type(dtype: Any) -> np.dtype[Any]:
    """Return the dtype of features, float32 or float64."""
    with contextlib.suppress(TypeError, ValueError):
        found: np.dtype[Any] = np.dtype(dtype)
        if found in (np.float32, np.float64):
            return found
    raise OptionError(f"dtype: expected float32 or float64, got {shown(dtype)}")


def per_query(values: Any, queries: Grouping, what: str) -> Any:
    """Take one value per query, or one per row that is constant within each query."""
    if values is None:
        return None
    n_queries, n_rows = len(queries.query_ids), int(queries.indptr[-1])
    if not hasattr(values, "__len__") or (isinstance(values, np.ndarray) and not values.ndim):
        raise InputError(f"{what}: expected one value for each of {n_queries} queries, got {shown(values)}")
    if len(values) == n_queries:
        return id_array(values, n_queries, what)
    if len(values) != n_rows:
        raise InputError(f"{what}: expected one value for each of {n_queries} queries, got {len(values)}")
    by_row = id_array(values, n_rows, what)
    if queries.rows is not None:
        by_row = by_row[queries.rows]
    heads = by_row[queries.indptr[:-1]]
    differs = by_row != np.repeat(heads, np.diff(queries.indptr))
    if differs.any():
        query = int(np.searchsorted(queries.indptr, np.argmax(differs), side="right") - 1)
        name = queries.query_ids.tolist()[query]
        raise InputError(f"{what}: expected one value in a query, got several in query {name!r}")
    return heads


def names_of(names: Any, n_features: int) -> tuple[str, ...] | None:
    """Return a different name for every feature."""
    if names is None:
        return None
    if isinstance(names, str) or not hasattr(names, "__iter__"):
        raise InputError(f"feature_names: expected a list of names, got {shown(names)}")
    texts = tuple(str(name) for name in names)
    for text in texts:
        if not is_text(text):
            raise InputError(f"feature_names: expected names that UTF-8 text can hold, got {shown(text)}")
    if len(texts) != n_features:
        raise InputError(f"feature_names: expected {n_features} names, got {len(texts)}")
    if len(set(texts)) != n_features:
        twice = next(name for name in texts if texts.count(name) > 1)
        raise InputError(f"feature_names: expected different names, got {twice!r} twice")
    return texts


def categories(given: Any, X: Any, names: tuple[str, ...] | None) -> dict[str, tuple[str, ...]] | None:
    """Return the texts of categorical features, by name; X holds indices into them."""
    if not given:
        return None
    if names is None or sparse.issparse(X):
        raise InputError("categories: expected a dense X with feature_names, which they belong to")
    found = {str(name): tuple(map(str, texts)) for name, texts in given.items()}
    for name, texts in found.items():
        if name not in names:
            raise InputError(f"categories: expected names of features, got {name!r}")
        codes = X[:, names.index(name)]
        codes = codes[~np.isnan(codes)]
        if len(codes) and (codes.min() < 0 or codes.max() >= len(texts) or (codes != np.floor(codes)).any()):
            raise InputError(f"X: expected the places of {len(texts)} texts in column {name!r}, got {codes.max():g}")
    return found


def dates(given: Any, names: tuple[str, ...] | None) -> dict[str, str] | None:
    """Return the reference dates of features that are dates, by name."""
    if not given:
        return None
    if not isinstance(given, Mapping):
        raise InputError(f"dates: expected columns of a data frame, or a dict of reference dates, got {shown(given)}")
    for name, newest in given.items():
        if name not in (names or ()) or not is_date(newest):
            raise InputError(f"dates: expected a date such as 2025-12-31 for a feature, got {name!r}: {shown(newest)}")
    return dict(given)


def preferences_of(pairs: Any, queries: Grouping) -> Preferences | None:
    """Convert preferences from the caller's row numbers to stored row numbers."""
    if pairs is None:
        return None
    if queries.rows is None:
        return preferences(pairs, queries.indptr)
    pairs = as_array(pairs, "preferences", np.float64).copy()
    stored = np.empty(len(queries.rows), np.int64)
    stored[queries.rows] = np.arange(len(queries.rows))
    if pairs.ndim == 2 and pairs.shape[1] >= 2 and (pairs[:, :2] >= 0).all() and (pairs[:, :2] < len(stored)).all():
        pairs[:, :2] = stored[pairs[:, :2].astype(np.int64)]
    return preferences(pairs, queries.indptr)


def fields(
    X: Any,
    *,
    y: Any,
    qid: Any,
    group: Any,
    feature_names: Any,
    sample_weight: Any,
    gains: Any,
    examinations: Any,
    query_weight: Any,
    query_texts: Any,
    preferences: Any,
    **more: Any,
) -> dict[str, Any]:
    """Return the fields of a Dataset, checked and grouped by query; ``more``: categories, and ids or texts of rows."""
    X = features(X)
    n_rows = X.shape[0]
    if n_rows == 0:
        raise InputError(f"X: expected at least one row, got an array of shape {X.shape} (0 sample(s))")
    if X.shape[1] == 0:
        raise InputError(f"X: got 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    queries = queries_of(qid, group, n_rows)
    by_row: dict[str, Any] = {"y": np.full(n_rows, np.nan) if y is None else labels(y, n_rows)}
    for name in ("document_ids", "comments", "sources", "titles"):
        gaps = name in ("comments", "titles")  # a row without a comment has None
        by_row[name] = None if more[name] is None else id_array(more[name], n_rows, name, gaps).copy()
    by_row["sample_weight"] = None if sample_weight is None else weights(sample_weight, n_rows, "sample_weight", "row")
    if gains is not None and y is not None:
        raise InputError("gains: expected labels (y) or row gains, got both")
    by_row["gains"] = None if gains is None else numbers(gains, n_rows, "gains", "gain")
    by_row["examinations"] = None if examinations is None else weights(examinations, n_rows, "examinations", "row")
    if queries.rows is None:
        X = owned(X)
    else:
        refuse_copy(X, "X: the rows of a query are not adjacent, and sorting them", "write them with ar.pack")
        X = X[queries.rows]
        by_row = {name: None if values is None else values[queries.rows] for name, values in by_row.items()}
    weight, names = per_query(query_weight, queries, "query_weight"), names_of(feature_names, X.shape[1])
    if weight is not None:
        weight = weights(weight, len(queries.query_ids), "query_weight", "query")
    return {
        **queries._asdict(),
        **by_row,
        "X": X,
        "query_weight": weight,
        "query_texts": per_query(query_texts, queries, "query_texts"),
        "feature_names": names,
        "categories": categories(more["categories"], X, names),
        "preferences": preferences_of(preferences, queries),
    }
