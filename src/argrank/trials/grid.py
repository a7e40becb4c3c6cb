"""Grids of parameters: how they are written, scaled to the data, and which of two equal points is the safer one."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from argrank.data.dataset import Dataset
from argrank.errors import OptionError, shown, unknown_name

Params = dict[str, Any]
#: Parameter -> values (their product), or a list of such grids. See ``points_of``.
Grid = Mapping[str, Any] | Sequence[Mapping[str, Any]]

#: Parameters that regularise: +1 where a larger value regularises more, -1 where a smaller one does.
REGULARISES = {"C": -1, "ridge": +1}

SCALES = ("documents", "pairs", "queries")


def points_of(grid: Grid, train: Dataset) -> list[Params]:
    """Return every point of a grid, in its order.

    A grid is a dict of parameter -> list of values, of which every combination is a point, or a list of such dicts.
    A value that is no list stands for itself. ``{"values": [0.5, 5], "divide_by": "pairs"}`` divides the values by
    the number of pairs of documents with different labels in the training data ("queries", "documents" likewise), so
    that one grid suits parts of different size.
    """
    parts = [grid] if isinstance(grid, Mapping) else list(grid)
    points: list[Params] = []
    for part in parts:
        if not isinstance(part, Mapping):
            raise OptionError(f"grid: expected a dict of parameter -> values or a list of them, got {shown(part)}")
        lists = [_values(name, values, train) for name, values in part.items()]
        points += [dict(zip(part, point, strict=True)) for point in itertools.product(*lists)]
    if not points:
        raise OptionError(f"grid: expected at least one point, got {shown(grid)}")
    return points


def _values(name: str, values: Any, train: Dataset) -> list[Any]:
    if isinstance(values, Mapping):
        if set(values) != {"values", "divide_by"}:
            raise OptionError(f'grid: {name}: expected {{"values": […], "divide_by": …}}, got {shown(dict(values))}')
        size = size_of(train, values["divide_by"])
        return [value / size for value in _numbers(name, values["values"])]
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if not isinstance(values, list | tuple | range):
        return [values]
    if not values:
        raise OptionError(f"grid: {name}: expected at least one value, got none")
    return list(values)


def _numbers(name: str, values: Any) -> list[float]:
    numbers = list(values) if isinstance(values, list | tuple | np.ndarray) else []
    if not numbers or not all(is_number(value) for value in numbers):
        raise OptionError(f"grid: {name}: expected numbers to divide, got {shown(values)}")
    return numbers


def size_of(data: Dataset, unit: str) -> int:
    """Return the number of queries, documents, or pairs of documents of a query with different labels (at least 1)."""
    if unit == "queries":
        return data.n_queries
    if unit == "documents":
        return data.n_documents
    if unit != "pairs":
        raise unknown_name("scale of a grid", unit, SCALES)
    return max(1, n_pairs(data))


def n_pairs(data: Dataset) -> int:
    """Return how many pairs of documents of one query have different labels; given preferences count instead."""
    if data.preferences is not None and not data.is_judged:
        return len(data.preferences.better)
    query = data.query_of_row
    order = np.lexsort((data.y, query))
    query, labels = query[order], data.y[order]
    borders = np.flatnonzero((np.diff(query) != 0) | (np.diff(labels) != 0)) + 1
    equal = np.diff(np.concatenate(([0], borders, [len(labels)])))
    sizes = data.sizes
    return int(((sizes * sizes).sum() - (equal * equal).sum()) // 2)


def is_number(value: Any) -> bool:
    """Return whether a value is a number that can be ordered; True and False are not."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def weakness(point: Params) -> tuple[float, ...]:
    """Return a key that is smaller for more regularised points."""
    values = {name: point.get(name, 0) for name in REGULARISES}
    return tuple(-REGULARISES[name] * float(value) if is_number(value) else 0.0 for name, value in values.items())


def borders(chosen: Params, points: Sequence[Params]) -> dict[str, str]:
    """Return the parameters whose chosen value is an end of at least three numbers tried: name -> "below" or "above".

    An end at 0 is no border: there is nothing beyond it.
    """
    found = {}
    for name, value in chosen.items():
        tried = sorted({point[name] for point in points if name in point and is_number(point[name])})
        if not is_number(value) or len(tried) < 3 or value not in (tried[0], tried[-1]) or value == 0:
            continue
        found[name] = "below" if value == tried[0] else "above"
    return found
