"""The report's answer: which system, by how much, on which queries, how sure, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

import numpy as np

from argrank._tables import counted
from argrank.data.dataset import Dataset
from argrank.data.doctor.diagnosis import Diagnosis
from argrank.evaluation.comparison import TEST_TITLES, Comparison
from argrank.evaluation.power import CHANCE, power_of
from argrank.evaluation.segments import groups
from argrank.evaluation.single_feature import single_feature
from argrank.report import svg
from argrank.report.figures import sorted_differences
from argrank.report.svg import escape
from argrank.trials.system import System
from argrank.trials.trial import Trial

MOST_QUERIES = 3  # linked on either side
MOST_NAMES = 8
ENOUGH_JUDGED = 0.95  # of the ten best documents

Intervals = Mapping[str, Mapping[str, tuple[float, float]]]  # measure -> system -> interval of its mean


class Duel(NamedTuple):
    """The best system against another, differences being best minus other."""

    rival: str
    difference: float
    low: float
    high: float
    p: float
    p_corrected: float
    effect: float
    wins: int
    ties: int
    losses: int
    sure: bool


def answer_section(
    data: Dataset,
    systems: Sequence[System],
    best: System,
    comparison: Comparison,
    intervals: Intervals,
    diagnosis: Diagnosis,
    trial: Trial | None,
    ends: Sequence[str],
) -> str:
    """Return the section as HTML; ``ends`` says which chosen parameters lie at the end of their grid."""
    measure = comparison.measures[0]
    duels = duels_of(comparison, best.name)
    told = [_verdict(best.name, comparison, intervals, trial)]
    if duels:
        told += [_runner_up(duels[0], comparison), _others(duels)]
        told += [_queries(data, comparison, best.name, duels[0].rival)]
    if comparison.segment_of is not None and duels:
        told.append(_segments(comparison, best.name, duels[0].rival))
    next_steps = _next_steps(systems, best, comparison, duels, diagnosis, trial, ends)
    steps = "".join(f"<li>{one}</li>" for one in [*_leaks(data, best, comparison), *next_steps])
    order = sorted(range(len(systems)), key=lambda i: -comparison.means[systems[i].name][measure])
    chart = svg.dots(
        [(systems[i].name, i) for i in order],
        [comparison.means[systems[i].name][measure] for i in order],
        [intervals[measure][systems[i].name] for i in order],
        f"Mean {measure} with {100 * (1 - comparison.level):g} % intervals",
        f"mean {measure} of {len(comparison.query_ids):,} queries",
    )
    words = "".join(f"<p>{one}</p>" for one in told[1:] if one)
    return (
        f'<div class="answer"><div><p class="verdict">{told[0]}</p>{words}<h3>What to do next</h3><ul>{steps}</ul>'
        f"</div>{chart}</div>"
    )


def duels_of(comparison: Comparison, best: str) -> list[Duel]:
    """Return the best system against every other on the first measure, the strongest other first."""
    found = []
    for pair in comparison.pairs:
        if pair.measure != comparison.measures[0] or best not in (pair.a, pair.b):
            continue
        sure = pair.p_corrected <= comparison.level
        (low, high), p = pair.interval, (pair.p_value, pair.p_corrected)
        if pair.a == best:
            sides = (pair.b, pair.difference, low, high, *p, pair.effect_size, pair.wins, pair.ties, pair.losses)
        else:
            sides = (pair.a, -pair.difference, -high, -low, *p, -pair.effect_size, pair.losses, pair.ties, pair.wins)
        found.append(Duel(*sides, sure))
    return sorted(found, key=lambda duel: -comparison.means[duel.rival][comparison.measures[0]])


def _verdict(best: str, comparison: Comparison, intervals: Intervals, trial: Trial | None) -> str:
    measure = comparison.measures[0]
    mean, (low, high) = comparison.means[best][measure], intervals[measure][best]
    name, level = _strong(best), f"{100 * (1 - comparison.level):g} %"
    value = f"{mean:.4f}" + ("" if math.isnan(low) else f" ({level} interval {low:.4f} to {high:.4f})")
    here = f"on the {len(comparison.query_ids):,} queries tested here"
    if trial is not None and trial.best is not None:
        chosen = f"{escape(trial.select_by)} {trial.validation[best]:.4f}"
        return f"{name} is the best by validation ({chosen}). Its {escape(measure)} {here}: {value}."
    if len(comparison.systems) == 1:
        return f"{name}: {escape(measure)} {value} {here}."
    return (
        f"{name} has the highest mean {escape(measure)} {here}: {value}. It was found on "
        "these very queries, so the figure is a little too good."
    )


def _runner_up(duel: Duel, comparison: Comparison) -> str:
    interval = f"{100 * (1 - comparison.level):g} % interval {_signed(duel.low)} to {_signed(duel.high)}"
    test = TEST_TITLES[comparison.test].lower()
    p = f"{test}, {_probability(duel.p)}"
    n_pairs = sum(pair.measure == comparison.measures[0] for pair in comparison.pairs)
    if comparison.correction == "holm" and n_pairs > 1:
        p += f"; {_probability(duel.p_corrected)} after Holm's correction for {n_pairs} pairs"
    rank = ", the strongest of the others" if n_pairs > 1 else ""
    sure = "a significant difference" if duel.sure else "<strong>not</strong> a significant difference"
    return (
        f"Against {_strong(duel.rival)}{rank}: {_signed(duel.difference)} a query ({interval}), "
        f"better on {duel.wins:,} queries, worse on {duel.losses:,}, equal on {duel.ties:,}. This is {sure} "
        f"({p})."
    )


def _others(duels: Sequence[Duel]) -> str:
    groups_of = {
        "Significantly better than": [duel.rival for duel in duels if duel.sure and duel.difference > 0],
        "Significantly worse than": [duel.rival for duel in duels if duel.sure and duel.difference < 0],
        "No significant difference from": [duel.rival for duel in duels if not duel.sure],
    }
    if len(duels) == 1:
        return ""
    return " ".join(f"{words} {_names(names)}." for words, names in groups_of.items() if names)


def _queries(data: Dataset, comparison: Comparison, best: str, rival: str) -> str:
    measure = comparison.measures[0]
    order, differences = sorted_differences(comparison, measure, best, rival)
    gains = [(q, d) for q, d in zip(order, differences, strict=True) if d > 0][:MOST_QUERIES]
    losses = [(q, d) for q, d in zip(order[::-1], differences[::-1], strict=True) if d < 0][:MOST_QUERIES]
    parts = []
    for words, side in ((f"It gains most over {escape(rival)} on", gains), ("and loses most on", losses)):
        if side:
            parts.append(f"{words} {', '.join(_query_link(data, int(q), d, best, rival) for q, d in side)}")
    text = " ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _query_link(data: Dataset, query: int, difference: float, a: str, b: str) -> str:
    qid = str(data.query_ids[query])
    text = "" if data.query_texts is None or not data.query_texts[query] else f" “{data.query_texts[query]}”"
    address = f"#query={quote(qid, safe='')}&a={quote(a, safe='')}&b={quote(b, safe='')}"
    return f'<a href="{escape(address)}">{escape(svg.cut(qid + text, 40))}</a> ({_signed(difference, 3)})'


def _segments(comparison: Comparison, best: str, rival: str) -> str:
    measure = comparison.measures[0]
    differences = comparison.differences(measure, best, rival)
    found = []
    for name, own in groups(np.asarray(comparison.segment_of)):
        known = differences[own & ~np.isnan(differences)]
        if len(known):
            found.append((name, float(known.mean()), len(known)))
    behind = [one for one in found if one[1] < 0]
    if not behind:
        return f"It is ahead of {escape(rival)}, or level, on every segment."
    shown = ", ".join(f"{escape(name)} ({_signed(mean)}, {n:,} queries)" for name, mean, n in behind[:MOST_NAMES])
    return f"It is behind {escape(rival)} on these segments: {shown}."


def _leaks(data: Dataset, best: System, comparison: Comparison) -> list[str]:
    """Return a warning where a feature alone does nearly what the best model does."""
    if best.model is None:
        return []
    measure = comparison.measures[0]
    told = single_feature(data, comparison.means[best.name][measure], measure, comparison.convention)
    return [] if told is None else [f"<strong>Warning:</strong> {escape(told)}."]


def _next_steps(
    systems: Sequence[System],
    best: System,
    comparison: Comparison,
    duels: Sequence[Duel],
    diagnosis: Diagnosis,
    trial: Trial | None,
    ends: Sequence[str],
) -> list[str]:
    steps = []
    errors, warned = len(diagnosis.of("error")), len(diagnosis.of("warning"))
    if errors:
        steps.append(f'Mend the data first: <a href="#data">the doctor found {counted(errors, "error", "errors")}</a>.')
    thin = {name: one.judged_at_10 for name, one in comparison.coverage.items() if one.judged_at_10 < ENOUGH_JUDGED}
    if thin:
        shares = ", ".join(f"{escape(name)} {share:.0%}" for name, share in list(thin.items())[:MOST_NAMES])
        steps.append(
            f'Judge more documents: <a href="#judgements">of the ten best of a query only these shares are judged</a> '
            f"({shares}), and the others count as not relevant."
        )
    if duels and duels[0].sure and duels[0].difference < 0:
        steps.append(
            f"Validation and these queries disagree: {_strong(duels[0].rival)} is significantly better here. Do not "
            "take it because of this table; choose again on more validation queries (<code>ar.benchmark</code> with "
            "folds uses all of them)."
        )
    if duels and not duels[0].sure:
        steps += _when_unsure(systems, best, duels, comparison)
    if ends:
        places = _names([one.partition(":")[0] for one in ends])
        steps.append(f'Widen the grid of {places}: <a href="#training">a chosen value lies at its end</a>.')
    if warned:
        steps.append(f'Look at <a href="#data">the {counted(warned, "warning", "warnings")} of the doctor</a>.')
    if trial is not None and trial.best is not None:
        steps.append(
            f"<code>trial.ranker()</code> is {escape(best.name)} trained on all data; <code>ar.export</code> takes "
            "it to a search engine."
        )
    elif len(systems) > 1:
        steps.append(
            "Choose between systems on other queries than those you report, as <code>ar.benchmark</code> does."
        )
    if duels:
        steps.append('Read the queries it loses: <a href="#queries">every query, side by side</a>.')
    return steps


def _when_unsure(systems: Sequence[System], best: System, duels: Sequence[Duel], comparison: Comparison) -> list[str]:
    """Say what helps where the best is not significantly better: more queries, or the cheaper system."""
    found, measure, duel = [], comparison.measures[0], duels[0]
    differences, wanted = comparison.differences(measure, best.name, duel.rival), abs(duel.difference)
    known = power_of(measure, best.name, duel.rival, differences, wanted, comparison.level, CHANCE, 0)
    if math.isfinite(known.smallest):
        text = (
            f"These {known.n_queries:,} queries show a difference to {escape(duel.rival)} with a chance of "
            f"{100 * CHANCE:g} % only if it is {known.smallest:.4f} or more"
        )
        if wanted > 0 and known.needed is not None and known.n_queries < known.needed < 1e6:
            text += f"; one of {wanted:.4f}, as seen here, takes about {_round(known.needed):,} judged queries"
        found.append(f"{text}. <code>ar.power</code> says how many another difference takes.")
    level = {duel.rival for duel in duels if not duel.sure}
    timed = {one.name: one.seconds for one in systems if one.seconds and (one.name in level or one is best)}
    if best.name in timed and len(timed) > 1:
        fastest = min(timed, key=lambda name: timed[name])
        if timed[fastest] < 0.5 * timed[best.name]:
            found.append(
                f"{_strong(fastest)} is not significantly worse and trains faster: {timed[fastest]:.2g} s instead of "
                f"{timed[best.name]:.2g} s."
            )
    return found


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(escape(name) for name in names[:MOST_NAMES])
    return shown if len(names) <= MOST_NAMES else f"{shown} and {len(names) - MOST_NAMES} more"


def _strong(name: str) -> str:
    return f"<strong>{escape(name)}</strong>"


def _probability(value: float) -> str:
    return "p &lt; 0.0001" if value < 0.0001 else f"p = {value:.4f}"


def _signed(value: float, digits: int = 4) -> str:
    return f"{value:+.{digits}f}".replace("-", "\N{MINUS SIGN}")


def _round(n: int) -> int:
    """Return a number of which two digits matter, rounded up."""
    step = int(10 ** max(len(str(n)) - 2, 0))
    return -(-n // step) * step
