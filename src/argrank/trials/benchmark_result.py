"""What a benchmark found, and how it is shown."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import argrank
from argrank.data.dataset import Dataset
from argrank.data.doctor.diagnosis import Diagnosis
from argrank.errors import unknown_name
from argrank.evaluation import rendering
from argrank.evaluation.compare import compare
from argrank.evaluation.comparison import Comparison
from argrank.evaluation.evaluate import evaluate
from argrank.evaluation.rendering import Cell, Table
from argrank.measures.conventions import Convention
from argrank.trials.cells import four, plain_value, plain_values
from argrank.trials.grid import is_number
from argrank.trials.protocol import Run
from argrank.trials.system import System


@dataclass(frozen=True, eq=False)
class Entry:
    """One ranker: as a system with scores for every query, and its run in every fold."""

    system: System
    runs: tuple[Run, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Benchmark:
    """Rankers compared on queries that they never saw; made by ``ar.benchmark``.

    Attributes
    ----------
    data : Dataset
        What was tested on.
    entries : dict of ranker -> Entry
        Its ``system`` has scores and models, its ``runs`` the parameters chosen and the fitted rankers, fold by fold.
    measures : tuple of names
    diagnosis : Diagnosis
        What the doctor found in the data.
    notes : tuple of str
    """

    data: Dataset
    entries: dict[str, Entry]
    measures: tuple[str, ...]
    convention: str | Convention
    n_folds: int
    diagnosis: Diagnosis
    notes: tuple[str, ...]

    @property
    def systems(self) -> dict[str, System]:
        """The rankers as systems, as ``ar.write_report`` takes them."""
        return {name: entry.system for name, entry in self.entries.items()}

    @cached_property
    def comparison(self) -> Comparison | None:
        """The paired tests between all rankers; None for a single one."""
        if len(self.entries) < 2:
            return None
        scores = {name: self.data.to_caller(one.scores) for name, one in self.systems.items()}
        return compare(scores, self.data, list(self.measures), convention=self.convention)

    @cached_property
    def means(self) -> dict[str, dict[str, float]]:
        """``means[ranker][measure]`` over all tested queries."""
        if self.comparison is not None:
            return self.comparison.means
        ((name, one),) = self.systems.items()
        scores = self.data.to_caller(one.scores)
        return {name: dict(evaluate(scores, self.data, list(self.measures), convention=self.convention).means)}

    @property
    def best(self) -> str:
        """The ranker with the best mean of the first measure."""
        return max(self.means, key=lambda name: self.means[name][self.measures[0]])

    def ranker(self, name: str | None = None) -> Any:
        """Return the fitted ranker of a ranker, by default of the best; with folds, that of the first fold."""
        name = self.best if name is None else name
        if name not in self.entries:
            raise unknown_name("ranker of this benchmark", name, self.entries)
        return self.entries[name].runs[0].ranker

    def report(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write the HTML report; options as in ``ar.write_report``."""
        options = {"title": "Benchmark", "diagnosis": self.diagnosis, **options}
        return argrank.write_report(  # by the public name: the report comes after this stage
            path, self.data, self.systems, list(self.measures), convention=self.convention, **options
        )

    def render(self, format: str) -> str:  # noqa: A002 (what the command line calls it)
        """Return the table as "text", "markdown", "latex" or "html"."""
        if format not in rendering.FORMATS:
            raise unknown_name("format", format, rendering.FORMATS)
        return rendering.FORMATS[format]([self._table()], self._footer())

    def to_dict(self) -> dict[str, Any]:
        """Return means, choices and tests as plain data; what is not a number becomes None."""
        return {
            "measures": list(self.measures),
            "n_queries": self.data.n_queries,
            "n_folds": self.n_folds,
            "best": self.best,
            "means": {name: plain_values(means) for name, means in self.means.items()},
            "seconds": {name: plain_value(one.seconds) for name, one in self.systems.items()},
            "chosen": {name: [plain_values(run.params) for run in one.runs] for name, one in self.entries.items()},
            "comparison": None if self.comparison is None else self.comparison.to_dict(),
            "findings": self.diagnosis.to_dict()["findings"],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return self.render("text")

    def _repr_html_(self) -> str:
        return self.render("html")

    def _table(self) -> Table:
        means, comparison = self.means, self.comparison
        best = {name: max(one[name] for one in means.values()) for name in self.measures}
        letters: dict[str, dict[str, str]] = {
            name: {} if comparison is None else comparison.letters(name) for name in self.measures
        }
        rows = tuple(
            (
                Cell("" if comparison is None else comparison.letter_of(name)),
                Cell(name),
                Cell(self._chosen(entry)),
                *(
                    Cell(four(value := means[name][one]), value == best[one], letters[one].get(name, ""))
                    for one in self.measures
                ),
                Cell(f"{entry.system.seconds:.2f}"),
            )
            for name, entry in self.entries.items()
        )
        return Table(("", "ranker", "chosen", *self.measures, "seconds"), rows, 3)

    @staticmethod
    def _chosen(entry: Entry) -> str:
        """Return the parameters that were chosen, every value once."""
        values: dict[str, list[str]] = {}
        for run in entry.runs:
            for name, value in run.params.items():
                text = f"{value:.3g}" if is_number(value) else str(value)
                if text not in values.setdefault(name, []):
                    values[name].append(text)
        return ", ".join(f"{name}={'/'.join(found)}" for name, found in values.items()) or "-"

    def _footer(self) -> list[str]:
        how = f"{self.n_folds} folds" if self.n_folds > 1 else "a held-out part"
        first = (
            f"Best by {self.measures[0]}: {self.best}. {self.data.n_queries:,} queries tested in {how}; parameters "
            f"chosen by {self.measures[0]} on validation queries; seconds: one training at the chosen parameters."
        )
        if self.comparison is None:
            return [first, *self.notes]
        return [
            first,
            "* best of each measure; letters: the rankers that are significantly worse "
            f"(paired t-test, Holm, {self.comparison.level:g}).",
            *self.notes,
        ]
