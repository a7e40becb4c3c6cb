"""What an experiment found: the runs, their means over folds, and the figures that had to come out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from argrank._json import json_value
from argrank._types import Floats
from argrank.trials.config import Config, Expected
from argrank.trials.engine import Run
from argrank.trials.grid import Params
from argrank.trials.select import Point

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
        plain: dict[str, Any] = json_value(record)
        return plain

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
        from argrank.trials.experiment_tables import results_text

        return results_text(self, "text")


def _number(value: float | None) -> float:
    return math.nan if value is None else value
