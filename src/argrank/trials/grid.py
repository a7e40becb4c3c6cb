"""Grids of parameters, and which of two equally good points is more regularised."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from argrank.errors import OptionError, is_finite, shown

Params = dict[str, Any]
#: Parameter -> values (their product), or a list of such grids. See ``points_of``.
Grid = Mapping[str, Any] | Sequence[Mapping[str, Any]]

#: Parameters that regularise: +1 where a larger value regularises more, -1 where a smaller one does.
REGULARISES = {"C": -1, "ridge": +1}


class OpenGrid(dict[str, Any]):
    """A grid that is extended if the best value is at an end, like the default grids.

    Only the strength of the regulariser is extended: further values of other parameters may be expensive or invalid.
    """


def points_of(grid: Grid) -> list[Params]:
    """Return every point of a grid, in its order.

    A grid is a dict of parameter -> list of values, of which every combination is a point, or a list of such dicts.
    A value that is not a list counts as a list of one.
    """
    if not isinstance(grid, Mapping | list | tuple):
        raise OptionError(f"grid: expected a dict of parameter -> values or a list of them, got {shown(grid)}")
    parts = [grid] if isinstance(grid, Mapping) else list(grid)
    points: list[Params] = []
    for part in parts:
        if not isinstance(part, Mapping):
            raise OptionError(f"grid: expected a dict of parameter -> values or a list of them, got {shown(part)}")
        lists = [_values(name, values) for name, values in part.items()]
        points += [dict(zip(part, point, strict=True)) for point in itertools.product(*lists)]
    if not points:
        raise OptionError(f"grid: expected at least one point, got {shown(grid)}")
    return points


def _values(name: str, values: Any) -> list[Any]:
    if isinstance(values, Mapping):
        raise OptionError(f"grid: {name}: expected a list of values, got {shown(dict(values))}")
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if not isinstance(values, list | tuple | range):
        return [values]
    if not values:
        raise OptionError(f"grid: {name}: expected at least one value, got none")
    return list(values)


def is_number(value: Any) -> bool:
    """Return whether a value is a number that can be ordered; True, False and what no float can hold are not."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    return is_finite(value) or isinstance(value, float | np.floating)


def weakness(point: Params) -> tuple[float, ...]:
    """Return a key that is smaller for more regularised points."""
    values = {name: point.get(name, 0) for name in REGULARISES}
    return tuple(-REGULARISES[name] * float(value) if is_number(value) else 0.0 for name, value in values.items())


def borders(chosen: Params, points: Sequence[Params]) -> dict[str, str]:
    """Return the parameters whose chosen value is an end of at least three numbers tried: name -> "below" or "above".

    An end at 0 is not a border: there is nothing beyond it.
    """
    found = {}
    for name, value in chosen.items():
        tried = sorted({point[name] for point in points if name in point and is_number(point[name])})
        if not is_number(value) or len(tried) < 3 or value not in (tried[0], tried[-1]) or value == 0:
            continue
        found[name] = "below" if value == tried[0] else "above"
    return found


def beyond(chosen: Params, points: Sequence[Params]) -> list[Params]:
    """Return further points of an open grid if the chosen one is at an end, with the same step.

    >>> beyond({"C": 100.0}, [{"C": 1.0}, {"C": 10.0}, {"C": 100.0}])
    [{'C': 1000.0}]
    """
    further = []
    for name in borders(chosen, points):
        if name in REGULARISES:
            tried = {point[name] for point in points if name in point and is_number(point[name])}
            neighbour = min(tried - {chosen[name]}, key=lambda value: abs(value - chosen[name]))
            if neighbour:
                further.append({**chosen, name: chosen[name] * (chosen[name] / neighbour)})
    return further
