"""The report's training section: objective, gap, slack and validation by iteration; choice of C, path over C."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from argrank._tables import number_text
from argrank.models.model import Stayed
from argrank.report import svg
from argrank.trials.grid import borders
from argrank.trials.path import Path
from argrank.trials.system import System
from argrank.trials.trial import Trial

#: Column of a trace -> title and name of its axis.
COLUMNS = {
    "objective": ("Objective", "objective, share of the first"),
    "gap": ("Gap to the optimum", "duality gap, share of the objective"),
    "average_slack": ("Average slack", "average slack a query"),
    "validation": ("Validation by iteration", "measure on validation queries"),
}


def training_section(
    systems: Sequence[System], paths: Mapping[str, Path], chosen_by: str = "measure", ends: Sequence[str] = ()
) -> str:
    """Return the section as HTML; empty if nothing was recorded. ``chosen_by`` is the measure that chose C."""
    charts = _validated_chart(systems, chosen_by) + "".join(_trace_chart(systems, column) for column in COLUMNS)
    legend = svg.legend([system.name for system in systems]) if charts else ""
    curves = f'{legend}<div class="charts">{charts}</div>' if charts else ""
    told = "".join(f"<li>{svg.escape(one)}</li>" for one in (*ends, *_stays(systems)))
    return (
        (f'<ul class="notes">{told}</ul>' if told else "")
        + curves
        + "".join(_path_charts(name, path) for name, path in paths.items())
    )


def _stays(systems: Sequence[System]) -> list[str]:
    """Return which models are those of another method, or near it; for several folds the trial's notes say it."""
    found = {system.name: Stayed.of(system.model.training) for system in systems if system.model is not None}
    return [f"{name} {stayed}." for name, stayed in found.items() if stayed is not None]


def _trace_chart(systems: Sequence[System], column: str) -> str:
    series = []
    for number, system in enumerate(systems):
        trace = system.trace or {}
        values = trace.get(column, [])
        if values and column in ("objective", "gap"):
            totals = [values[0]] * len(values) if column == "objective" else trace["objective"]
            values = [value / total if total else math.nan for value, total in zip(values, totals, strict=True)]
        if len(values) > 1:
            series.append(svg.Series(system.name, list(range(1, len(values) + 1)), values, number))
    if not series:
        return ""
    title, axis = COLUMNS[column]
    return svg.lines(series, title, "iteration", axis, log_x=True, log_y=column == "gap")


def ends_of_grids(trial: Trial | None) -> list[str]:
    """Return which chosen values are the first or last of those tried, so that better ones may lie beyond."""
    found: dict[tuple[str, str, str, str], int] = {}
    for name, runs in {} if trial is None else trial.folds.items():
        for run in runs:
            for parameter, side in borders(run.params, [point.params for point in run.points]).items():
                key = (name, parameter, number_text(run.params[parameter]), side)
                found[key] = found.get(key, 0) + 1
    said = []
    for (name, parameter, value, side), n in found.items():
        word, where = ("smallest", "smaller") if side == "below" else ("largest", "larger")
        folds = "" if trial is None or trial.n_folds == 1 else f" in {n} of {trial.n_folds} folds"
        said.append(f"{name}: the chosen {parameter}, {value}, is the {word} that was tried{folds}. Try {where} ones.")
    return said


def _validated_chart(systems: Sequence[System], chosen_by: str) -> str:
    """Return the validation measure against the C that were tried."""
    series = [
        svg.Series(system.name, [C for C, _ in system.validated], [value for _, value in system.validated], number)
        for number, system in enumerate(systems)
        if len(system.validated) > 1
    ]
    return svg.lines(series, "Choosing C on validation queries", "C", f"mean {chosen_by}", log_x=True) if series else ""


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
