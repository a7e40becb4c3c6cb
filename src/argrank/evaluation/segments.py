"""Measures on segments of queries (head and tail, country, device)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._tables import measure_text
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.data.grouping import objects
from argrank.data.io.trec.forms import table_columns
from argrank.errors import InputError, shown
from argrank.evaluation.defaults import LEVEL
from argrank.evaluation.intervals import TOO_FEW, mean_interval

MOST = 100  # segments; with more of them, `by` is probably a continuous number
QUERY, SEGMENT = "qid", "segment"


class Segment(NamedTuple):
    """A measure on the queries of one segment: its mean with an interval, over ``n_queries`` with a value."""

    segment: str
    measure: str
    n_queries: int
    mean: float
    low: float
    high: float


def segments_of(by: Any, data: Dataset) -> NDArray[Any]:
    """Return the segment of every query, as text.

    ``by`` is a mapping from query id, an array with one entry for each query, or the name of a feature that has one
    value in each query. A mapping must contain every query; ids are also matched by their texts.
    """
    if isinstance(by, str):
        found = _of_feature(by, data)
    elif isinstance(by, Mapping):
        return segments_by_id(by, data.query_ids)
    else:
        array = np.asarray(by, object)
        if array.ndim != 1:
            raise InputError(f"by: expected a segment for each query, a mapping or a feature's name, got {shown(by)}")
        found = array.tolist()
        if len(found) != data.n_queries:
            raise InputError(f"by: expected a segment for each of {data.n_queries} queries, got {len(found)}")
    return _names(found)


def segments_by_id(by: Mapping[Any, Any], query_ids: NDArray[Any]) -> NDArray[Any]:
    """Return the segment of every query id, as text, from a mapping that contains all of them."""
    by_text = {str(qid): one for qid, one in by.items()}
    found = []
    for qid in query_ids.tolist():
        if str(qid) not in by_text:
            raise InputError(f"by: expected a segment for every query, got none for query {shown(qid)}")
        found.append(by_text[str(qid)])
    return _names(found)


def _names(found: list[Any]) -> NDArray[Any]:
    names = objects([_text(one) for one in found])
    n_segments = len(set(names.tolist()))
    if n_segments > MOST:
        raise InputError(f"by: expected at most {MOST} segments, got {n_segments}, such as {shown(names[0])}")
    return names


def read_segments(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read a table (.csv, .tsv, .parquet, .arrow) with the columns qid and segment."""
    columns = table_columns(path)
    for name in (QUERY, SEGMENT):
        if name not in columns:
            got = ", ".join(map(str, columns))
            raise InputError(f"{os.fspath(path)}: expected columns {QUERY} and {SEGMENT}, got {got}")
    return {str(qid): _text(one) for qid, one in zip(columns[QUERY], columns[SEGMENT], strict=True)}


def groups(names: NDArray[Any]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield every segment in the order of its name (numbers as numbers) with the mask of its queries."""
    for name in sorted(set(names.tolist()), key=_by_number):
        yield name, names == name


def mean_with_interval(
    values: Floats, bounds: tuple[float, float], weight: Floats | None = None, level: float = LEVEL
) -> tuple[int, float, float, float]:
    """Return the number of queries with a value, their (weighted) mean and its interval within ``bounds``."""
    known = ~np.isnan(values)
    n = int(known.sum())
    if n == 0 or (weight is not None and not weight[known].any()):
        return n, np.nan, np.nan, np.nan
    mean = float(np.average(values[known], weights=None if weight is None else weight[known]))
    return n, mean, *mean_interval(values, bounds, weight=weight, level=level)


def interval_text(mean: float, low: float, high: float) -> str:
    """Return a mean with its interval as text, or that there are too few queries for one."""
    if np.isnan(mean):
        return measure_text(mean)
    known = TOO_FEW if np.isnan(low) else f"{measure_text(low)}, {measure_text(high)}"
    return f"{measure_text(mean)} [{known}]"


def _of_feature(name: str, data: Dataset) -> list[Any]:
    names = data.feature_names or ()
    if name not in names:
        raise InputError(
            f"by: expected a mapping from query id, one entry for each query or the name of a feature, got {name!r}; "
            f"features: {shown(', '.join(names) or 'without names', 120)}"
        )
    column = data.X[:, [names.index(name)]]
    values = np.asarray(column.toarray() if data.is_sparse else column)[:, 0]
    first = values[data.indptr[:-1]]
    spread = np.repeat(first, data.sizes)
    differs = (values != spread) & ~(np.isnan(values) & np.isnan(spread))
    if differs.any():
        qid = data.query_ids[data.query_of_row[int(np.argmax(differs))]]
        raise InputError(f"by: expected one value of {name!r} in each query, got several in query {shown(qid)}")
    found: list[Any] = first.tolist()
    return found


def _text(value: Any) -> str:
    if value is None or value != value:
        return "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _by_number(name: str) -> tuple[int, float, str]:
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name
