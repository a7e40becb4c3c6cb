"""evaluate and compare on a click log: the entry points of counterfactual evaluation."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
from scipy import stats

from argrank._tables import counted
from argrank._types import Floats
from argrank.clicks.curve import Propensities
from argrank.clicks.evidence import Estimator, evidence_of
from argrank.errors import InputError, OptionError, check_choice, check_name, shown
from argrank.evaluation.counterfactual.result import ClickComparison, ClickEvaluation, Difference, TrafficSegment
from argrank.evaluation.counterfactual.value import Bench, Earning, Ranked, Valued, earnings, half_width, ranked_by
from argrank.evaluation.defaults import MIN_CLICKS, MIN_COVERAGE
from argrank.evaluation.significance import holm
from argrank.measures.conventions import Convention

PARTS = ("head", "torso", "tail")


def refuse_on_log(**given: Any) -> None:
    """Raise for options that need judgements."""
    for name, one in given.items():
        if one is not None:
            raise OptionError(f"{name}: expected judgements, which it needs, got a click log")


def evaluate_on_log(
    systems: Mapping[str, Any],
    log: Any,
    measures: Any,
    rules: Convention,
    *,
    propensities: Any = None,
    estimator: Estimator = "examinations",
    features: Any = None,
    min_coverage: float = MIN_COVERAGE,
    min_clicks: float = MIN_CLICKS,
) -> dict[str, ClickEvaluation]:
    """Return the estimated value of each system per session; see ``ar.evaluate``."""
    check_choice("estimator", estimator, get_args(Estimator))
    for name, limit in (("min_coverage", min_coverage), ("min_clicks", min_clicks)):
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 <= limit < np.inf:
            raise OptionError(f"{name}: expected a number from 0 up, got {shown(limit)}")
    found = evidence_of(log, propensities)
    asked = earnings(measures, found.curve, rules)
    bench = Bench(found, estimator)
    results = {}
    for name, system in systems.items():
        ranked = ranked_by(system, features, found.counts)
        parts = [np.ones(len(bench.worth.sessions)), *_traffic(bench.worth.sessions)]
        valued = {one.name: bench.value(ranked, one, parts) for one in asked}
        for one in asked:
            _refuse(name, one, valued[one.name][0], bench, ranked, min_coverage, min_clicks)
        results[name] = _result(valued, parts[1:], bench, ranked, estimator)
    return results


def compare_on_log(
    systems: Mapping[str, Any], log: Any, measures: Any, rules: Convention, baseline: str | None, **options: Any
) -> ClickComparison:
    """Compare systems on one log, paired by groups of sessions."""
    if len(systems) < 2:
        raise InputError(f"compare: expected at least two systems, got {len(systems)}")
    if baseline is not None:
        check_name("baseline", baseline, systems)
    return compared_on_log(evaluate_on_log(systems, log, measures, rules, **options), baseline)


def compared_on_log(found: Mapping[str, ClickEvaluation], baseline: str | None = None) -> ClickComparison:
    """Return the differences of values from one log: of all pairs, or to a baseline."""
    names = list(found)
    duels = list(itertools.combinations(names, 2))
    if baseline is not None:
        duels = [(name, baseline) for name in names if name != baseline]
    pairs: list[Difference] = []
    for measure in next(iter(found.values())).means:
        facts = [_difference(found[a], found[b], measure) for a, b in duels]
        corrected = holm(np.array([fact[3] for fact in facts]))
        pairs += [
            Difference(measure, a, b, *fact, float(p)) for (a, b), fact, p in zip(duels, facts, corrected, strict=True)
        ]
    return ClickComparison(found, tuple(pairs))


def _difference(a: ClickEvaluation, b: ClickEvaluation, measure: str) -> tuple[float, float, float, float]:
    without = [one - other for one, other in zip(a.without[measure], b.without[measure], strict=True)]
    excess = float((a.discounts[measure] - b.discounts[measure]) ** 2 @ a.excess)
    value, wide = a.means[measure] - b.means[measure], half_width(*without, excess=excess)
    n = len(without[0])
    error = wide / stats.t.ppf(0.975, n - 1) if n > 1 else np.nan
    p = float(2 * stats.t.sf(abs(value) / error, n - 1)) if error > 0 else float(value == 0)
    return value, value - wide, value + wide, p


def _refuse(
    name: str, earning: Earning, valued: Valued, bench: Bench, ranked: Ranked, coverage: float, clicks: float
) -> None:
    """Raise if a value has too little evidence, and name what is missing."""
    if valued.coverage < coverage:
        lacking = _listed(bench.lacking(ranked, earning))
        raise InputError(
            f"{earning.name} of {name}: expected documents that the log has shown, got a coverage of "
            f"{valued.coverage:.3f} of the discount, below {coverage:g}; most important of those never shown for "
            f"their query: {lacking}. Log pages that vary more, or get the figure anyway with min_coverage=0"
        )
    if valued.effective_clicks < clicks:
        raise InputError(
            f"{earning.name} of {name}: expected {clicks:g} effective clicks or more, got "
            f"{valued.effective_clicks:.1f}; log more sessions, or get the figure anyway with min_clicks=0"
        )
    if valued.expected_clicks < clicks:
        raise InputError(
            f"{earning.name} of {name}: expected {clicks:g} effective clicks or more, also if documents that were "
            f"hardly examined attract as the others do, got {valued.expected_clicks:.1f}; least certain are: "
            f"{_listed(bench.hardly_examined(ranked, earning))}. Log pages that vary more, or ask for the figure all "
            "the same: min_clicks=0"
        )


def _listed(documents: list[tuple[str, str]]) -> str:
    return "; ".join(f"query {shown(query)}, document {shown(document)}" for query, document in documents)


def _result(
    by_part: Mapping[str, list[Valued]], parts: list[Floats], bench: Bench, ranked: Ranked, estimator: str
) -> ClickEvaluation:
    sessions = bench.worth.sessions
    segments = []
    for number, (part, chosen) in enumerate(zip(PARTS, parts, strict=True), 1):
        for name, values in by_part.items() if chosen.any() else ():
            one = values[number]
            sizes = (int(chosen.sum()), round(float(sessions @ chosen)))
            figures = (one.value, *one.interval, one.coverage, one.effective_clicks)
            segments.append(TrafficSegment(part, name, *sizes, *figures))
    valued = {name: values[0] for name, values in by_part.items()}
    return ClickEvaluation(
        means={name: one.value for name, one in valued.items()},
        low={name: one.interval[0] for name, one in valued.items()},
        high={name: one.interval[1] for name, one in valued.items()},
        coverage={name: one.coverage for name, one in valued.items()},
        effective_clicks={name: one.effective_clicks for name, one in valued.items()},
        expected_clicks={name: one.expected_clicks for name, one in valued.items()},
        logged={name: one.logged for name, one in valued.items()},
        values={name: one.by_query for name, one in valued.items()},
        without={name: one.without for name, one in valued.items()},
        discounts={name: one.discounts for name, one in valued.items()},
        excess=bench.excess,
        query_ids=bench.evidence.counts.query_ids,
        n_sessions=sessions,
        segments=tuple(segments),
        estimator=estimator,
        notes=tuple(_notes(bench, ranked)),
    )


def _traffic(sessions: Floats) -> list[Floats]:
    """Return which queries are head, torso and tail: by traffic, each about a third of the sessions."""
    order = np.argsort(-sessions, kind="stable")
    before = np.cumsum(sessions[order]) - sessions[order]
    part = np.empty(len(sessions), np.int64)
    part[order] = np.minimum(3.0 * before / max(float(sessions.sum()), 1.0), 2.0).astype(np.int64)
    return [((part == number) & (sessions > 0)).astype(np.float64) for number in range(3)]


def _notes(bench: Bench, ranked: Ranked) -> list[str]:
    found = bench.evidence
    sessions, counts = bench.worth.sessions, found.counts
    n_sessions = round(float(sessions.sum()))
    notes = [
        f"{counted(n_sessions, 'session', 'sessions')} of {counted(int((sessions > 0).sum()), 'query', 'queries')}; "
        "the examination of rank 1 is set to 1, so values are relative to it; documents that were never shown count "
        f"{bench.worth.elsewhere:.3g}"
    ]
    curve = found.curve
    if curve is not None and found.replicates is None and found.others is None:
        notes.append("the examination curve is taken as known: intervals do not include its own error")
    if isinstance(curve, Propensities) and curve.offsets is not None:
        notes.append("with trust bias only differences between rankers are meaningful")
    if counts.group is not None and found.counts.sessions_of_query is None:
        notes.append("intervals ignore that clicks of one user are correlated")
    ranks_it = np.bincount(ranked.query, minlength=len(sessions)) > 0
    absent = (sessions > 0) & ~ranks_it
    if absent.any():
        n_absent = counted(int(absent.sum()), "query", "queries")
        share = sessions[absent].sum() / sessions.sum()
        notes.append(f"{n_absent} of the log ({share:.1%} of the sessions) are not ranked and count 0")
    if ranked.n_unknown:
        notes.append(f"{counted(ranked.n_unknown, 'query', 'queries')} of the ranking are not in the log")
    has = np.zeros(found.n_pairs, bool)
    has[ranked.pair[ranked.pair >= 0]] = True
    left = ~has & bench.shown & ranks_it[counts.pair_query]
    if left.any():
        share = bench.n_clicks[left].sum() / max(bench.n_clicks.sum(), 1.0)
        documents = counted(int(left.sum()), "logged document", "logged documents")
        notes.append(f"{documents} ({share:.1%} of the clicks) are not ranked")
    return notes
