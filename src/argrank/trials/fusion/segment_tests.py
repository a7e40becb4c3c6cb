"""Test whether segments of queries (head and tail, languages) need their own weights: cross-validated, paired, Holm."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank.data.folds import QueryKFold
from argrank.errors import OptionError
from argrank.evaluation.defaults import LEVEL
from argrank.evaluation.intervals import difference_intervals
from argrank.evaluation.significance import holm, paired_t
from argrank.trials.fusion.climb import Problem, finish, sketch
from argrank.trials.fusion.folds import query_values


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
