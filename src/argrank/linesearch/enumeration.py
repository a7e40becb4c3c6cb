"""Any measure along a line, by evaluating the whole ranking between all crossings. Slow and simple.

Used for measures without a kernel, and to test the kernels. Also used for a user's function; if it is compiled,
``follow`` goes through the crossings and calls it whenever the ranked labels change.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._jit import kernel, own_type, read_only
from argrank._types import Floats, Integers
from argrank.errors import InputError
from argrank.linesearch.step_function import last_of_point
from argrank.measures.conventions import Convention
from argrank.measures.function import FunctionMeasure, errors_of
from argrank.measures.measure import Measure
from argrank.measures.rankings import Rankings
from argrank.measures.ties import TieGroups, find_ties

CELLS = 1 << 20  # documents of the rankings evaluated at a time


class QueryLines(NamedTuple):
    """The documents of one query as lines: score, slope, label; and all its judged labels, if there are more."""

    scores: Floats
    slopes: Floats
    labels: Floats
    judged: Floats | None = None


def enumerate_query(
    lines: QueryLines, measure: Measure, rules: Convention, low: float, high: float
) -> tuple[float, Floats, Floats]:
    """Return the value just above ``low`` and the times and changes of all changes below ``high``."""
    scores, slopes, labels, judged = lines
    one, two = np.triu_indices(len(scores), 1)
    steeper = slopes[two] - slopes[one]
    ahead = scores[one] - scores[two]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        times = np.where(steeper != 0, ahead / steeper, np.nan)
    parallel = steeper == 0
    crossed = times <= low
    # At the left end the smaller slope is above, or, of parallels, the greater score, or the earlier row.
    two_above = np.where(parallel, ahead < 0, (steeper < 0) != crossed)
    place = np.zeros(len(scores), np.int64)
    np.add.at(place, np.where(two_above, one, two), 1)

    events = np.flatnonzero((times > low) & (times < high))
    events = events[np.argsort(times[events], kind="stable")]
    points = last_of_point(times[events])
    change = np.where(steeper[events] > 0, 1, -1)
    if isinstance(measure, FunctionMeasure) and measure.of_labels and measure.compiled is not None:
        last = np.zeros(len(events), np.bool_)
        last[points] = True
        crossing = Crossings(one[events], two[events], change, last)
        steps, at = _follow(measure, measure.worths(labels, rules), place, crossing)
        return float(steps[0]), times[events[at]], np.diff(steps)
    _, line = np.unique(np.stack([scores, slopes], 1), axis=0, return_inverse=True)
    values = [_measure(place[None, :], labels, judged, line.reshape(-1), measure, rules)]
    rows = max(1, CELLS // len(scores))
    for first in range(0, len(points), rows):
        some = points[first : first + rows]
        begin = 0 if first == 0 else int(points[first - 1]) + 1
        part = np.arange(begin, int(some[-1]) + 1)
        at = np.searchsorted(some, part)
        moved = np.zeros((len(some), len(scores)), np.int64)
        np.add.at(moved, (at, one[events[part]]), change[part])
        np.add.at(moved, (at, two[events[part]]), -change[part])
        places = place + np.cumsum(moved, axis=0)
        place = places[-1]
        values.append(_measure(places, labels, judged, line.reshape(-1), measure, rules))
    steps = np.concatenate(values)
    _refuse_gaps(measure, steps)
    changed = np.flatnonzero(np.diff(steps))
    return float(steps[0]), times[events][points][changed], np.diff(steps)[changed]


def _measure(
    places: Integers,
    labels: Floats,
    judged: Floats | None,
    line: NDArray[np.intp],
    measure: Measure,
    rules: Convention,
) -> Floats:
    """Return the measure of rankings, one per row: the place of every document, from 0."""
    rows = np.arange(len(places))[:, None]
    ranked, keys = np.empty(places.shape), np.empty(places.shape)
    ranked[rows, places] = labels
    keys[rows, places] = line
    if rules.ties == "expected":
        return measure.values(_rankings(ranked, judged, find_ties(keys, ranked), keys), rules)
    fresh = np.append(True, (ranked[1:] != ranked[:-1]).any(axis=1))  # other labels than those of the row before
    return np.asarray(measure.values(_rankings(ranked[fresh], judged), rules)[np.cumsum(fresh) - 1])


def _rankings(
    ranked: Floats, judged: Floats | None, ties: TieGroups | None = None, keys: Floats | None = None
) -> Rankings:
    known = None if judged is None else np.broadcast_to(judged, (len(ranked), len(judged)))
    return Rankings(ranked, np.full(len(ranked), ranked.shape[1]), ties, keys, known)


def _refuse_gaps(measure: Measure, values: Floats) -> None:
    """Raise for a function that is undefined for some rankings of a query but not for others."""
    if isinstance(measure, FunctionMeasure) and np.isnan(values).any():
        raise InputError(
            f"measure {measure.name}: expected NaN for all rankings of a query or for none, got NaN for "
            f"{np.isnan(values).sum()} of {len(values)}"
        )


# ---- a compiled function --------------------------------------------------------------------------------------------


class Crossings(NamedTuple):
    """Two rows that cross, how the place of the first changes, and whether it is the last crossing of its point."""

    one: Integers
    two: Integers
    change: Integers
    last: NDArray[np.bool_]


def _follow(
    measure: FunctionMeasure, worths: Floats, place: Integers, crossings: Crossings
) -> tuple[Floats, NDArray[np.intp]]:
    """Return the values before, between and after changes, and the numbers of the crossings with which they come."""
    ranked = np.empty(len(place))
    ranked[place] = worths
    n_points = int(np.count_nonzero(crossings.last))
    values, at = np.empty(n_points + 1), np.empty(n_points, np.int64)
    with errors_of(measure):
        found = follow(measure.compiled, np.ascontiguousarray(worths), place, *crossings, ranked, values, at)
    _refuse_gaps(measure, values[: found + 1])
    if not np.isfinite(values[: found + 1]).all():
        raise InputError(f"measure {measure.name}: expected a finite number, or NaN where it is undefined, got inf")
    return values[: found + 1], at[:found]


def _follow_signature(types: ModuleType) -> Any:
    whole, flags = read_only(types, "int64"), read_only(types, "boolean")
    lists = (types.int64[::1], whole, whole, whole, flags)
    return types.int64(
        own_type(types), read_only(types), *lists, types.float64[::1], types.float64[::1], types.int64[::1]
    )


@kernel(_follow_signature)
def follow(
    function: Any,
    worths: Floats,
    place: Integers,
    one: Integers,
    two: Integers,
    change: Integers,
    last: NDArray[np.bool_],
    ranked: Floats,
    values: Floats,
    at: Integers,
) -> int:
    """Fill in the values of all rankings along a line that differ from the one before; return how many changes.

    ``place`` and ``ranked`` (the worths by place) are those at the beginning.
    """
    values[0] = function(ranked)
    found, begin = 0, 0
    for e in range(len(one)):
        place[one[e]] += change[e]
        place[two[e]] -= change[e]
        if not last[e]:
            continue
        moved = False
        for b in range(begin, e + 1):
            for row in (one[b], two[b]):
                if ranked[place[row]] != worths[row]:
                    ranked[place[row]] = worths[row]
                    moved = True
        begin = e + 1
        if moved:
            value = function(ranked)
            if value != values[found]:
                found += 1
                values[found], at[found - 1] = value, e
    return found
