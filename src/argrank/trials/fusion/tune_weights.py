"""tune_weights: the weights with which the scores of several systems are added, tuned on the measure itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np

from argrank._declared import AtLeast, Count, CountFromZero, Jobs, Seed, checked
from argrank._once import reading_once
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import InputError, OptionError, check_count, shown, unknown_name
from argrank.linesearch.landscape import Landscape, as_measure
from argrank.linesearch.search import LineSearch, Placement, search
from argrank.trials.fusion.climb import Climb, Limits, Problem, finish, sketch
from argrank.trials.fusion.folds import Folds, Unseen
from argrank.trials.fusion.inputs import Systems, read_systems
from argrank.trials.fusion.scaling import NORMALISERS, check_missing, check_normalisers, scaled
from argrank.trials.fusion.tuned_weights import TunedWeights
from argrank.trials.grid import is_number

Bounds = tuple[float | None, float | None]


@checked
@reading_once()
def tune_weights(
    scores_by_system: Mapping[str, Any],
    data: Any,
    measure: Any = "ndcg@10",
    *,
    normalise: str | Mapping[str, str] | None = None,
    missing: str | float = "lowest",
    bounds: Bounds | Mapping[str, Bounds] | None = None,
    fixed: Mapping[str, float] | None = None,
    cv: Annotated[int, AtLeast(2)] | None = 5,
    bootstrap: CountFromZero = 0,
    n_starts: Count = 2,
    random_state: Seed = 0,
    n_jobs: Jobs = None,
) -> TunedWeights:
    """Tune the weights of a sum of scores, say of BM25, an embedding and popularity, so that a measure is greatest.

    Single weights and pairs of weights are moved to the best place there is (``line_search``) until no such move adds
    anything. Ties are valued by the mean over their orders.

    Parameters
    ----------
    scores_by_system : mapping from name to scores
        One score per row in the caller's row order, NaN where the system did not return the document; or a run in any
        form that ``evaluate`` takes.
    data : Dataset, or judgements for runs
        The judged documents; features are not looked at. Documents of runs that are not judged count as not relevant,
        and judged ones that no run returned count in ideals and recall.
    measure : str, Measure or callable
        Any measure, or a Python function from the labels of a ranking to a number (slow).
    normalise : str, mapping from system to str or None
        What is done to the scores within each query: "minmax" (to 0 … 1), "zscore" (to mean 0, deviation 1), "rank"
        (1 / (60 + rank), as in reciprocal-rank fusion), "none" or None; "auto" chooses one of them by cross-validation.
    missing : "lowest", "rrf" or float
        What a document gets from a system that did not return it: the system's lowest score in the query, nothing (as
        in reciprocal-rank fusion), or this number; all after normalising.
    bounds : (low, high) or mapping from system to (low, high), optional
        None is no bound: ``(0, None)`` for weights that are not negative. Unless ``fixed`` sets a scale, bounds are on
        shares: ``{"popularity": (0, 0.1)}`` gives popularity at most a tenth of the sum of all magnitudes.
    fixed : mapping from system to float, optional
        Weights that stay as they are; the others are then tuned on their scale and not divided by their sum.
    cv : int, optional
        Folds of queries of the cross-validation that estimates the measure on new queries; None for none.
    bootstrap : int
        If above 0, the weights are tuned again on this many resamples of the queries, for intervals of the weights.
    n_starts : int
        Starts: equal weights, the best system alone, then random weights.
    random_state : int
    n_jobs : int, optional

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(40, 20, 3, random_state=1)
    >>> tuned = ar.tune_weights({"bm25": data.X[:, 0], "vector": data.X[:, 1]}, data, "ndcg@10", cv=None)
    >>> tuned.value >= max(tuned.single.values())
    True
    """
    check_count("n_starts", n_starts)
    check_count("bootstrap", bootstrap, 0)
    if cv is not None and (not isinstance(cv, int) or cv < 2):
        raise OptionError(f"cv: expected a number from 2 up or None, got {shown(cv)}")
    if normalise == "auto" and (cv is None or cv < 3):
        raise OptionError(f"normalise: expected cv from 3 up to choose by, got cv={cv}")
    filler, asked = check_missing(missing), as_measure(measure)
    systems = read_systems(scores_by_system, data, asked)
    limits = _limits(systems.names, bounds, fixed)
    options = list(NORMALISERS) if normalise == "auto" else [""]
    choices = {name: check_normalisers(name or normalise, systems.names) for name in options}
    problems = {
        name: Problem(_scaled(systems, chosen, filler), asked, limits, systems.judged, n_jobs)
        for name, chosen in choices.items()
    }
    landscape = problems[options[0]].landscape()
    if not landscape.is_defined:
        raise InputError(f"measure {asked.name}: expected a query for which it is defined, got none")
    unseen = Unseen(math.nan, (math.nan, math.nan), options[0], {}, [])
    if cv is not None:
        unseen = Folds(problems, cv, n_starts, random_state).unseen()
    problem = problems[unseen.chosen]
    everything = np.ones(systems.data.n_queries, bool)
    start = unseen.sketches or sketch(problem, everything, n_starts, random_state)
    weights, value = finish(problem, start, random_state, thorough=True)
    climb = Climb(problem, np.random.default_rng(random_state))
    rrf = _scaled(systems, check_normalisers("rank", systems.names), 0.0).X.sum(axis=1)
    return TunedWeights(
        weights=dict(zip(systems.names, weights.tolist(), strict=True)),
        value=value,
        cv_value=unseen.value,
        cv_interval=unseen.interval,
        single={name: landscape.value(column).mean for name, column in zip(systems.names, climb.systems, strict=True)},
        rrf=landscape.value(rrf).mean,
        spread=dict(zip(systems.names, climb.spread.tolist(), strict=True)),
        intervals=_intervals(problem, weights, systems.names, bootstrap, random_state) if bootstrap else {},
        curves=_curves(landscape, climb.systems, weights, systems.names),
        measure=asked.name,
        normalise=choices[unseen.chosen],
        missing=filler,
        by_normaliser=unseen.by_normaliser,
        n_queries=systems.data.n_queries,
        n_unjudged=systems.n_unjudged,
    )


def _scaled(systems: Systems, normalisers: Mapping[str, str], missing: str | float) -> Dataset:
    order = [normalisers[name] for name in systems.names]
    return systems.data.with_features(scaled(systems.raw, systems.data.indptr, order, missing).T)


def _limits(names: Sequence[str], bounds: Any, fixed: Mapping[str, float] | None) -> Limits:
    low, high, held = np.full(len(names), -np.inf), np.full(len(names), np.inf), np.full(len(names), np.nan)
    for name, pair in (bounds if isinstance(bounds, Mapping) else dict.fromkeys(names, bounds or (None, None))).items():
        number = _number(name, names)
        low[number], high[number] = _ends(name, pair)
    for name, weight in (fixed or {}).items():
        number = _number(name, names)
        if not is_number(weight) or not math.isfinite(weight):
            raise OptionError(f"fixed: expected a number, got {shown(weight)} for {name}")
        low[number] = high[number] = held[number] = weight
    limits = Limits(low, high, held)
    if not limits.free:
        raise OptionError("fixed: expected at least one system whose weight is free, got none")
    return limits


def _number(name: str, names: Sequence[str]) -> int:
    if name not in names:
        raise unknown_name("system", name, names)
    return names.index(name)


def _ends(name: str, pair: Any) -> tuple[float, float]:
    """Return the bounds of one weight; None is no bound."""
    if not isinstance(pair, Sequence) or len(pair) != 2 or not all(end is None or is_number(end) for end in pair):
        raise OptionError(f"bounds: expected (low, high) with numbers or None, got {shown(pair)} for {name}")
    low, high = -np.inf if pair[0] is None else pair[0], np.inf if pair[1] is None else pair[1]
    if not low <= high:
        raise OptionError(f"bounds: expected low <= high, got {shown(pair)} for {name}")
    return low, high


def _curves(landscape: Landscape, systems: Floats, weights: Floats, names: Sequence[str]) -> dict[str, LineSearch]:
    """Return the measure along every weight, the others as they are, in terms of the weight."""
    scores = weights @ systems
    here, curves = landscape.value(scores), {}
    for name, slopes, weight in zip(names, systems, weights.tolist(), strict=True):
        found, _ = search(landscape, scores, slopes, here, placement=Placement(point="middle"))
        curves[name] = LineSearch(
            found.step + weight, found.value, found.start, found.breakpoints + weight, found.values,
            (found.interval[0] + weight, found.interval[1] + weight),
        )  # fmt: skip
    return curves


def _intervals(
    problem: Problem, weights: Floats, names: Sequence[str], n_resamples: int, random_state: int
) -> dict[str, tuple[float, float]]:
    """Return 95 % intervals of weights: tuned again, from the weights found, on queries drawn with replacement."""
    rng, data = np.random.default_rng(random_state), problem.data
    found = np.empty((n_resamples, len(weights)))
    for number in range(n_resamples):
        counts = np.bincount(rng.integers(data.n_queries, size=data.n_queries), minlength=data.n_queries)
        weight = counts if data.query_weight is None else counts * data.query_weight
        part = data.select(counts > 0)._but(query_weight=weight[counts > 0].astype(np.float64))
        found[number] = Climb(problem.on(part), rng).best(weights, near=True)[0]
    low, high = np.quantile(found, [0.025, 0.975], axis=0).tolist()
    return dict(zip(names, zip(low, high, strict=True), strict=True))
