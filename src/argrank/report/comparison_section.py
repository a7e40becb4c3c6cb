"""The report's comparison: means with intervals, tests, wins and losses, curves, time against quality, segments."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._tables import Cell, Table, measure_text, table, to_html
from argrank.evaluation.comparison import Comparison
from argrank.evaluation.intervals import TOO_FEW
from argrank.evaluation.segments import groups, interval_text
from argrank.evaluation.systems import Coverage
from argrank.measures.conventions import Convention
from argrank.report import svg
from argrank.report.figures import measure_curves
from argrank.report.svg import escape
from argrank.report.verdict import Intervals
from argrank.trials.system import System

CUTOFFS = tuple(range(1, 11))
PAIR_COLUMNS = (
    "measure", "system", "against", "difference", "interval", "p", "p corrected", "effect", "wins", "ties", "losses",
)  # fmt: skip
TINY = 0.0001


def comparison_section(
    scores: Mapping[str, Any],
    data: Any,
    systems: Sequence[System],
    best: System,
    comparison: Comparison,
    intervals: Intervals,
    convention: str | Convention,
    choices: Sequence[str] = (),
) -> str:
    """Return the section as HTML; ``scores`` and ``data`` as ``ar.evaluate`` takes them, runs and judgements too.

    ``choices`` are a trial's sentences on how its rankers were chosen.
    """
    names = [system.name for system in systems]
    curves = [
        svg.Series(name, CUTOFFS, values.tolist(), number)
        for number, (name, values) in enumerate(measure_curves(scores, data, "ndcg", CUTOFFS, convention).items())
    ]
    charts = svg.lines(curves, "NDCG at every cut-off", "cut-off k (documents)", "mean NDCG@k")
    timed = {one.name: one.seconds for one in systems if one.seconds}
    if len(timed) > 1:
        first, title = comparison.measures[0], "Time against quality"
        heights = [comparison.means[name][first] for name in timed]
        charts += svg.points([*timed], [*timed.values()], heights, title, "training, seconds", f"mean {first}")
    parts = [_means(systems, comparison, intervals), svg.legend(names), f'<div class="charts">{charts}</div>']
    if comparison.coverage:
        parts.append(_coverage(comparison))
    parts.append(segments_section(comparison, best.name))
    if len(names) > 1:
        parts += [_matrix(comparison, name) for name in comparison.measures]
        parts.append(_pairs(comparison))
    told = comparison.footer if len(names) > 1 else [f"Convention {comparison.convention}.", *comparison.notes]
    notes = "".join(f"<li>{escape(note)}</li>" for note in (*choices, *told))
    return f'{"".join(parts)}<details><summary>How this was done</summary><ul class="notes">{notes}</ul></details>'


def _means(systems: Sequence[System], comparison: Comparison, intervals: Intervals) -> str:
    letters = {name: comparison.letters(name) for name in comparison.measures}
    best = {name: max(comparison.means[one][name] for one in comparison.systems) for name in comparison.measures}
    timed = any(system.seconds for system in systems)
    rows = []
    for number, system in enumerate(systems):
        cells = []
        for name in comparison.measures:
            mean, (low, high) = comparison.means[system.name][name], intervals[name][system.name]
            text = f"<strong>{mean:.4f}</strong>" if mean == best[name] else f"{mean:.4f}"
            raised = f"<sup>{escape(letters[name][system.name])}</sup>" if letters[name][system.name] else ""
            words = TOO_FEW if low != low else f"{low:.4f} to {high:.4f}"
            span = f'<br><span class="aside">{words}</span>'
            cells.append(f"<td>{text}{raised}{span}</td>")
        seconds = f"<td>{system.seconds:.2f}</td>" if system.seconds else "<td>-</td>"
        cells += [seconds] * timed
        letter = comparison.letter_of(system.name)
        rows.append(
            f'<tr><td>{letter}</td><th scope="row"><span class="swatch c{number % svg.N_COLOURS}"></span>'
            f"{escape(system.name)}</th>{''.join(cells)}</tr>"
        )
    head = "".join(f"<th>{escape(name)}</th>" for name in comparison.measures) + "<th>seconds</th>" * timed
    return (
        f'<div class="scroll"><table id="means"><thead><tr><td></td><th>system</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>{_letters_explained(comparison)}"
    )


def _letters_explained(comparison: Comparison) -> str:
    if len(comparison.systems) < 2:
        return ""
    return (
        '<p class="aside">Bold: the highest mean of the column. Raised letters: the systems, by the letter of their '
        "row, that are significantly worse. Below each mean: its "
        f"{100 * (1 - comparison.level):g} % interval.</p>"
    )


def _coverage(comparison: Comparison) -> str:
    """Return how many documents of each run are judged."""
    titles = [part.name for part in dataclasses.fields(Coverage)]
    rows = [
        (name, *(measure_text(one) if isinstance(one, float) else f"{one:,}" for one in dataclasses.astuple(found)))
        for name, found in comparison.coverage.items()
    ]
    found = to_html([table(("run", *(title.replace("_", " ") for title in titles)), rows)])
    return f'<h3 id="judgements">Documents and judgements</h3><div class="scroll" id="coverage">{found}</div>'


def _matrix(comparison: Comparison, measure: str) -> str:
    """Return the table of wins and losses of every pair, with significant ones marked."""
    against: dict[tuple[str, str], tuple[int, int, bool]] = {}
    for pair in comparison.pairs:
        if pair.measure == measure:
            sure = pair.p_corrected <= comparison.level
            against[pair.a, pair.b] = (pair.wins, pair.losses, sure and pair.difference > 0)
            against[pair.b, pair.a] = (pair.losses, pair.wins, sure and pair.difference < 0)
    head = "".join(f"<th>{escape(name)}</th>" for name in comparison.systems)
    rows = "".join(
        f'<tr><th scope="row">{escape(a)}</th>'
        f"{''.join(_duel(against.get((a, b)), a, b) for b in comparison.systems)}</tr>"
        for a in comparison.systems
    )
    return (
        f"<details><summary>Wins and losses, {escape(measure)}</summary>"
        f"<p>Queries that the system of the row wins / loses against that of the column; "
        f"marked where it is significantly better.</p>"
        f'<div class="scroll"><table class="duels"><thead><tr><td></td>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
        "</details>"
    )


def _duel(found: tuple[int, int, bool] | None, a: str, b: str) -> str:
    if found is None:
        return '<td class="aside">·</td>' if a == b else '<td class="aside">not compared</td>'
    wins, losses, better = found
    return f'<td class="{"better" if better else ""}">{wins:,} / {losses:,}{" ✓" if better else ""}</td>'


def _pairs(comparison: Comparison) -> str:
    rows = "".join(
        f"<tr><td>{escape(pair.measure)}</td><td>{escape(pair.a)}</td><td>{escape(pair.b)}</td>"
        f"<td>{pair.difference:+.4f}</td><td>{comparison.interval_text(pair)}</td>"
        f"<td>{_p(pair.p_value)}</td>"
        f'<td class="{"better" if pair.p_corrected <= comparison.level else ""}">{_p(pair.p_corrected)}</td>'
        f"<td>{pair.effect_size:+.2f}</td><td>{pair.wins:,}</td><td>{pair.ties:,}</td><td>{pair.losses:,}</td></tr>"
        for pair in comparison.pairs
    )
    head = "".join(f"<th>{name}</th>" for name in PAIR_COLUMNS)
    return (
        f"<details><summary>Every pair: differences, intervals, tests</summary>"
        f'<div class="scroll"><table class="names3"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
        f"</details>"
    )


def _p(value: float) -> str:
    return f"&lt;{TINY}" if value < TINY else f"{value:.4f}"


def segments_section(comparison: Comparison, best: str) -> str:
    """Return the tabs; an empty text without segments."""
    if comparison.segment_of is None:
        return ""
    tabs, panels = [], []
    for number, (name, own) in enumerate(groups(comparison.segment_of)):
        tabs.append(
            f'<button type="button" role="tab" id="tab-{number}" aria-controls="panel-{number}" '
            f'aria-selected="{"true" if number == 0 else "false"}">{escape(name)}</button>'
        )
        found = to_html([_table(comparison, best, own)])
        panels.append(
            f'<div role="tabpanel" id="panel-{number}" aria-labelledby="tab-{number}"><p>{escape(name)}: '
            f'{int(own.sum()):,} queries</p><div class="scroll">{found}</div></div>'
        )
    note = f"Wins and losses against {escape(best)} by {escape(comparison.measures[0])}; intervals are not corrected."
    return (
        f'<h3 id="segments">Segments</h3><div class="tabs"><div role="tablist" aria-label="Segments">'
        f"{''.join(tabs)}</div>"
        f'{"".join(panels)}</div><p class="aside">{note}</p>'
    )


def _table(comparison: Comparison, best: str, own: NDArray[np.bool_]) -> Table:
    found = {system: {m: comparison.mean(system, m, own) for m in comparison.measures} for system in comparison.systems}
    highest = {m: max(found[system][m][1] for system in comparison.systems) for m in comparison.measures}
    rows = []
    for system in comparison.systems:
        cells = [
            Cell(
                interval_text(mean, low, high) if len(comparison.measures) < 3 else measure_text(mean),
                mean == highest[m],
            )
            for m, (_, mean, low, high) in found[system].items()
        ]
        if len(comparison.systems) > 1:
            differences = comparison.differences(comparison.measures[0], system, best)[own]
            wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
            cells.append(Cell("" if system == best else f"{wins:,} / {losses:,}"))
        rows.append((Cell(system), *cells))
    titles = ("system", *comparison.measures, *(("wins / losses",) if len(comparison.systems) > 1 else ()))
    return Table(titles, tuple(rows), 1)
