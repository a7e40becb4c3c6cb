"""The report's training section: objective, gap, slack and validation by iteration; choice of C, path over C."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from argrank.report import svg
from argrank.trials.path import Path
from argrank.trials.system import System

#: Column of a trace -> title and name of its axis.
COLUMNS = {
    "objective": ("Objective", "share of the first"),
    "gap": ("Gap to the optimum", "share of the objective"),
    "average_slack": ("Average slack", "average slack"),
    "validation": ("Validation by iteration", "measure"),
}


def training_section(systems: Sequence[System], paths: Mapping[str, Path]) -> str:
    """Return the section as HTML; empty where nothing was recorded."""
    charts = "".join(_trace_chart(systems, column) for column in COLUMNS) + _validated_chart(systems)
    legend = svg.legend([system.name for system in systems]) if charts else ""
    curves = f'{legend}<div class="charts">{charts}</div>' if charts else ""
    return curves + "".join(_path_charts(name, path) for name, path in paths.items())


def _trace_chart(systems: Sequence[System], column: str) -> str:
    series = []
    for number, system in enumerate(systems):
        trace = system.trace or {}
        values = trace.get(column, [])
        if column == "objective" and values:
            values = [value / values[0] if values[0] else math.nan for value in values]
        if column == "gap" and values:
            values = [gap / total if total else math.nan for gap, total in zip(values, trace["objective"], strict=True)]
        if len(values) > 1:
            series.append(svg.Series(system.name, list(range(1, len(values) + 1)), values, number))
    if not series:
        return ""
    title, axis = COLUMNS[column]
    return svg.lines(series, title, "iteration", axis, log_x=True, log_y=column == "gap")


def _validated_chart(systems: Sequence[System]) -> str:
    """Return the validation measure against the C that were tried."""
    series = [
        svg.Series(system.name, [C for C, _ in system.validated], [value for _, value in system.validated], number)
        for number, system in enumerate(systems)
        if len(system.validated) > 1
    ]
    return svg.lines(series, "Choosing C on validation queries", "C", "measure", log_x=True) if series else ""


def _path_charts(name: str, path: Path) -> str:
    ratio = [point.objective / point.objective_at_zero for point in path.points]
    columns = {
        "Objective / objective at w = 0": ratio,
        "|w|": [point.norm for point in path.points],
        "Average slack": [point.average_slack for point in path.points],
        f"Validation {path.measure}": [point.value for point in path.points],
    }
    cs = path.C.tolist()
    charts = "".join(
        svg.lines([svg.Series(name, cs, values)], title, "C", title, log_x=True, log_y=title == "|w|")
        for title, values in columns.items()
        if any(math.isfinite(value) for value in values)
    )
    return f'<h3>{svg.escape(name)} against C</h3><div class="charts">{charts}</div>'
