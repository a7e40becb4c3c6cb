"""line_search: the best step along a direction in score space, exactly on the measure itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from argrank._declared import Jobs, checked
from argrank._types import Floats
from argrank.data import checks
from argrank.data.dataset import Dataset
from argrank.errors import InputError, OptionError, is_finite, shown
from argrank.linesearch.landscape import Landscape, Likelihood, Value, most_likely
from argrank.linesearch.step_function import BETTER, StepFunction, bounded, rank_intervals

Point = str | Callable[[float, float], float]

TRIES = 8  # intervals to try if rounding keeps the scores from reaching an interval's value
OTHER_POINTS = (0.5, 0.382, 0.618)  # share of an interval, if the step lies exactly on a crossing without a change
AGREES = 1e-10  # how far the measure at the step may be from the value of its interval


@dataclass(frozen=True, eq=False)
class LineSearch:
    """The measure along a line, and its best step.

    Attributes
    ----------
    step : float
        The best t.
    value : float
        The measure of ``scores + step * direction``, bit-identical to ``evaluate``.
    start : float
        The measure at t = 0.
    breakpoints : array
        Where the mean of the measure changes, ascending.
    values : array, one longer
        The measure on every open interval: before the first breakpoint, between the first and the second, ….
    interval : (float, float)
        The interval the step lies in; both ends 0 if the best step is a breakpoint at 0.
    """

    step: float
    value: float
    start: float
    breakpoints: Floats
    values: Floats
    interval: tuple[float, float]

    @property
    def gain(self) -> float:
        """The increase of the measure by the step."""
        return self.value - self.start

    def __repr__(self) -> str:
        return (
            f"LineSearch(step={self.step:.6g}, value={self.value:.6f}, start={self.start:.6f}, "
            f"{len(self.breakpoints):,} breakpoints)"
        )


@checked
def line_search(
    scores: Any,
    direction: Any,
    data: Dataset,
    measure: Any = "ndcg@10",
    *,
    window: tuple[float, float] | None = None,
    interval: str = "widest",
    point: Point = "likelihood",
    ties: str = "row",
    n_jobs: Jobs = None,
) -> LineSearch:
    """Find the step t for which ``scores + t * direction`` has the greatest mean measure, exactly.

    Along a line the ranking changes only where two documents of a query cross, so the measure is a step function of t.
    All its steps are found (DirectRank, section 2.2, with correct treatment of crossings of several documents at one
    point), and the best interval is chosen: the one that holds t = 0 unless another is better by more than 1e-12.

    Parameters
    ----------
    scores, direction : array of shape (n_documents,)
        In the caller's row order; the direction may be a feature, the output of a tree, anything.
    data : Dataset
    measure : str, Measure or callable
        Fast for NDCG, DCG, P, R, RR, ERR, AP (with a cut-off or without), AUC and Bpref. Any other measure, and any
        function from the labels of one ranking to a number, is evaluated at all crossings of all documents, which for a
        function that numba compiles costs about one call per crossing of documents with different labels.
    window : (low, high), optional
        Search only there, equally exactly.
    interval : "widest" or "nearest"
        Which of several equally good intervals.
    point : "likelihood", "middle" or callable
        Where in the interval: at the greatest Plackett–Luce likelihood of the order by label (ties by score, then row;
        section 2.3), in the middle, or where ``point(low, high)`` says. Unbounded intervals are cut at a distance in
        which the scores change by about their own range.
    ties : "row" or "expected"
        Documents whose lines coincide keep the order of their rows, or the value is the mean over their orders.
    n_jobs : int, optional
        Threads; None for all cores. The result does not depend on it.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.Dataset([[3.0], [1.0], [2.0]], [0, 1, 2], group=[3])
    >>> search = ar.line_search([3.0, 2.0, 0.0], [0.0, 1.0, 4.0], data, "ndcg@3", point="middle")
    >>> search.breakpoints.tolist()
    [0.6666666666666666, 0.75, 1.0]
    >>> search.step > 1, search.value
    (True, 1.0)
    """
    low, high = -math.inf, math.inf
    if window is not None:
        try:
            low, high = (float(end) for end in window)
        except (TypeError, ValueError, OverflowError) as error:
            raise OptionError(f"window: expected two numbers (low, high), got {shown(window)}") from error
        if not low < high:
            raise OptionError(f"window: expected low < high, got {low:g} and {high:g}")
    landscape = Landscape(data, measure, ties, n_jobs)
    stored = data.from_caller(checks.numbers(scores, data.n_documents, "scores", "score"))
    slopes = data.from_caller(checks.numbers(direction, data.n_documents, "direction", "number"))
    if not landscape.is_defined and not isinstance(landscape.rules.undefined, float):
        raise InputError(f"measure {landscape.measure.name}: expected a query for which it is defined, got none")
    placement = Placement(interval, point)
    return search(landscape, stored, slopes, landscape.value(stored), (low, high), placement)[0]


class Placement(NamedTuple):
    """Choice of the step: which of equally good intervals, where in it, and whether to move within the current one."""

    interval: str = "widest"
    point: Point = "likelihood"
    settle: bool = True
    likelihood: Likelihood | None = None

    def check(self) -> None:
        """Raise OptionError for an unknown ``interval`` or ``point``."""
        if self.interval not in ("widest", "nearest"):
            raise OptionError(f"interval: expected 'widest' or 'nearest', got {shown(self.interval)}")
        if self.point not in ("likelihood", "middle") and not callable(self.point):
            raise OptionError(f"point: expected 'likelihood', 'middle' or a callable, got {shown(self.point)}")

    def place(self, left: float, right: float, derivative: Callable[[float], float]) -> float:
        """Return a step in the interval."""
        if callable(self.point):
            step = self.point(left, right)
            if not is_finite(step):
                raise OptionError(f"point: expected a function that returns a number, got {shown(step)}")
            step = float(step)
            if not left < step < right:
                raise OptionError(f"point: expected a step between {left:g} and {right:g}, got {step:g}")
            return step
        return 0.5 * (left + right) if self.point == "middle" else most_likely(derivative, left, right)


def search(
    landscape: Landscape,
    scores: Floats,
    slopes: Floats,
    here: Value,
    window: tuple[float, float] = (-math.inf, math.inf),
    placement: Placement = Placement(),  # noqa: B008 - frozen
) -> tuple[LineSearch, Value]:
    """Search from scores whose value is known (``here``), all in stored order; return the value at the step too.

    The measure is evaluated again at the step: if rounding keeps the scores from reaching the interval's value
    (crossings a few units in the last place apart), the next best interval is tried, so the returned value is always
    correct.
    """
    placement.check()
    low, high = window
    holds_zero = low <= 0.0 <= high
    steps = landscape.walk(scores, slopes, low, high, here.tied)
    unit = natural_step(scores, slopes)
    floor = here.mean + BETTER if holds_zero else -math.inf
    ranked = rank_intervals(steps, low, high, unit, placement.interval, TRIES, floor)
    current = _current(steps, low, high) if holds_zero else None
    if holds_zero:
        number = int(np.searchsorted(steps.breakpoints, 0.0))
        # where documents cross at 0 without a change from left to right, 0 itself may still be better than both
        same = abs(float(steps.values[number]) - here.mean) <= BETTER
        if not ranked and current is not None and placement.settle and same:
            ranked = [(number, *_cut(*current, unit))]
    along: list[Callable[[float], Floats]] = []

    def derivative(time: float) -> float:
        if not along:
            along.append((placement.likelihood or landscape.wanted(scores))(scores, slopes))
        return float(along[0](time)[1])

    def result(step: float, value: Value, ends: tuple[float, float]) -> tuple[LineSearch, Value]:
        return LineSearch(step, value.mean, here.mean, steps.breakpoints, steps.values, ends), value

    for number, left, right in ranked:
        step = placement.place(left, right, derivative)
        for candidate in (step, *(left + share * (right - left) for share in OTHER_POINTS)):
            value = landscape.value(scores + candidate * slopes)
            if abs(value.mean - float(steps.values[number])) <= AGREES * max(1.0, abs(value.mean)):
                return result(candidate, value, (left, right))
    if holds_zero:
        return result(0.0, here, current or (0.0, 0.0))
    left, right = _cut(low, high, unit)
    step = 0.5 * (left + right)
    return result(step, landscape.value(scores + step * slopes), (left, right))


def _current(steps: StepFunction, low: float, high: float) -> tuple[float, float] | None:
    """Return the interval that holds 0, None where 0 is a breakpoint."""
    place = int(np.searchsorted(steps.breakpoints, 0.0))
    if place < len(steps.breakpoints) and steps.breakpoints[place] == 0.0:
        return None
    left, right = steps.edges(np.array([place]), low, high)
    return float(left[0]), float(right[0])


def _cut(left: float, right: float, unit: float) -> tuple[float, float]:
    low, high = bounded(np.array([left]), np.array([right]), unit)
    return float(low[0]), float(high[0])


def natural_step(scores: Floats, slopes: Floats) -> float:
    """Return the step in which the scores change by about their own range (their size, or 1, where they are equal)."""
    by_slopes = float(np.ptp(slopes))
    by_scores = float(np.ptp(scores)) or float(np.abs(scores[:1]).max(initial=0.0)) or 1.0
    unit = by_scores / by_slopes if by_slopes > 0.0 else 1.0
    return unit if 0.0 < unit < math.inf else 1.0
