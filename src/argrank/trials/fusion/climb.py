"""The climb to the best weights: exact line searches along single weights and pairs of weights, from several starts.

Along one weight, with the others fixed, all rankings that this weight can produce are evaluated. That may end where no
single change of a weight helps but a change of two would, so pairs (both up, or one up and the other down, in units of
the systems' spread) are directions too; with them one start does about as well as ten without.

The climbs from all starts run on a sample of the queries; the best of them continues with all queries, on large data
within a window around its weights, which costs half of a search of the whole line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.deploy.hybrid.engine import Fusion
from argrank.errors import OptionError
from argrank.linesearch.landscape import Landscape, Value
from argrank.linesearch.search import Placement, natural_step, search
from argrank.linesearch.step_function import BETTER
from argrank.measures.function import ties_of
from argrank.measures.measure import Measure
from argrank.trials.fusion.scaling import query_means

SAMPLE_ROWS = 1 << 12  # documents on which all starts climb
NEAR = 0.3  # the window of a later search, in steps that change the scores by about their range
MOST_PAIRS = 40  # most directions of two weights; with many systems a sample is drawn
MOST_SEARCHES = 1000  # most rounds of a climb; it ends much earlier, when no direction helps
STEPS = (0.2, 0.1, 0.05, 0.02, 0.01)  # of a derivative-free search: shares that move from one system to another
N_RANDOM = 8  # of its starts
N_CLIMBS = 3


@dataclass(frozen=True)
class Limits:
    """Constraints on the weights. If none is fixed, only their proportions matter, and bounds are on shares."""

    low: Floats
    high: Floats
    fixed: Floats  # NaN if the weight is free

    @property
    def free(self) -> list[int]:
        """The numbers of the systems whose weight is tuned."""
        return np.flatnonzero(np.isnan(self.fixed)).tolist()

    @cached_property
    def is_absolute(self) -> bool:
        """Whether a fixed weight sets the scale, so that the others are not divided by their sum."""
        return bool((np.nan_to_num(self.fixed) != 0).any())

    @cached_property
    def on_shares(self) -> bool:
        """Whether a bound other than 0 limits the share of a weight."""
        bounds = np.concatenate([self.low, self.high])
        return not self.is_absolute and bool((np.isfinite(bounds) & (bounds != 0)).any())

    def allow(self, weights: Floats) -> bool:
        """Return whether weights are within their bounds."""
        near = 1e-9
        fixed = np.isnan(self.fixed) | (weights == self.fixed)
        return bool((fixed & (weights >= self.low - near) & (weights <= self.high + near)).all())

    def normed(self, weights: Floats) -> Floats:
        """Return the weights divided by the sum of their magnitudes, unless a fixed one sets the scale."""
        total = float(np.abs(weights).sum())
        return weights if self.is_absolute or total == 0 else weights / total

    def nearest(self, weights: Floats) -> Floats:
        """Return nearby weights within the bounds, by repeated clipping and normalising."""
        weights = np.where(np.isnan(self.fixed), weights, self.fixed)
        for _ in range(200):
            weights = self.normed(np.clip(weights, self.low, self.high))
            if self.allow(weights):
                return np.clip(weights, self.low, self.high)
        raise OptionError("bounds: expected bounds on shares that weights adding up to 1 can meet")

    def window(self, weights: Floats, direction: Floats) -> tuple[float, float]:
        """Return the steps for which ``weights + step * direction`` is within the bounds."""
        low, high = self.low, self.high
        if self.on_shares:  # shares are linear in the step only while no weight changes its sign
            low = np.where((weights > 0) | ((weights == 0) & (direction > 0)), np.maximum(low, 0.0), low)
            high = np.where((weights < 0) | ((weights == 0) & (direction < 0)), np.minimum(high, 0.0), high)
        moved = direction != 0
        one = (low[moved] - weights[moved]) / direction[moved]
        two = (high[moved] - weights[moved]) / direction[moved]
        return float(np.minimum(one, two).max(initial=-math.inf)), float(np.maximum(one, two).min(initial=math.inf))

    def directions(self, weights: Floats, spread: Floats, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield the directions that are tried: single weights, then pairs of them."""
        unit = np.diag(np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0))
        free = [number for number in self.free if spread[number] > 0]
        pairs = [(i, j) for i in free for j in free if i < j]
        chosen = rng.permutation(len(pairs))[: MOST_PAIRS // 2].tolist()
        tried = [pairs[number] for number in sorted(chosen)]
        if self.on_shares:
            yield from self._along_shares(weights, free, tried)
            return
        yield from unit[free]
        for i, j in tried:
            yield unit[i] + unit[j]
            yield unit[i] - unit[j]

    def _along_shares(self, weights: Floats, free: list[int], pairs: list[tuple[int, int]]) -> Iterator[Floats]:
        """Yield directions along which the magnitudes still add up to 1, for each possible sign of a weight."""
        whole = np.eye(len(weights))
        signs = [[sign for sign in (1.0, -1.0) if weight * sign >= 0] for weight in weights]
        for number in free:  # towards a system alone, the others in proportion
            yield from (sign * whole[number] - weights for sign in signs[number])
        for i, j in pairs:
            yield from (one * whole[i] - other * whole[j] for one in signs[i] for other in signs[j])


@dataclass(frozen=True, eq=False)
class Problem:
    """Queries whose features are the systems' scores, the measure, and the constraints on weights.

    ``fusion`` is an engine's method of combining these scores; without it they are added.
    """

    data: Dataset
    measure: Measure
    limits: Limits
    judged: Mapping[Any, Floats] | None = None
    n_jobs: int | None = None
    fusion: Fusion | None = None

    def of(self, queries: Any) -> Problem:
        """Return the problem of some of the queries."""
        return self.on(self.data.select(queries))

    def on(self, data: Dataset) -> Problem:
        """Return the same problem on other data."""
        return replace(self, data=data)

    def landscape(self) -> Landscape:
        """Return the measure as a function of scores; a Python function gets rankings of shuffled rows."""
        return Landscape(self.data, self.measure, ties_of(self.measure), self.n_jobs, self.judged)

    def scores(self, weights: Floats) -> Floats:
        """Return the score of every document, as the engine computes it."""
        if self.fusion is None:
            return np.asarray(weights @ self.data.X.T)
        return self.fusion.combine(self.data.X.T, weights)

    @property
    def is_sum(self) -> bool:
        """Whether weights can be searched along lines."""
        return self.fusion is None or (self.fusion.way.is_sum and self.fusion.way.has_weights)

    def by_trying(self, first: Sequence[Floats], rng: np.random.Generator) -> list[Floats]:
        """Return the best weights, best first, of a derivative-free search; equal ones if there are none."""
        n_systems = self.data.X.shape[1]
        if self.fusion is not None and not self.fusion.way.has_weights:
            return [np.full(n_systems, 1.0 / n_systems)]
        landscape = self.landscape()
        return pattern_search(lambda weights: landscape.value(self.scores(weights)).mean, self.limits, first, rng)

    def spread(self) -> Floats:
        """Return every system's standard deviation within queries."""
        indptr = self.data.indptr
        means = np.array([query_means(column, indptr) for column in self.data.X.T])
        within = self.data.X.T - np.repeat(means, np.diff(indptr), axis=1)
        greatest = np.abs(self.data.X).max(axis=0)
        spread = np.sqrt((within**2).mean(axis=1))
        return np.where(spread > 1e-12 * greatest, spread, 0.0)  # a mean of equal numbers may be off by rounding


class _Place(NamedTuple):
    """Weights, their scores and the value there."""

    weights: Floats
    scores: Floats
    value: Value


class Climb:
    """A climb of weights on one landscape."""

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        self.limits, self.rng = problem.limits, rng
        self.systems = np.ascontiguousarray(problem.data.X.T)
        self.landscape, self.spread = problem.landscape(), problem.spread()

    def value(self, weights: Floats) -> float:
        """Return the measure of weights."""
        return self.landscape.value(weights @ self.systems).mean

    def best(self, weights: Floats, near: bool = False) -> tuple[Floats, float]:
        """Return weights that no direction improves, and their value."""
        place = self._stand(weights)
        idle = searches = 0
        while searches < MOST_SEARCHES:
            directions = list(self.limits.directions(place.weights, self.spread, self.rng))
            if not directions:
                break
            for direction in directions:
                if idle >= len(directions):
                    return self._without_idle(place.weights, place.value.mean)
                searches, idle = searches + 1, idle + 1
                better = self._better(place, direction, near)
                if better is not None:
                    place, idle = better, 1
                    if self.limits.on_shares:
                        idle = 0
                        break  # these directions depend on the weights
        return self._without_idle(place.weights, place.value.mean)

    def _better(self, place: _Place, direction: Floats, near: bool) -> _Place | None:
        """Return the best place along a direction, None if it is not better than the current one."""
        slopes = direction @ self.systems
        low, high = self.limits.window(place.weights, direction)
        if near:
            reach = NEAR * natural_step(place.scores, slopes)
            low, high = max(low, -reach), min(high, reach)
        if not low < high:
            return None
        placement = Placement(point="middle", settle=False)
        found, _ = search(self.landscape, place.scores, slopes, place.value, (low, high), placement)
        if found.value <= place.value.mean + BETTER:
            return None
        there = self._stand(self.limits.nearest(self.limits.normed(place.weights + found.step * direction)))
        # the division may swap documents that were nearly tied
        return there if there.value.mean > place.value.mean + BETTER else None

    def _stand(self, weights: Floats) -> _Place:
        scores = weights @ self.systems
        return _Place(weights, scores, self.landscape.value(scores))

    def _without_idle(self, weights: Floats, value: float) -> tuple[Floats, float]:
        """Return the weights with 0 for every system that does not help."""
        for number in np.argsort(np.abs(weights) * self.spread, kind="stable").tolist():
            without = weights.copy()
            without[number] = 0.0
            without = self.limits.normed(without)
            if weights[number] == 0 or not without.any() or not self.limits.allow(without):
                continue
            other = self.value(without)
            if other >= value - BETTER:
                weights, value = without, other
        return weights, value


def sketch(problem: Problem, queries: NDArray[np.bool_], n_starts: int, random_state: int) -> list[Floats]:
    """Return the weights found by climbs from several starts on a sample of these queries, the best first."""
    rng = np.random.default_rng(random_state)
    order = rng.permutation(np.flatnonzero(queries))
    some = int(np.searchsorted(np.cumsum(problem.data.sizes[order]), SAMPLE_ROWS)) + 1
    part = problem.of(np.sort(order[:some]))
    if not problem.is_sum:
        return part.by_trying([], rng)
    climb = Climb(part, rng)
    found = [climb.best(start) for start in starts(climb, n_starts)]
    return [weights for weights, _ in sorted(found, key=lambda one: -one[1])]


def finish(
    problem: Problem, sketches: Sequence[Floats], random_state: int, thorough: bool = False
) -> tuple[Floats, float]:
    """Continue from the best of the sketches on all queries; ``thorough`` finally searches every direction in full.

    Return the weights and their value.
    """
    rng = np.random.default_rng(random_state)
    if not problem.is_sum:
        weights = problem.by_trying(sketches, rng)[0]
        return weights, problem.landscape().value(problem.scores(weights)).mean
    climb = Climb(problem, rng)
    weights, value = climb.best(max(sketches, key=climb.value), near=problem.data.n_documents > SAMPLE_ROWS)
    return climb.best(weights) if thorough else (weights, value)


def starts(climb: Climb, n_starts: int) -> Iterator[Floats]:
    """Yield equal weights for systems of equal spread, the best system alone, then random weights."""
    unit = np.divide(1.0, climb.spread, out=np.zeros_like(climb.spread), where=climb.spread > 0)
    limits, singles = climb.limits, np.eye(len(unit))
    for number in range(n_starts):
        if number == 0:
            start = unit
        elif number == 1:
            start = max((one * sign for one in singles for sign in (1.0, -1.0)), key=climb.value)
        else:
            start = unit * climb.rng.uniform(-1.0, 1.0, len(unit))
        yield limits.nearest(limits.normed(start))


def pattern_search(
    value: Callable[[Floats], float], limits: Limits, first: Sequence[Floats], rng: np.random.Generator
) -> list[Floats]:
    """Return the weights found by a derivative-free search, best first; for scores that are not sums.

    From the best of ``first``, or else of equal weights, single systems and random weights, shares are moved between
    systems in decreasing steps while that helps.
    """
    n_systems = len(limits.low)
    random = rng.dirichlet(np.ones(n_systems), N_RANDOM)
    tried = list(first) or [np.full(n_systems, 1 / n_systems), *np.eye(n_systems), *random]
    starts = sorted(((value(one), one) for one in map(limits.nearest, tried)), key=lambda one: -one[0])
    steps = STEPS[2:] if first else STEPS
    found = [_climb(value, limits, *start, steps) for start in starts[:N_CLIMBS]]
    return [weights for _, weights in sorted(found, key=lambda one: -one[0])]


def _climb(
    value: Callable[[Floats], float], limits: Limits, best: float, weights: Floats, steps: Sequence[float]
) -> tuple[float, Floats]:
    """Return the value and the weights that no move of a share improves."""
    pairs = [(i, j) for i in range(len(weights)) for j in range(len(weights)) if i != j]
    for step in steps:
        moved = True
        while moved:
            moved = False
            for to, source in pairs:
                share = min(step, float(weights[source]))
                if share <= 0:
                    continue
                other = weights.copy()
                other[to] += share
                other[source] -= share
                try:
                    other = limits.nearest(other)
                except OptionError:
                    continue
                there = value(other)
                if there > best + BETTER:
                    best, weights, moved = there, other, True
    return best, weights
