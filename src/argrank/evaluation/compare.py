"""Compare systems on the same queries: paired, corrected, with intervals."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Annotated, Any, overload

import numpy as np
from numpy.typing import NDArray

from argrank._declared import AtLeast, Below, Count, Seed, checked
from argrank._once import reading_once
from argrank._types import Floats
from argrank.data.clicks.counts import ClickCounts
from argrank.data.clicks.log import Clicks
from argrank.data.io.trec.forms import is_run
from argrank.errors import InputError, check_name
from argrank.evaluation import significance
from argrank.evaluation.comparison import Comparison, PairResult, SegmentResult
from argrank.evaluation.counterfactual.result import ClickComparison
from argrank.evaluation.defaults import CORRECTION, LEVEL, MIN_CLICKS, MIN_COVERAGE, N_RESAMPLES, TEST
from argrank.evaluation.evaluate import evaluate_systems
from argrank.evaluation.intervals import difference_intervals
from argrank.evaluation.result import Evaluation
from argrank.evaluation.segments import groups
from argrank.evaluation.systems import named_systems
from argrank.measures.conventions import Convention, make_convention
from argrank.measures.names import measure_list

CORRECTIONS = ("holm", "none")
RELIABLE = 20  # queries from which on other tests than "t" held on real queries what they promise
ROUNDING = 1e-12  # two values of a measure with a smaller relative difference are equal


@overload
def compare(scores: Any, data: Clicks | ClickCounts, measures: Any, **options: Any) -> ClickComparison: ...
@overload
def compare(scores: Any, data: Any, measures: Any, **options: Any) -> Comparison: ...
@checked
@reading_once()
def compare(
    scores: Any,
    data: Any,
    measures: Any,
    *,
    convention: str | Convention = "default",
    by: Any = None,
    baseline: str | None = None,
    test: str = TEST,
    correction: str = CORRECTION,
    level: Annotated[float, AtLeast(1e-6), Below(1)] = LEVEL,
    n_resamples: Count = N_RESAMPLES,
    random_state: Seed = 0,
    propensities: Any = None,
    estimator: str = "examinations",
    features: Any = None,
    min_coverage: float = MIN_COVERAGE,
    min_clicks: float = MIN_CLICKS,
    **switches: Any,
) -> Comparison | ClickComparison:
    """Compare systems query by query with paired tests, which detect smaller differences than comparing means.

    Parameters
    ----------
    scores : dict of arrays or runs, or list of runs
        The scores of each system by its name, one score per row of ``data`` in the caller's order, or its run in any
        form of ``ar.evaluate``. With a Dataset, it can also be a fitted ranker, a model, or any object with
        ``predict``, also of other libraries.
    data : Dataset, or for runs judgements, as in ``ar.evaluate``
    measures : str or sequence
        Names of measures, or measures, as in ``ar.evaluate``.
    convention : str
        The rules of evaluation, as in ``ar.evaluate``.
    by : mapping from query id, array with one entry for each query, or name of a feature, optional
        Segments of queries, as in ``ar.evaluate``: ``.segments`` of the result has the differences on each of them.
    baseline : str, optional
        Compare every other system only with this one, instead of all pairs. Fewer pairs need less correction.
    test : {"t", "wilcoxon", "randomisation"}
        The paired test. All are two-sided. Where fewer than 50 queries differ, "t" and its interval allow for more
        variance than these show; from there on it is the usual one.
    correction : {"holm", "none"}
        Correct p for the number of pairs within each measure.
    level : float
        Significance level; the intervals cover 1 - level.
    n_resamples, random_state : int
        Of the randomisation test.
    propensities, estimator, features, min_coverage, min_clicks
        If ``data`` is a click log, as in ``ar.evaluate``; differences are then paired by groups of sessions.
    **switches
        Single rules of evaluation, as in ``ar.evaluate``.

    Queries on which a measure is undefined for a or b are left out of their comparison and counted.

    Examples
    --------
    >>> import numpy as np, argrank as ar
    >>> rng = np.random.default_rng(0)
    >>> y, qid = rng.integers(0, 3, 1000), np.repeat(np.arange(100), 10)
    >>> data = ar.Dataset(np.ones((1000, 1)), y, qid)
    >>> good, poor = y + rng.normal(size=1000), y + 3 * rng.normal(size=1000)
    >>> result = ar.compare({"good": good, "poor": poor}, data, ["ndcg@10", "map"])
    >>> result.letters("ndcg@10")
    {'good': 'b', 'poor': ''}
    """
    if isinstance(data, Clicks | ClickCounts):
        from argrank.evaluation.counterfactual.on_log import compare_on_log  # slow to import

        rules, systems = make_convention(convention, **switches), named_systems(scores)[0]
        on_log = {"propensities": propensities, "estimator": estimator, "features": features}
        on_log |= {"min_coverage": min_coverage, "min_clicks": min_clicks}
        return compare_on_log(systems, data, measures, rules, baseline, **on_log)
    given = _check(scores, baseline, test, correction)
    rules, asked = make_convention(convention, **switches), measure_list(measures)
    evaluations = evaluate_systems(given, data, asked, rules, by=by)
    return compare_evaluations(
        evaluations, baseline=baseline, test=test, correction=correction, level=level,
        n_resamples=n_resamples, random_state=random_state,
    )  # fmt: skip


def compare_evaluations(
    evaluations: Mapping[str, Evaluation],
    *,
    baseline: str | None = None,
    test: str = TEST,
    correction: str = CORRECTION,
    level: float = LEVEL,
    n_resamples: int = N_RESAMPLES,
    random_state: int = 0,
) -> Comparison:
    """Compare evaluations of systems on the same queries in the same order; other arguments as in `compare`.

    A single system is a comparison without pairs.
    """
    systems, first = tuple(evaluations), next(iter(evaluations.values()))
    names = tuple(first.means)
    if baseline is None:
        duels = list(itertools.combinations(range(len(systems)), 2))
    else:
        duels = [(a, systems.index(baseline)) for a in range(len(systems)) if systems[a] != baseline]
    differences = np.concatenate([_differences(evaluations, name, duels) for name in names])
    reach = np.repeat([high - low for low, high in (first.bounds[name] for name in names)], len(duels))
    settings = (reach, test, level, n_resamples, random_state)
    facts = _facts(differences, *settings)
    pairs: list[PairResult] = []
    for number, name in enumerate(names):
        own = facts[number * len(duels) : (number + 1) * len(duels)]
        p = np.array([fact["p_value"] for fact in own])
        corrected = significance.holm(p) if correction == "holm" else p
        pairs += [
            PairResult(measure=name, a=systems[a], b=systems[b], p_corrected=float(one), **fact)
            for (a, b), one, fact in zip(duels, corrected, own, strict=True)
        ]
    segment_of = first.segment_of
    return Comparison(
        systems=systems,
        measures=names,
        means={system: dict(evaluation.means) for system, evaluation in evaluations.items()},
        values={system: dict(evaluation.values) for system, evaluation in evaluations.items()},
        query_ids=first.query_ids,
        pairs=tuple(pairs),
        undefined={name: max(evaluation.undefined[name] for evaluation in evaluations.values()) for name in names},
        test=test,
        correction=correction,
        level=level,
        convention=first.convention.name,
        baseline=baseline,
        n_resamples=n_resamples,
        random_state=random_state,
        notes=(*_evaluation_notes(evaluations), *_notes(pairs, first, test)),
        coverage={name: one.coverage for name, one in evaluations.items() if one.coverage is not None},
        bounds=dict(first.bounds),
        rules=first.convention,
        segment_of=segment_of,
        segments=() if segment_of is None else _segments(differences, names, duels, systems, segment_of, settings),
    )


def _check(scores: Any, baseline: str | None, test: str, correction: str) -> dict[str, Any]:
    """Return the systems by name; raise before evaluating if they cannot be compared."""
    systems, several = named_systems(scores)
    if not several or (isinstance(scores, Mapping) and not all(isinstance(name, str) for name in scores)):
        raise InputError(
            "scores: expected a dict from system names to scores or runs, or a list of runs, got "
            f"{'one run' if is_run(scores) else type(scores).__name__}"
        )
    if len(systems) < 2:
        raise InputError(f"scores: expected at least two systems to compare, got {len(systems)}")
    if baseline is not None:
        check_name("baseline", baseline, systems)
    check_name("test", test, significance.TESTS)
    check_name("correction", correction, CORRECTIONS)
    return systems


def _segments(
    differences: Floats,
    measures: tuple[str, ...],
    duels: list[tuple[int, int]],
    systems: tuple[str, ...],
    segment_of: NDArray[Any],
    settings: tuple[Any, ...],
) -> tuple[SegmentResult, ...]:
    """Return every pair on every segment; ``differences`` has one row for each measure and pair."""
    by_segment = {name: _facts(differences[:, own], *settings) for name, own in groups(segment_of)}
    return tuple(
        SegmentResult(
            measure, name, systems[a], systems[b],
            **{key: fact[key] for key in ("n_queries", "difference", "interval", "wins", "ties", "losses")},
        )
        for number, measure in enumerate(measures)
        for name, facts in by_segment.items()
        for (a, b), fact in zip(duels, facts[number * len(duels) : (number + 1) * len(duels)], strict=True)
    )  # fmt: skip


def _differences(evaluations: Mapping[str, Evaluation], measure: str, duels: list[tuple[int, int]]) -> Floats:
    """Return the differences of every pair of systems, one row per pair; rounding errors become 0."""
    values = np.array([evaluation.values[measure] for evaluation in evaluations.values()], np.float64)
    a, b = values[[a for a, _ in duels]], values[[b for _, b in duels]]
    differences = a - b
    differences[np.abs(differences) <= ROUNDING * np.maximum(1, np.maximum(np.abs(a), np.abs(b)))] = 0
    return differences


def _facts(
    differences: Floats, reach: Floats, test: str, level: float, n_resamples: int, random_state: int
) -> list[dict[str, Any]]:
    """Return the statistics of each row of differences; rows with the same defined queries share the resampling."""
    defined = ~np.isnan(differences)
    patterns, pattern_of = np.unique(defined, axis=0, return_inverse=True)
    facts: list[dict[str, Any]] = [{} for _ in differences]
    for number, pattern in enumerate(patterns):
        members = np.flatnonzero(pattern_of.ravel() == number)
        some = differences[np.ix_(members, pattern)].T
        p_values = significance.p_values(some, test, n_resamples, random_state, reach[members])
        intervals = difference_intervals(
            some, test, reach=reach[members], level=level, n_resamples=n_resamples, random_state=random_state
        )
        effects = significance.effect_sizes(some)
        for place, member in enumerate(members):
            column = some[:, place]
            facts[member] = {
                "difference": float(column.mean()) if len(column) else float("nan"),
                "interval": (float(intervals[place, 0]), float(intervals[place, 1])),
                "p_value": float(p_values[place]),
                "effect_size": float(effects[place]),
                "wins": int(np.count_nonzero(column > 0)),
                "ties": int(np.count_nonzero(column == 0)),
                "losses": int(np.count_nonzero(column < 0)),
                "n_queries": len(column),
                "n_dropped": int(np.count_nonzero(~pattern)),
            }
    return facts


def _evaluation_notes(evaluations: Mapping[str, Evaluation]) -> list[str]:
    """Return the notes of the evaluations, once if they concern every system, else with the systems' names."""
    heard: dict[str, list[str]] = {}
    for system, evaluation in evaluations.items():
        for note in evaluation.notes:
            heard.setdefault(note, []).append(system)
    return [
        note if len(systems) == len(evaluations) else f"{', '.join(systems)}: {note}" for note, systems in heard.items()
    ]


def _notes(pairs: list[PairResult], first: Evaluation, test: str) -> list[str]:
    notes = []
    if pairs and first.query_weight is not None:
        notes.append("The means are weighted by query; the differences and tests count every query once.")
    bounded = {name for name, ends in first.bounds.items() if test == "t" and np.isfinite(ends).all()}
    if any(pair.measure in bounded and pair.wins + pair.losses < significance.ENOUGH for pair in pairs):
        notes.append(
            f"Some pairs differ on fewer than {significance.ENOUGH} queries: their p and intervals allow for more "
            "variance than so few queries show."
        )
    if any(pair.measure not in bounded and pair.n_queries < RELIABLE for pair in pairs):
        notes.append(f"Some pairs have fewer than {RELIABLE} queries: p and intervals may be too optimistic.")
    return notes
