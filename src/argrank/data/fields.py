"""The arguments of a Dataset, one function each: checked and brought into the stored order."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from argrank.data import checks
from argrank.data.checks import Preferences
from argrank.data.grouping import Grouping, group_by_id, group_by_size, id_array
from argrank.errors import ArgrankWarning, InputError


def queries_of(qid: Any, group: Any, n_rows: int) -> Grouping:
    """Group the rows by query id or by sizes; without either all rows are one query."""
    if qid is not None and group is not None:
        raise InputError("expected qid or group, got both")
    if qid is not None:
        return group_by_id(qid, n_rows)
    if group is not None:
        return group_by_size(group, n_rows)
    if n_rows > 1:
        warnings.warn("no qid and no group given: all rows are taken as one query", ArgrankWarning, stacklevel=3)
    return Grouping(np.zeros(1, np.int64), np.array([0, n_rows]), None)


def per_query(values: Any, queries: Grouping, what: str) -> Any:
    """Take one value per query, or one per row that is constant within each query."""
    if values is None:
        return None
    n_queries, n_rows = len(queries.query_ids), int(queries.indptr[-1])
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
    texts = tuple(str(name) for name in names)
    if len(texts) != n_features:
        raise InputError(f"feature_names: expected {n_features} names, got {len(texts)}")
    if len(set(texts)) != n_features:
        twice = next(name for name in texts if texts.count(name) > 1)
        raise InputError(f"feature_names: expected different names, got {twice!r} twice")
    return texts


def preferences_of(pairs: Any, queries: Grouping) -> Preferences | None:
    """Return pairs of rows, numbered by the caller, as pairs of stored rows."""
    if pairs is None:
        return None
    if queries.rows is None:
        return checks.preferences(pairs, queries.indptr)
    pairs = np.array(pairs, dtype=np.float64)
    stored = np.empty(len(queries.rows), np.int64)
    stored[queries.rows] = np.arange(len(queries.rows))
    if pairs.ndim == 2 and pairs.shape[1] >= 2 and (pairs[:, :2] >= 0).all() and (pairs[:, :2] < len(stored)).all():
        pairs[:, :2] = stored[pairs[:, :2].astype(np.int64)]
    return checks.preferences(pairs, queries.indptr)
