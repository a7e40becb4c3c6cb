"""The report's answer: which system, by how much, on which queries, how sure, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from urllib.parse import quote

import numpy as np

from argrank._tables import counted
from argrank.data.dataset import Dataset
from argrank.data.doctor.diagnosis import Diagnosis
from argrank.evaluation.comparison import Comparison
from argrank.evaluation.power import CHANCE, power_of_pair
from argrank.evaluation.segments import groups
from argrank.evaluation.single_feature import single_feature
from argrank.report import svg, verdict
from argrank.report.figures import sorted_differences
from argrank.report.svg import escape
from argrank.report.verdict import MOST_NAMES, Duel, Intervals, command, signed, strong
from argrank.trials.system import System
from argrank.trials.trial import Trial

MOST_QUERIES = 3  # linked on either side
ENOUGH_JUDGED = 0.95  # of the ten best documents


def answer_section(
    data: Dataset,
    systems: Sequence[System],
    best: System,
    comparison: Comparison,
    intervals: Intervals,
    diagnosis: Diagnosis,
    trial: Trial | None,
    ends: Sequence[str],
    baseline: str | None = None,
) -> str:
    """Return the section as HTML; ``ends`` are the chosen parameters at an end of their grid."""
    measure = comparison.measures[0]
    duels = verdict.duels_of(comparison, best.name)
    told = [verdict.figures(best.name, comparison, intervals, trial, baseline)]
    if duels:
        rival = duels[0].rival if baseline is None else baseline
        told.append(_queries(data, comparison, best.name, rival))
        if comparison.segment_of is not None:
            told.append(_segments(comparison, best.name, rival))
    better = verdict.beaten_by(duels, trial)
    next_steps = _next_steps(systems, best, comparison, duels, better, diagnosis, trial, ends)
    steps = "".join(f"<li>{one}</li>" for one in [*_leaks(data, best, comparison), *next_steps])
    order = sorted(range(len(systems)), key=lambda i: -comparison.means[systems[i].name][measure])
    chart = svg.dots(
        [(systems[i].name, i) for i in order],
        [comparison.means[systems[i].name][measure] for i in order],
        [intervals[measure][systems[i].name] for i in order],
        f"Mean {measure} with {100 * (1 - comparison.level):g} % intervals",
        f"mean {measure} of {len(comparison.query_ids) - comparison.undefined[measure]:,} queries",
    )
    words = "".join(f"<p>{one}</p>" for one in told if one)
    first = verdict.headline_html(verdict.headline(best.name, duels, comparison, baseline, better))
    return (
        f'<div class="answer"><div>{first}{words}'
        f"{verdict.how_sure(duels, comparison, baseline)}<h3>What to do next</h3><ul>{steps}</ul></div>{chart}</div>"
    )


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
    return f'<a href="{escape(address)}">{escape(svg.cut(qid + text, 40))}</a> ({signed(difference, 3)})'


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
        return f"It is at least as good as {escape(rival)} on every segment."
    shown = ", ".join(f"{escape(name)} ({signed(mean)}, {n:,} queries)" for name, mean, n in behind[:MOST_NAMES])
    return f"It is behind {escape(rival)} on these segments: {shown}."


def _leaks(data: Dataset, best: System, comparison: Comparison) -> list[str]:
    """Return a warning if a feature alone is nearly as good as the best model."""
    if best.model is None:
        return []
    measure = comparison.measures[0]
    mean = comparison.means[best.name][measure]
    told = single_feature(data, mean, measure, comparison.convention, best.model.feature_names)
    return [] if told is None else [f"<strong>Warning:</strong> {escape(told)}."]


def _next_steps(
    systems: Sequence[System],
    best: System,
    comparison: Comparison,
    duels: Sequence[Duel],
    better: Duel | None,
    diagnosis: Diagnosis,
    trial: Trial | None,
    ends: Sequence[str],
) -> list[str]:
    steps = []
    errors, warned = len(diagnosis.of("error")), len(diagnosis.of("warning"))
    if errors:
        steps.append(f'Fix the data first: <a href="#data">the doctor found {counted(errors, "error", "errors")}</a>.')
    thin = {name: one.judged_at_10 for name, one in comparison.coverage.items() if one.judged_at_10 < ENOUGH_JUDGED}
    if thin:
        shares = ", ".join(f"{escape(name)} {share:.0%}" for name, share in list(thin.items())[:MOST_NAMES])
        steps.append(
            f'Judge more documents: <a href="#judgements">of the ten best of a query only these shares are judged</a> '
            f"({shares}), and the others count as not relevant."
        )
    if better is not None:
        steps.append(
            f"Do not take {strong(better.rival)} because of this table: choose again on more validation queries. "
            f"{command('argrank cv DATA')} validates on all of them."
        )
    if duels and not duels[0].sure:
        steps += _when_unsure(systems, best, duels, comparison)
    if ends:
        places = verdict.names_of([one.partition(":")[0] for one in ends])
        steps.append(f'Widen the grid of {places}: <a href="#training">a chosen value lies at its end</a>.')
    if warned:
        steps.append(f'Look at <a href="#data">the {counted(warned, "warning", "warnings")} of the doctor</a>.')
    if trial is not None and trial.best is not None:
        steps.append(
            f"Train the chosen ranker on all data with {command('argrank cv DATA --save model.json')}, and take it to "
            "a search engine with "
            f"{command('argrank export model.json --to opensearch -o deploy --check DATA --strict')}."
        )
    elif len(systems) > 1:
        cv = command("argrank cv")
        steps.append(f"Choose between systems on other queries than those you report, as {cv} does.")
    if duels:
        steps.append('Read the queries it loses: <a href="#queries">every query, side by side</a>.')
    return steps


def _when_unsure(systems: Sequence[System], best: System, duels: Sequence[Duel], comparison: Comparison) -> list[str]:
    """Return what helps if the best is not significantly better: more queries, or the cheaper system."""
    found, measure, duel = [], comparison.measures[0], duels[0]
    wanted = abs(duel.difference)
    known = power_of_pair(comparison, measure, best.name, duel.rival, wanted, comparison.level, CHANCE, 0)
    if math.isfinite(known.smallest):
        text = (
            f"These {known.n_queries:,} queries show a difference to {escape(duel.rival)} with a chance of "
            f"{100 * CHANCE:g} % only if it is {known.smallest:.4f} or more"
        )
        if wanted > 0 and known.needed is not None and known.n_queries < known.needed < 1e6:
            text += f"; one of {wanted:.4f}, as seen here, takes about {_round(known.needed):,} judged queries"
        found.append(f"{text}. {command('argrank compare … --power')} says how many another difference takes.")
    level = {duel.rival for duel in duels if not duel.sure}
    timed = {one.name: one.seconds for one in systems if one.seconds and (one.name in level or one is best)}
    if best.name in timed and len(timed) > 1:
        fastest = min(timed, key=lambda name: timed[name])
        if timed[fastest] < 0.5 * timed[best.name]:
            found.append(
                f"{strong(fastest)} is not significantly worse and trains faster: {timed[fastest]:.2g} s instead of "
                f"{timed[best.name]:.2g} s."
            )
    return found


def _round(n: int) -> int:
    """Return a number rounded up to two digits."""
    step = int(10 ** max(len(str(n)) - 2, 0))
    return -(-n // step) * step
