"""Segments of queries as tabs: one small table for each, all of them where there is no script."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from argrank._tables import Cell, Table, measure_text, to_html
from argrank.evaluation.comparison import Comparison
from argrank.evaluation.segments import groups, interval_text
from argrank.report.svg import escape


def segments_section(comparison: Comparison, best: str) -> str:
    """Return the tabs; nothing where the queries are not in segments."""
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
