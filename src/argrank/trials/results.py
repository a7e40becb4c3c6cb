"""What an experiment found: the runs, their means over folds, the figures that had to come out, and their tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from argrank._json import json_value
from argrank._tables import Cell, Table, measure_text, plain, render, table
from argrank._types import Floats
from argrank._version import __version__
from argrank.trials.config import Config, Expected
from argrank.trials.engine import Run
from argrank.trials.grid import Params
from argrank.trials.select import Point
from argrank.trials.trial import folds_table

ROUNDING = 1e-12  # a figure exactly at the end of its range is inside, also where a sum was rounded


@dataclass(frozen=True, eq=False)
class RunResult:
    """One ranker in one fold of one data set."""

    data: str
    fold: int
    ranker: str
    params: Params
    validation: float
    points: tuple[Point, ...]
    means: dict[str, float]
    undefined: dict[str, int]
    query_ids: list[Any]
    values: dict[str, Floats]
    scores: Floats
    notes: tuple[str, ...]
    seconds: float

    @staticmethod
    def record(run: Run) -> dict[str, Any]:
        """Return a run as plain data for its file."""
        record = {
            "params": run.params,
            "validation": run.validation,
            "points": [asdict(point) for point in run.points],
            "means": run.means,
            "undefined": run.test.undefined,
            "query_ids": run.test.query_ids,
            "values": run.test.values,
            "scores": run.scores,
            "notes": run.notes,
            "seconds": run.seconds,
        }
        found: dict[str, Any] = json_value(record)
        return found

    @staticmethod
    def of(data: str, fold: int, ranker: str, record: Mapping[str, Any]) -> RunResult:
        """Return the run that a file describes."""
        points = tuple(
            Point(one["params"], _number(one["value"]), _number(one["objective"]), one["seconds"], one["error"])
            for one in record["points"]
        )
        return RunResult(
            data=data,
            fold=fold,
            ranker=ranker,
            params=record["params"],
            validation=_number(record["validation"]),
            points=points,
            means={name: _number(value) for name, value in record["means"].items()},
            undefined=record["undefined"],
            query_ids=record["query_ids"],
            values={name: np.array([_number(one) for one in column]) for name, column in record["values"].items()},
            scores=np.array(record["scores"], np.float64),
            notes=tuple(record["notes"]),
            seconds=record["seconds"],
        )


@dataclass(frozen=True)
class Check:
    """An expected figure and what came out."""

    expected: Expected
    got: float

    @property
    def difference(self) -> float:
        """What came out minus what was expected."""
        return self.got - self.expected.value

    @property
    def holds(self) -> bool:
        """Whether the figure lies in its range."""
        return abs(self.difference) <= self.expected.tolerance + ROUNDING

    def __str__(self) -> str:
        one = self.expected
        range_ = f"{one.value:g} ± {one.tolerance:g}"
        return f"{one.data}, {one.ranker}, {one.measure}: expected {range_}, got {self.got:.6f}"


@dataclass(frozen=True, repr=False)
class Results:
    """All runs of an experiment; ``computed`` of them were not there yet."""

    config: Config
    runs: tuple[RunResult, ...]
    computed: int

    def of(self, data: str, ranker: str) -> list[RunResult]:
        """Return the runs of a ranker on a data set, by fold."""
        return [run for run in self.runs if (run.data, run.ranker) == (data, ranker)]

    def mean(self, data: str, ranker: str, measure: str) -> float:
        """Return the mean over folds of a measure."""
        return math.fsum(values := [run.means[measure] for run in self.of(data, ranker)]) / len(values)

    @property
    def checks(self) -> list[Check]:
        """The expected figures, in the order of the configuration."""
        return [Check(one, self.mean(one.data, one.ranker, one.measure)) for one in self.config.expected]

    @property
    def failures(self) -> list[Check]:
        """Those that left their range."""
        return [check for check in self.checks if not check.holds]

    def __repr__(self) -> str:
        return results_text(self, "text")


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def means_table(results: Results, data: str) -> Table:
    """Return rankers x measures, the mean over folds, the best of each measure marked."""
    config = results.config
    rankers = [ranker.name for ranker in config.rankers]
    found = {name: [results.mean(data, ranker, name) for ranker in rankers] for name in config.measures}
    rows = [
        (ranker, *(Cell(measure_text(found[m][place]), found[m][place] == max(found[m])) for m in config.measures))
        for place, ranker in enumerate(rankers)
    ]
    return table((data, *config.measures), rows)


def expected_table(results: Results) -> Table:
    """Return the expected figures with what came out."""
    rows = [
        (
            check.expected.data,
            check.expected.ranker,
            check.expected.measure,
            "yes" if check.holds else "NO",
            check.expected.source or "-",
            f"{check.expected.value:.4f}",
            f"{check.expected.tolerance:g}",
            f"{check.got:.6f}",
            f"{check.difference:+.6f}",
        )
        for check in results.checks
    ]
    header = ("data", "ranker", "measure", "holds", "source", "expected", "tolerance", "got", "difference")
    return table(header, rows, 5)


def results_text(results: Results, format: str) -> str:  # noqa: A002 (as elsewhere)
    """Return the whole report as "text" or "markdown"."""
    config = results.config
    title = f"{'# ' if format == 'markdown' else ''}{plain(config.title)}\n\n"
    means = [means_table(results, data.name) for data in config.data]
    by_data = {data.name: {one.name: results.of(data.name, one.name) for one in config.rankers} for data in config.data}
    folds = [folds_table(name, runs, config) for name, runs in by_data.items()]
    own = "".join(f", of {data.name} {data.convention}" for data in config.data if data.convention)
    how = (
        f"Mean over folds; best of each measure marked. Convention {config.convention}{own}; parameters chosen by "
        f"validation {config.select_by}; argrank {__version__}."
    )
    parts = [title + render(format, means, [how]), render(format, folds, _notes(results))]
    if config.expected:
        failures = len(results.failures)
        verdict = "All expected figures hold." if not failures else f"{failures} expected figures left their range."
        parts.append(render(format, [expected_table(results)], [verdict]))
    return "\n\n".join(part.rstrip() for part in parts)


def _notes(results: Results) -> list[str]:
    notes = [f"{run.data}, {run.ranker}, fold {run.fold}: {note}" for run in results.runs for note in run.notes]
    for data in results.config.data:
        runs = results.of(data.name, results.config.rankers[0].name)  # which queries lack a value, the data decides
        lacking = {name: sum(run.undefined[name] for run in runs) for name in results.config.measures}
        words = ", ".join(f"{name} {count}" for name, count in lacking.items() if count)
        if words:
            notes.append(
                f"{data.name}: undefined for some of {sum(len(run.query_ids) for run in runs)} queries: {words}"
            )
    return notes
