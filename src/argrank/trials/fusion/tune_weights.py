"""tune_weights: weights for a sum of several systems' scores, tuned on the measure itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from argrank._declared import AtLeast, Count, CountFromZero, Jobs, Seed, checked
from argrank._once import reading_once
from argrank._types import Floats
from argrank.data.clicks.counts import ClickCounts
from argrank.data.clicks.log import Clicks
from argrank.data.dataset import Dataset
from argrank.deploy.hybrid import find_engine
from argrank.deploy.hybrid.engine import WINDOW, Engine
from argrank.errors import InputError, OptionError, shown, unknown_name
from argrank.evaluation.counterfactual.on_log import evaluate_on_log
from argrank.evaluation.defaults import MIN_CLICKS, MIN_COVERAGE
from argrank.evaluation.intervals import Interval, resampled_intervals
from argrank.evaluation.segments import segments_of
from argrank.linesearch.landscape import Landscape
from argrank.linesearch.search import LineSearch, Placement, search
from argrank.measures.conventions import make_convention
from argrank.measures.measure import Measure
from argrank.measures.names import measure as parse_measure
from argrank.trials.fusion.climb import Climb, Limits, Problem, finish, sketch, starts
from argrank.trials.fusion.folds import Folds, Unseen, compare_segments
from argrank.trials.fusion.inputs import Systems, of_log, read_systems, seen_by
from argrank.trials.fusion.scaling import LOWEST, NORMALISERS, check_missing, check_normalisers, scaled
from argrank.trials.fusion.tuned_weights import TunedWeights
from argrank.trials.grid import is_number

Bounds = tuple[float | None, float | None]


@checked
@reading_once()
def tune_weights(
    scores_by_system: Mapping[str, Any],
    data: Any,
    measure: Any = None,
    *,
    normalise: str | Mapping[str, str] | None = None,
    missing: str | float = "lowest",
    bounds: Bounds | Mapping[str, Bounds] | None = None,
    fixed: Mapping[str, float] | None = None,
    cv: Annotated[int, AtLeast(2)] | None = 5,
    bootstrap: CountFromZero = 0,
    by: Any = None,
    engine: str | None = None,
    window: Count = WINDOW,
    n_starts: Count = 2,
    random_state: Seed = 0,
    propensities: Any = None,
    min_coverage: float = MIN_COVERAGE,
    min_clicks: float = MIN_CLICKS,
    n_jobs: Jobs = None,
) -> TunedWeights:
    """Tune the weights of a sum of scores (such as BM25, an embedding and popularity) to maximise a measure.

    Single weights and pairs of weights are moved to their optimum (``line_search``) until no such move helps. Ties are
    valued by the mean over their orders.

    Parameters
    ----------
    scores_by_system : mapping from name to scores
        One score per row in the caller's row order, NaN where the system did not return the document; or a run in any
        form that ``evaluate`` takes.
    data : Dataset, or for runs judgements or a click log
        The judged documents; features are not used. Documents of runs that are not judged count as not relevant, and
        judged ones that no run returned count in ideals and recall.
    measure : str, Measure or callable, optional
        Any measure, also your own function from the labels of a ranking to a number, see `ar.measure`; "ndcg@10" by
        default, and "dcg@10" for a click log and for rows with gains.
    normalise : str, mapping from system to str or None
        Normalisation of the scores within each query: "minmax" (to 0 … 1), "zscore" (to mean 0, deviation 1), "rank" (1
        / (60 + rank), as in reciprocal-rank fusion), "none" or None; "auto" chooses one of them by cross-validation.
    missing : "lowest", "rrf" or float
        Score of a document from a system that did not return it: the system's lowest score in the query, 0 (as in
        reciprocal-rank fusion), or this number; after normalising.
    bounds : (low, high) or mapping from system to (low, high), optional
        None is no bound: ``(0, None)`` for weights that are not negative. Unless ``fixed`` sets a scale, bounds are on
        shares: ``{"popularity": (0, 0.1)}`` gives popularity at most a tenth of the sum of all magnitudes.
    fixed : mapping from system to float, optional
        Weights that are not tuned; the others are then tuned on their scale and not divided by their sum.
    cv : int, optional
        Folds of queries of the cross-validation that estimates the measure on new queries; None for none.
    bootstrap : int
        If above 0, the weights are tuned again on this many resamples of the queries, for intervals of the weights.
    by : mapping, array or str, optional
        The segment of every query, as in ``evaluate``: every segment's own weights are tested against those of all
        queries (``TunedWeights.segments``). Needs ``cv``.
    engine : str, optional
        "elasticsearch", "opensearch", "solr" or "vespa", perhaps with a version ("opensearch@2.19"): weights are tuned
        for that engine's computation, and all values use its arithmetic. ``normalise`` is then one of its methods by
        name, or "auto" (also for None); the engine decides the score of a missing document.
    window : int
        With ``engine``: how many documents each system returns for a query.
    n_starts : int
        Starts: equal weights, the best system alone, then random weights.
    random_state : int
    propensities : Propensities, optional
        For a click log: how much each rank is seen (``ar.propensities``).
    min_coverage, min_clicks : float
        For a click log: lower values are an error, as in ``ar.evaluate``.
    n_jobs : int, optional

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(40, 20, 3, random_state=1)
    >>> tuned = ar.tune_weights({"bm25": data.X[:, 0], "vector": data.X[:, 1]}, data, "ndcg@10", cv=None)
    >>> tuned.value >= max(tuned.single.values())
    True
    """
    log, runs = data if isinstance(data, Clicks | ClickCounts) else None, scores_by_system
    if log is not None:
        scores_by_system, data = of_log(runs, log, propensities)
    elif propensities is not None:
        raise OptionError("propensities: expected a click log with them, got judgements")
    has_gains = isinstance(data, Dataset) and data.gains is not None
    usual = "dcg@10" if has_gains else "ndcg@10"
    filler, asked = check_missing(missing), parse_measure(usual if measure is None else measure)
    systems = read_systems(scores_by_system, data, asked)
    limits = _limits(systems.names, bounds, fixed)
    if engine is None:
        options = list(NORMALISERS) if normalise == "auto" else [""]
        choices = {name: check_normalisers(name or normalise, systems.names) for name in options}
        problems = {
            name: Problem(_scaled(systems, chosen, filler), asked, limits, systems.judged, n_jobs)
            for name, chosen in choices.items()
        }
    else:
        if missing != LOWEST:
            raise OptionError(f"missing: expected none with engine, which has its own rule, got {shown(missing)}")
        problems = engine_problems(find_engine(engine), normalise, window, systems, asked, limits, n_jobs)
        options = list(problems)
        choices = {name: dict.fromkeys(systems.names, name) for name in options}
    if len(options) > 1 and (cv is None or cv < 3):
        raise OptionError(f"normalise: expected cv from 3 up to choose one, got cv={cv}")
    if by is not None and cv is None:
        raise OptionError("by: expected cv, which tests the weights of segments, got cv=None")
    landscape = problems[options[0]].landscape()
    if not landscape.is_defined:
        raise InputError(f"measure {asked.name}: expected a query for which it is defined, got none")
    unseen = Unseen(math.nan, Interval(math.nan, math.nan), options[0], {}, [])
    if cv is not None:
        unseen = Folds(problems, cv, n_starts, random_state).unseen()
    problem = problems[unseen.chosen]
    everything = np.ones(systems.data.n_queries, bool)
    start = unseen.sketches or sketch(problem, everything, n_starts, random_state)
    weights, value = finish(problem, start, random_state, thorough=True)
    landscape, fusion = problem.landscape(), problem.fusion
    if fusion is not None:
        weights = fusion.rounded(weights)
        value = landscape.value(problem.scores(weights)).mean
    climb = Climb(problem, np.random.default_rng(random_state))
    seen = systems if fusion is None else seen_by(systems, fusion)
    rrf = _scaled(seen, check_normalisers("rank", seen.names), 0.0).X.sum(axis=1)
    tests = []
    if by is not None and cv is not None:
        tests = compare_segments(problem, systems.names, segments_of(by, seen.data), cv, random_state)
    tuned = TunedWeights(
        weights=dict(zip(systems.names, weights.tolist(), strict=True)),
        value=value,
        cv_value=unseen.value,
        cv_interval=unseen.interval,
        single={name: landscape.value(column).mean for name, column in zip(systems.names, climb.systems, strict=True)},
        rrf=landscape.value(rrf).mean,
        spread=dict(zip(systems.names, climb.spread.tolist(), strict=True)),
        intervals=_intervals(problem, systems.names, bootstrap, random_state) if bootstrap else {},
        curves=_curves(landscape, climb.systems, weights, systems.names) if problem.is_sum else {},
        measure=asked.name,
        normalise=choices[unseen.chosen],
        missing=filler,
        by_normaliser=unseen.by_normaliser,
        n_queries=systems.data.n_queries,
        n_unjudged=systems.n_unjudged,
        fusion=fusion,
        segments=tests,
    )
    if log is None:
        return tuned
    on_log = {"propensities": propensities, "min_coverage": min_coverage, "min_clicks": min_clicks}
    found = evaluate_on_log({"the fusion": tuned.fuse(runs)}, log, asked, make_convention("default"), **on_log)
    return replace(tuned, earned=found["the fusion"])


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
    if not (low.any() or high.any()):
        raise OptionError(f"bounds: expected a weight that may differ from 0, got (0, 0) for {', '.join(names)}")
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
    """Return the measure along every weight, with the others fixed, as a function of the weight."""
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
    problem: Problem, names: Sequence[str], n_resamples: int, random_state: int
) -> dict[str, tuple[float, float]]:
    """Return 95 % intervals of weights: tuned again on queries drawn with replacement.

    Each climb begins at equal weights. Starting at the final weights would stay near them, and the intervals would be
    10 to 20 % too short.
    """
    rng, data = np.random.default_rng(random_state), problem.data
    found = np.empty((n_resamples, len(names)))
    for number in range(n_resamples):
        counts = np.bincount(rng.integers(data.n_queries, size=data.n_queries), minlength=data.n_queries)
        weight = counts if data.query_weight is None else counts * data.query_weight
        part = data.select(counts > 0)._but(query_weight=weight[counts > 0].astype(np.float64))
        resampled = problem.on(part)
        if problem.is_sum:
            climb = Climb(resampled, rng)
            found[number] = climb.best(next(starts(climb, 1)))[0]
        else:
            found[number] = resampled.by_trying([], rng)[0]
    low, high = resampled_intervals(found).tolist()
    return dict(zip(names, zip(low, high, strict=True), strict=True))


def engine_problems(
    engine: Engine, normalise: Any, window: int, systems: Systems, measure: Measure, limits: Limits, n_jobs: int | None
) -> dict[str, Problem]:
    """Return the problems by name: documents are those of the engine's lists, their features the normalised scores."""
    if normalise is not None and not isinstance(normalise, str):
        raise OptionError(f"normalise: expected one name for all systems with engine, got {shown(normalise)}")
    if measure.cutoff is not None and measure.cutoff > window:
        raise OptionError(f"window: expected at least the cut-off of {measure.name}, got {window}")
    if engine.most_systems is not None and len(systems.names) > engine.most_systems:
        raise OptionError(f"{engine.name}: expected at most {engine.most_systems} systems, got {len(systems.names)}")
    if not engine.takes_negative:
        if (limits.high < 0).any() or (np.nan_to_num(limits.fixed) < 0).any():
            raise OptionError(f"bounds: expected weights from 0 up, as {engine.name} accepts no others")
        limits = replace(limits, low=np.maximum(limits.low, 0.0))
    problems = {}
    for name, fusion in engine.fusions(normalise or "auto", window).items():
        seen = seen_by(systems, fusion)
        ready = fusion.prepare(seen.raw, seen.data.indptr)
        problems[name] = Problem(seen.data.with_features(ready.T), measure, limits, seen.judged, n_jobs, fusion)
    return problems
