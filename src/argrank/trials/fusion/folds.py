"""Cross-validate tuned weights over queries: their value on new ones, the normalisation, weights of segments.

Segments of queries (head and tail, languages) get their own weights only if a paired test shows a gain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats
from argrank.data.folds import QueryKFold
from argrank.errors import OptionError
from argrank.evaluation.defaults import LEVEL
from argrank.evaluation.evaluate import measure_queries
from argrank.evaluation.intervals import Interval, difference_intervals, mean_interval
from argrank.evaluation.significance import holm, paired_t
from argrank.linesearch.landscape import Landscape
from argrank.trials.fusion.climb import Problem, finish, sketch


class Unseen(NamedTuple):
    """The measure on queries that the weights were not tuned on, its interval, and the normalisation chosen."""

    value: float
    interval: Interval
    chosen: str
    by_normaliser: dict[str, float]
    sketches: list[Floats]  # weights from which a search on all queries may start


class _Pair(NamedTuple):
    """Weights tuned without two folds, and the measure of every query of the two; NaN for the others."""

    sketches: list[Floats]
    values: Floats


class Folds:
    """Parts of the queries; ``problems`` by name differ only in the normalisation."""

    def __init__(self, problems: Mapping[str, Problem], cv: int, n_starts: int, random_state: int) -> None:
        self.problems, self.n_starts, self.random_state = problems, n_starts, random_state
        first = next(iter(problems.values()))
        n_queries = first.data.n_queries
        if n_queries < cv:
            raise OptionError(f"cv: expected at most as many folds as the {n_queries} queries, got {cv}")
        self.fold = np.empty(n_queries, np.int64)
        for number, (_, test) in enumerate(QueryKFold(cv, random_state=random_state).split(first.data)):
            self.fold[test] = number
        self.landscapes = {name: problem.landscape() for name, problem in problems.items()}
        self.landscape = next(iter(self.landscapes.values()))
        self.n_folds = cv

    def unseen(self) -> Unseen:
        """Cross-validate; with several normalisations each fold chooses one by its neighbours, tuned without it."""
        first = next(iter(self.problems))
        pairs = {name: self._pairs(name) for name in self.problems} if len(self.problems) > 1 else {}
        values = np.empty(len(self.fold))
        for fold in range(self.n_folds):
            test = self.fold == fold
            # both pairs exclude the fold, so neither the choice nor the start of the search depends on it
            beside = {name: (found[fold - 1], found[fold]) for name, found in pairs.items()}
            name = max(beside, key=lambda name: self._mean(beside[name], ~test), default=first)
            if pairs:
                start = [weights for pair in beside[name] for weights in pair.sketches]
            else:
                start = sketch(self.problems[name], ~test, self.n_starts, self.random_state)
            weights, _ = finish(self.problems[name].of(~test), start, self.random_state)
            values[test] = self._values(name, weights)[test]
        everywhere = np.ones(len(values), bool)
        means = {name: self._mean(found, everywhere) for name, found in pairs.items()}
        chosen = max(means, key=means.__getitem__, default=first)
        sketches = [weights for pair in pairs.get(chosen, ()) for weights in pair.sketches]
        value = self._mean([_Pair([], values)], everywhere)
        interval = mean_interval(values, self.landscape.measure.bounds, weight=self.landscape.data.query_weight)
        return Unseen(value, interval, chosen, means, sketches)

    def _pairs(self, name: str) -> list[_Pair]:
        """Tune without fold 0 and 1, without 1 and 2, …, without the last and fold 0, on a sample of the others."""
        found = []
        for one in range(self.n_folds):
            without = (self.fold == one) | (self.fold == (one + 1) % self.n_folds)
            n_starts = (self.n_starts + 1) // 2  # the sketches of two pairs are learned without a fold
            sketches = sketch(self.problems[name], ~without, n_starts, self.random_state)
            found.append(_Pair(sketches, np.where(without, self._values(name, sketches[0]), np.nan)))
        return found

    def _values(self, name: str, weights: Floats) -> Floats:
        """Return the measure of every query."""
        return query_values(self.problems[name].scores(weights), self.landscapes[name])

    def _mean(self, pairs: Sequence[_Pair], counted: NDArray[np.bool_]) -> float:
        """Return the mean over some of the queries for which the measure is defined, NaN where there are none."""
        values = np.concatenate([pair.values[counted] for pair in pairs])
        weight = self.landscape.data.query_weight
        weights = np.ones(len(values)) if weight is None else np.tile(weight[counted], len(pairs))
        defined = ~np.isnan(values) & (weights > 0)
        if not defined.any():
            return np.nan
        return float(np.average(values[defined], weights=weights[defined]))


def query_values(scores: Floats, landscape: Landscape) -> Floats:
    """Return the measure of every query; NaN where it is undefined and the query is left out."""
    values = measure_queries(
        scores, landscape.data, [landscape.measure], landscape.rules, landscape.judged, landscape.n_jobs
    )[0][0]
    undefined = landscape.rules.undefined
    return np.where(np.isnan(values), undefined, values) if isinstance(undefined, float) else values


class SegmentTest(NamedTuple):
    """A segment's own weights against those of all queries, on queries that neither was tuned on.

    ``difference`` is the mean of own minus global, with its interval; ``p_value`` is Holm's, over all segments. Keep
    the global weights unless it is at most .05 and the difference is positive.
    """

    segment: str
    n_queries: int
    global_value: float
    own_value: float
    difference: float
    low: float
    high: float
    p_value: float
    keep_global: bool
    weights: dict[str, float]  # tuned on all queries of the segment


def compare_segments(
    problem: Problem, systems: list[str], segments: NDArray[Any], cv: int, random_state: int
) -> list[SegmentTest]:
    """Test every segment; one with fewer than two queries per fold is not tested and keeps the global weights."""
    names = list(dict.fromkeys(segments.tolist()))
    if len(names) < 2:
        raise OptionError(f"by: expected at least two segments, got {', '.join(names)}")
    data, landscape = problem.data, problem.landscape()
    own, common = np.full(data.n_queries, np.nan), np.full(data.n_queries, np.nan)
    large = [name for name in names if np.count_nonzero(segments == name) >= 2 * cv]
    for train, test in QueryKFold(cv, random_state=random_state).split(data):
        learned, kept = np.zeros(data.n_queries, bool), np.zeros(data.n_queries, bool)
        learned[train] = kept[test] = True
        common[kept] = query_values(problem.scores(_tuned(problem, learned, random_state)), landscape)[kept]
        for name in large:
            chosen = segments == name
            if (chosen & learned).any():
                weights = _tuned(problem, chosen & learned, random_state)
                own[chosen & kept] = query_values(problem.scores(weights), landscape)[chosen & kept]
    pairs = [own[segments == name] - common[segments == name] for name in names]
    known = [pair[~np.isnan(pair)] for pair in pairs]
    low, high = problem.measure.bounds
    reach = high - low
    p_values = holm(np.array([float(paired_t(pair[:, None], reach)[0]) if len(pair) > 1 else 1.0 for pair in known]))
    found = []
    for name, pair, p_value in zip(names, known, p_values.tolist(), strict=True):
        chosen = segments == name
        low, high = difference_intervals(pair[:, None], reach=reach)[0].tolist() if len(pair) > 1 else (np.nan, np.nan)
        mean = float(pair.mean()) if len(pair) else np.nan
        weights = _tuned(problem, chosen, random_state)
        if problem.fusion is not None:
            weights = problem.fusion.rounded(weights)
        found.append(
            SegmentTest(
                segment=name, n_queries=int(np.count_nonzero(chosen)), global_value=_mean(common[chosen]),
                own_value=_mean(own[chosen]), difference=mean, low=low, high=high, p_value=p_value,
                keep_global=not (p_value <= LEVEL and mean > 0),
                weights=dict(zip(systems, weights.tolist(), strict=True)),
            )
        )  # fmt: skip
    return found


def _tuned(problem: Problem, queries: NDArray[np.bool_], random_state: int) -> Any:
    start = sketch(problem, queries, 2, random_state)
    return finish(problem.of(queries), start, random_state)[0]


def _mean(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan
