"""What a cross-validation found, and how it is shown."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import unknown_name
from argrank.evaluation import rendering
from argrank.evaluation.compare import compare
from argrank.evaluation.comparison import Comparison
from argrank.evaluation.evaluate import evaluate
from argrank.evaluation.rendering import Cell, Table
from argrank.measures.conventions import Convention, make_convention
from argrank.models.model import Model
from argrank.trials.cells import four, params_text, plain_value, plain_values
from argrank.trials.grid import Params


@dataclass(frozen=True)
class FoldResult:
    """One system in one fold: what was chosen, its validation value, the means on the test part, and the model."""

    fold: int
    params: Params
    validation: float
    means: dict[str, float]
    n_queries: int
    notes: tuple[str, ...]
    model: Model | None


@dataclass(frozen=True, repr=False)
class CrossValidation:
    """Systems tested on every query once; made by ``ar.cross_validate``.

    Attributes
    ----------
    systems, measures : tuples of names
    folds : dict of system -> tuple of FoldResult
    scores : dict of system -> array
        One score per row of ``data``, given by the fold that tested the row's query. Compare them within a query only.
    data : Dataset
        The data given, or the test parts of the folds given, joined.
    select_by, convention
        How it was done.
    """

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    folds: dict[str, tuple[FoldResult, ...]]
    scores: dict[str, Floats]
    data: Dataset
    select_by: str
    convention: str | Convention

    @property
    def means(self) -> dict[str, dict[str, float]]:
        """``means[system][measure]``, the mean over folds."""
        return {
            system: {name: float(np.mean([result.means[name] for result in results])) for name in self.measures}
            for system, results in self.folds.items()
        }

    @property
    def values(self) -> dict[str, dict[str, Floats]]:
        """``values[system][measure]``, one for each of ``data.query_ids``, NaN where the measure is undefined."""
        return {
            system: dict(evaluate(scores, self.data, list(self.measures), convention=self.convention).values)
            for system, scores in self.scores.items()
        }

    def compare(self, **options: Any) -> Comparison:
        """Compare the systems over all queries with paired tests; options as in ``ar.compare``."""
        return compare(self.scores, self.data, list(self.measures), convention=self.convention, **options)

    def render(self, format: str) -> str:  # noqa: A002 (what the command line calls it)
        """Return the results as "text", "markdown", "latex", "html" or "json"."""
        if format == "json":
            return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
        if format not in rendering.FORMATS:
            raise unknown_name("format", format, [*rendering.FORMATS, "json"])
        return rendering.FORMATS[format]((self._means_table(), self._folds_table()), self._notes())

    def to_dict(self) -> dict[str, Any]:
        """Return means and folds as plain data; what is not a number becomes None."""
        return {
            "systems": list(self.systems),
            "measures": list(self.measures),
            "n_queries": self.data.n_queries,
            "select_by": self.select_by,
            "convention": make_convention(self.convention).name,
            "means": {system: plain_values(means) for system, means in self.means.items()},
            "folds": {
                system: [
                    {
                        "fold": result.fold,
                        "n_queries": result.n_queries,
                        "params": plain_values(result.params),
                        "validation": plain_value(result.validation),
                        "means": plain_values(result.means),
                        "notes": list(result.notes),
                    }
                    for result in results
                ]
                for system, results in self.folds.items()
            },
        }

    def __repr__(self) -> str:
        return self.render("text")

    def _repr_html_(self) -> str:
        return self.render("html")

    def _means_table(self) -> Table:
        means = self.means
        best = {name: max(means[system][name] for system in self.systems) for name in self.measures}
        rows = [
            (Cell(system), *(Cell(four(value := means[system][name]), value == best[name]) for name in self.measures))
            for system in self.systems
        ]
        return Table(("mean of folds", *self.measures), tuple(rows), 1)

    def _folds_table(self) -> Table:
        rows = [
            (
                Cell(system),
                Cell(str(result.fold)),
                Cell(params_text(result.params)),
                Cell(four(result.validation)),
                *(Cell(four(result.means[name])) for name in self.measures),
            )
            for system, results in self.folds.items()
            for result in results
        ]
        return Table(("system", "fold", "chosen", f"validation {self.select_by}", *self.measures), tuple(rows), 3)

    def _notes(self) -> list[str]:
        found = [
            f"{system}, fold {result.fold}: {note}"
            for system, results in self.folds.items()
            for result in results
            for note in result.notes
        ]
        return [
            f"{self.data.n_queries:,} queries, each tested once; convention {make_convention(self.convention).name}.",
            *found,
        ]
