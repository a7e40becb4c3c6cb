"""What tuned weights are worth on new queries, and which normalisation is best, by cross-validation over queries."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats
from argrank.data.folds import QueryKFold
from argrank.errors import OptionError
from argrank.evaluation.evaluate import measure_queries
from argrank.evaluation.significance import bootstrap_intervals
from argrank.linesearch.landscape import Landscape
from argrank.trials.fusion.climb import Problem, tune

RESAMPLES = 2000


class Unseen(NamedTuple):
    """The measure on queries that the weights were not tuned on, its interval, and the normalisation chosen."""

    value: float
    interval: tuple[float, float]
    chosen: str
    by_normaliser: dict[str, float]


class Folds:
    """Parts of the queries; ``problems`` differ in the normalisation only, by its name."""

    def __init__(self, problems: Mapping[str, Problem], cv: int, n_starts: int, random_state: int) -> None:
        self.problems, self.n_starts, self.random_state = problems, n_starts, random_state
        self.first = next(iter(problems.values()))
        n_queries = self.first.data.n_queries
        if n_queries < cv:
            raise OptionError(f"cv: expected at most as many folds as the {n_queries} queries, got {cv}")
        self.fold = np.empty(n_queries, np.int64)
        for number, (_, test) in enumerate(QueryKFold(cv, random_state=random_state).split(self.first.data)):
            self.fold[test] = number
        self.landscape = self.first.landscape()
        self.n_folds = cv

    def unseen(self) -> Unseen:
        """Cross-validate; of several normalisations each fold chooses one by the other folds alone."""
        by_fold = dict.fromkeys(range(self.n_folds), next(iter(self.problems)))
        means: dict[str, float] = {}
        chosen = by_fold[0]
        if len(self.problems) > 1:
            inner = {name: self._inner(problem) for name, problem in self.problems.items()}
            for fold in by_fold:
                others = self.fold != fold
                by_fold[fold] = max(inner, key=lambda name: self._mean(inner[name][fold], others))
            means = {
                name: float(np.mean([self._mean(row, row == row) for row in rows])) for name, rows in inner.items()
            }
            chosen = max(means, key=means.__getitem__)
        values = np.empty(len(self.fold))
        for fold, name in by_fold.items():
            values[self.fold == fold] = self._values(self.problems[name], self.fold != fold)[self.fold == fold]
        return Unseen(self._mean(values, values == values), interval_of(values, self.landscape), chosen, means)

    def _values(self, problem: Problem, train: NDArray[np.bool_]) -> Floats:
        """Return the measure of every query by weights tuned on some of them."""
        weights, _ = tune(problem.of(train), self.n_starts, self.random_state)
        return query_values(weights @ problem.data.X.T, self.landscape)

    def _inner(self, problem: Problem) -> list[Floats]:
        """Return for every fold the values of the queries of the others, tuned without their fold and without it."""
        found = [np.full(len(self.fold), np.nan) for _ in range(self.n_folds)]
        for one, two in combinations(range(self.n_folds), 2):
            values = self._values(problem, (self.fold != one) & (self.fold != two))
            found[one][self.fold == two] = values[self.fold == two]
            found[two][self.fold == one] = values[self.fold == one]
        return found

    def _mean(self, values: Floats, counted: NDArray[np.bool_]) -> float:
        weight = self.landscape.data.query_weight
        counted = counted & ~np.isnan(values)
        return float(np.average(values[counted], weights=None if weight is None else weight[counted]))


def query_values(scores: Floats, landscape: Landscape) -> Floats:
    """Return the measure of every query; NaN where it is undefined and the query is left out."""
    values = measure_queries(
        scores, landscape.data, [landscape.measure], landscape.rules, landscape.judged, landscape.n_jobs
    )[0][0]
    undefined = landscape.rules.undefined
    return np.where(np.isnan(values), undefined, values) if isinstance(undefined, float) else values


def interval_of(values: Floats, landscape: Landscape) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean over queries."""
    defined, weight = ~np.isnan(values), landscape.data.query_weight
    if weight is not None:
        values = values * weight / weight[defined].mean()
    low, high = bootstrap_intervals(values[defined][:, None], n_resamples=RESAMPLES)[0].tolist()
    return low, high
