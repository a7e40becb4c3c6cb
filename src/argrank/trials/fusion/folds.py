"""Estimate tuned weights on new queries, and choose the normalisation, by cross-validation over queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats
from argrank.data.folds import QueryKFold
from argrank.errors import OptionError
from argrank.evaluation.evaluate import measure_queries
from argrank.evaluation.intervals import Interval, mean_interval
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
