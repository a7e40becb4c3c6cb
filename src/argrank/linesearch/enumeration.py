"""Any measure along a line: every crossing of every two documents, the whole ranking in between. Slow, and plain.

What has no kernel comes here, such as a measure given as a Python function; the kernels are tested against it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats, Integers
from argrank.errors import InputError, is_finite
from argrank.linesearch.step_function import last_of_point
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure
from argrank.measures.rankings import Rankings
from argrank.measures.ties import find_ties

CELLS = 1 << 20  # documents of the rankings that are worked on together


@dataclass(frozen=True, repr=False)
class FunctionMeasure(Measure):
    """A Python function from the labels of a ranking, best first, to a number; NaN where it is undefined."""

    function: Callable[[Floats], float]
    k: int | None = field(default=None, init=False, repr=False)

    spelling = "function"

    @property
    def name(self) -> str:
        """The function's own name."""
        return str(getattr(self.function, "__name__", "function"))

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        known: dict[bytes, float] = {}
        values = np.empty(rankings.n_queries)
        for query, (labels, size) in enumerate(zip(rankings.labels, rankings.sizes, strict=True)):
            ranked = labels[:size]
            key = ranked.tobytes()
            if key not in known:
                result: Any = self.function(ranked.copy())
                if not is_finite(result) and not (isinstance(result, float | np.floating) and np.isnan(result)):
                    raise InputError(f"measure {self.name}: expected a finite number or NaN, got {result!r:.60}")
                known[key] = float(result)
            values[query] = known[key]
        return values


class QueryLines(NamedTuple):
    """The documents of one query as lines: score, slope, label; and all its judged labels, where they are more."""

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
    ties = find_ties(keys, ranked) if rules.ties == "expected" else None
    sizes = np.full(len(places), len(labels))
    known = None if judged is None else np.broadcast_to(judged, (len(places), len(judged)))
    return measure.values(Rankings(ranked, sizes, ties, keys if rules.ties == "expected" else None, known), rules)
