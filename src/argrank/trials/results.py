"""The results of an experiment: runs, means over folds, checks of expected figures, and tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from argrank._declared import checked
from argrank._json import json_value
from argrank._results import Framed
from argrank._tables import Cell, Table, heading, measure_text, parameters_text, render, table
from argrank._types import Floats
from argrank._version import __version__
from argrank.evaluation.compare import compare_evaluations
from argrank.evaluation.comparison import Comparison
from argrank.evaluation.result import Evaluation
from argrank.measures.conventions import Convention, make_convention
from argrank.measures.names import measure
from argrank.rankers.optimised import together
from argrank.trials.config import Config, DataSpec, Expected
from argrank.trials.engine import Run
from argrank.trials.grid import Params
from argrank.trials.select import Point
from argrank.trials.trial import folds_table

ROUNDING = 1e-12  # tolerance for rounding of a figure exactly at the end of its range


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
        return dict(json_value(record))

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
    """An expected figure and the result."""

    expected: Expected
    got: float

    @property
    def difference(self) -> float:
        """The result minus the expected figure."""
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
class Results(Framed):
    """All runs of an experiment; ``computed`` of them were not stored before."""

    config: Config
    runs: tuple[RunResult, ...]
    computed: int

    @checked
    def of(self, data: str, ranker: str) -> list[RunResult]:
        """Return the runs of a ranker on a data set, by fold."""
        return [run for run in self.runs if (run.data, run.ranker) == (data, ranker)]

    @checked
    def mean(self, data: str, ranker: str, measure: str) -> float:
        """Return the mean over folds of a measure."""
        return math.fsum(values := [run.means[measure] for run in self.of(data, ranker)]) / len(values)

    @property
    def checks(self) -> list[Check]:
        """The expected figures, in the order of the configuration."""
        return [Check(one, self.mean(one.data, one.ranker, one.measure)) for one in self.config.expected]

    @property
    def failures(self) -> list[Check]:
        """The checks that are out of range."""
        return [check for check in self.checks if not check.holds]

    @cached_property
    def comparisons(self) -> dict[str, Comparison]:
        """By data set the paired tests between all rankers, over the queries of all folds; none for a single ranker."""
        config = self.config
        if len(config.rankers) < 2:
            return {}
        return {
            data.name: self._compared({one.name: self.of(data.name, one.name) for one in config.rankers}, data)
            for data in config.data
        }

    @cached_property
    def fold_comparisons(self) -> dict[str, dict[int, Comparison]]:
        """By data set and fold the paired tests within the fold; none where the data set has one fold."""
        found = {}
        for data in self.config.data if len(self.config.rankers) > 1 else ():
            runs = {one.name: self.of(data.name, one.name) for one in self.config.rankers}
            if len(data.folds) > 1:
                found[data.name] = {
                    fold: self._compared({name: own[place : place + 1] for name, own in runs.items()}, data)
                    for place, fold in enumerate(data.folds)
                }
        return found

    def _compared(self, runs: Mapping[str, Sequence[RunResult]], data: DataSpec) -> Comparison:
        config = self.config
        rules = make_convention(config.convention_of(data))
        found = {name: pooled(own, config.measures, rules) for name, own in runs.items()}
        return compare_evaluations(found, baseline=config.baseline, test=config.test, correction=config.correction)

    @checked
    def render(self, format: str) -> str:  # noqa: A002 (as elsewhere)
        """Return all tables as "text", "markdown", "latex" or "html"."""
        return results_text(self, format)

    def to_markdown(self) -> str:
        """Return all tables as Markdown."""
        return self.render("markdown")

    def to_latex(self) -> str:
        """Return all tables as LaTeX tabulars; no package is needed."""
        return self.render("latex")

    def columns(self) -> dict[str, list[Any]]:
        """Return every run by column: data, fold, ranker, what was chosen, the measures."""
        runs, config = self.runs, self.config
        return {
            "data": [run.data for run in runs],
            "fold": [run.fold for run in runs],
            "ranker": [run.ranker for run in runs],
            "chosen": [parameters_text(run.params) for run in runs],
            f"validation {config.select_by}": [run.validation for run in runs],
            **{name: [run.means[name] for run in runs] for name in config.measures},
            "seconds": [run.seconds for run in runs],
        }

    def __repr__(self) -> str:
        return self.render("text")


def pooled(runs: Sequence[RunResult], measures: Sequence[str], rules: Convention) -> Evaluation:
    """Return a ranker's values on the queries of some folds as one evaluation; its means are means over folds."""
    ids = [qid for run in runs for qid in run.query_ids]
    query_ids = np.empty(len(ids), object)
    query_ids[:] = ids
    return Evaluation(
        means={name: math.fsum(run.means[name] for run in runs) / len(runs) for name in measures},
        values={name: np.concatenate([run.values[name] for run in runs]) for name in measures},
        query_ids=query_ids,
        undefined={name: sum(run.undefined[name] for run in runs) for name in measures},
        zero_filled={},
        n_tied=0,
        convention=rules,
        bounds={name: measure(name).bounds for name in measures},
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def means_table(results: Results, data: str) -> Table:
    """Return rankers x measures, the mean over folds, the best of each measure marked, with letters of tests."""
    config, tested = results.config, results.comparisons.get(data)
    rankers = [ranker.name for ranker in config.rankers]
    found = {name: [results.mean(data, ranker, name) for ranker in rankers] for name in config.measures}
    letters = {name: {} if tested is None else tested.letters(name) for name in config.measures}
    rows = [
        (
            *(() if tested is None else (tested.letter_of(ranker),)),
            ranker,
            *(
                Cell(measure_text(found[m][place]), found[m][place] == max(found[m]), letters[m].get(ranker, ""))
                for m in config.measures
            ),
        )
        for place, ranker in enumerate(rankers)
    ]
    names = (data,) if tested is None else ("", data)
    return table((*names, *config.measures), rows, len(names))


def expected_table(results: Results) -> Table:
    """Return the expected figures with the results."""
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
    """Return the whole report as "text", "markdown", "latex" or "html"."""
    config = results.config
    means = [means_table(results, data.name) for data in config.data]
    by_data = {data.name: {one.name: results.of(data.name, one.name) for one in config.rankers} for data in config.data}
    folds = [folds_table(name, runs, config, results.fold_comparisons.get(name)) for name, runs in by_data.items()]
    parts = [f"{heading(format, config.title)}\n\n{render(format, means, _how(results))}"]
    if results.comparisons:
        first = config.select_by if config.select_by in config.measures else config.measures[0]
        pairs = [found.pairs_table([first]) for found in results.comparisons.values()]
        told = f"Pairs by {first}, over the queries of all folds; results.json has every measure."
        parts.append(render(format, pairs, [told]))
    within = "Letters: rankers that are significantly worse within the fold."
    parts.append(render(format, folds, [*([within] if results.fold_comparisons else []), *_notes(results)]))
    if config.expected:
        failures = len(results.failures)
        verdict = "All expected figures hold." if not failures else f"{failures} expected figures are out of range."
        parts.append(render(format, [expected_table(results)], [verdict]))
    return "\n\n".join(part.rstrip() for part in parts)


def _how(results: Results) -> list[str]:
    """Return sentences on how the figures were computed."""
    config = results.config
    own = "".join(f", of {data.name} {data.convention}" for data in config.data if data.convention)
    fixed = [ranker.name for ranker in config.rankers if not ranker.grid]
    chosen = "parameters as given"
    if len(fixed) < len(config.rankers):
        chosen = f"parameters chosen by validation {config.select_by}"
        chosen += f", of {', '.join(fixed)} as given" if fixed else ""
    how = [
        f"Mean over folds; best of each measure marked. Convention {config.convention}{own}; {chosen}; argrank "
        f"{__version__}."
    ]
    tested = next(iter(results.comparisons.values()), None)
    if tested is not None:
        how.append(
            f"Letters: the rankers that are significantly worse ({tested.level:g}). {tested.test_text}, over the "
            "queries of all folds."
        )
    told = together({one.name: one.optimised(config.measures[0]) for one in config.rankers}, config.measures[0])
    return how if told is None else [*how, told]


def _notes(results: Results) -> list[str]:
    notes = [f"{run.data}, {run.ranker}, fold {run.fold}: {note}" for run in results.runs for note in run.notes]
    for data in results.config.data:
        runs = results.of(data.name, results.config.rankers[0].name)  # undefined queries depend only on the data
        lacking = {name: sum(run.undefined[name] for run in runs) for name in results.config.measures}
        words = ", ".join(f"{name} {count}" for name, count in lacking.items() if count)
        if words:
            notes.append(
                f"{data.name}: undefined for some of {sum(len(run.query_ids) for run in runs)} queries: {words}"
            )
    return notes
