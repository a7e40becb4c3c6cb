"""The result of a trial: rankers compared on held-out queries, and its rendering."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from argrank._declared import checked
from argrank._json import json_value
from argrank._results import Framed, Rendered
from argrank._tables import Cell, Table, measure_text, number_text, parameters_text, table
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.doctor.diagnosis import Diagnosis
from argrank.errors import InputError, check_name
from argrank.evaluation.compare import compare, compare_evaluations
from argrank.evaluation.comparison import Comparison
from argrank.evaluation.evaluate import evaluate
from argrank.measures.conventions import Convention, make_convention
from argrank.rankers.estimator import Reporting
from argrank.rankers.optimised import together
from argrank.trials.engine import Run, mean_points, params_of, refit
from argrank.trials.grid import Params
from argrank.trials.store import Fits
from argrank.trials.system import System

RUN_PARTS = ("fold", "n_queries", "params", "validation", "means", "notes")  # of a Run, as plain data


@dataclass(frozen=True, eq=False, repr=False)
class Trial(Rendered, Framed):
    """Rankers tested on every query once; made by ``ar.cross_validate`` and ``ar.benchmark``.

    ``ar.write_report(path, trial)`` writes the HTML report.

    Attributes
    ----------
    data : Dataset
        The tested data: the given data, or the joined test parts of the given folds.
    folds : dict of ranker -> tuple of Run
        What was chosen in every fold, its validation value, the means on the test part, and the fitted ranker.
    systems : dict of ranker -> System
        Scores of every query and the models that gave them.
    measures : tuple of names
    select_by : str
        The measure that chose the parameters.
    convention : str or Convention
    averaged : {"folds", "queries"}
        Whether ``means`` are means over folds, as in LETOR, or over all tested queries.
    diagnosis : Diagnosis or None
        The doctor's findings about the data.
    notes : tuple of str
    everything : tuple of Dataset
        All data of the trial, in parts, on which ``ranker()`` trains.
    fits : Fits or None
        The folder of fits, if given with ``resume``.
    """

    data: Dataset
    folds: dict[str, tuple[Run, ...]]
    systems: dict[str, System]
    measures: tuple[str, ...]
    select_by: str
    convention: str | Convention
    averaged: str = "folds"
    diagnosis: Diagnosis | None = None
    notes: tuple[str, ...] = ()
    everything: tuple[Dataset, ...] = ()
    fits: Fits | None = None
    _refitted: dict[str, Any] = field(default_factory=dict, init=False)

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(next(iter(self.folds.values())))

    @cached_property
    def scores(self) -> dict[str, Floats]:
        """``scores[ranker]``, one per row of ``data``, by the fold that tested the row. Compare within a query only."""
        return {name: self.data.to_caller(one.scores) for name, one in self.systems.items()}

    @cached_property
    def means(self) -> dict[str, dict[str, float]]:
        """``means[ranker][measure]``; see ``averaged``."""
        if self.averaged == "folds":
            return {
                name: {one: float(np.mean([run.means[one] for run in runs])) for one in self.measures}
                for name, runs in self.folds.items()
            }
        return {
            name: dict(evaluate(scores, self.data, list(self.measures), convention=self.convention).means)
            for name, scores in self.scores.items()
        }

    @property
    def values(self) -> dict[str, dict[str, Floats]]:
        """``values[ranker][measure]``, one for each of ``data.query_ids``, NaN where the measure is undefined."""
        return {
            name: dict(evaluate(scores, self.data, list(self.measures), convention=self.convention).values)
            for name, scores in self.scores.items()
        }

    @property
    def validation(self) -> dict[str, float]:
        """``validation[ranker]``, the mean over folds of ``select_by`` on validation queries; NaN where unknown."""
        return {name: float(np.mean([run.validation for run in runs])) for name, runs in self.folds.items()}

    @property
    def best(self) -> str | None:
        """The ranker chosen by validation (not by the test); None without validation queries."""
        known = {name: value for name, value in self.validation.items() if not np.isnan(value)}
        return max(known, key=lambda name: known[name]) if known else None

    @checked
    def params(self, name: str | None = None) -> Params:
        """Return the parameters with which ``ranker`` trains: those with the best mean validation over folds."""
        return params_of(self.folds[self._name(name)])

    @checked
    def ranker(self, name: str | None = None) -> Any:
        """Return the ranker of that name, by default the best, trained again on all data of the trial.

        Its parameters are ``params(name)``. No query is left to test this model on: on new queries expect the table's
        values, or slightly better. The rankers of the folds are in ``folds``.
        """
        name = self._name(name)
        if name not in self._refitted:
            self._refitted[name] = refit(self.folds[name], self.everything, self.fits)
        return self._refitted[name]

    def _name(self, name: str | None) -> str:
        name = self.best if name is None else name
        if name is None:
            raise InputError("expected a ranker's name: without validation queries none is the best")
        check_name("ranker of this trial", name, self.folds)
        return name

    @checked
    def compare(self, **options: Any) -> Comparison:
        """Compare the rankers over all queries with paired tests; options as in ``ar.compare``."""
        return compare(self.scores, self.data, list(self.measures), convention=self.convention, **options)

    @cached_property
    def comparison(self) -> Comparison | None:
        """The paired tests between all rankers; None for a single one."""
        return self.compare() if len(self.systems) > 1 else None

    def _shown(self) -> tuple[list[Table], list[str]]:
        folds = [folds_table("ranker", self.folds, self, self.fold_comparisons)] if self.n_folds > 1 else []
        return [self.means_table(), *folds], self.footer

    def columns(self) -> dict[str, list[Any]]:
        """Return every ranker in every fold by column: what was chosen, validation, the measures."""
        runs = [(name, run) for name, own in self.folds.items() for run in own]
        return {
            "ranker": [name for name, _ in runs],
            "fold": [run.fold for _, run in runs],
            "n_queries": [run.n_queries for _, run in runs],
            "chosen": [parameters_text(run.params) for _, run in runs],
            f"validation {self.select_by}": [run.validation for _, run in runs],
            **{one: [run.means[one] for _, run in runs] for one in self.measures},
            "seconds": [run.training_seconds for _, run in runs],
        }

    @cached_property
    def fold_comparisons(self) -> dict[int, Comparison]:
        """The paired tests between all rankers within each fold; empty for a single ranker, or a single fold."""
        if len(self.folds) < 2 or self.n_folds < 2:
            return {}
        numbers = [run.fold for run in next(iter(self.folds.values()))]
        return {
            number: compare_evaluations({name: runs[place].test for name, runs in self.folds.items()})
            for place, number in enumerate(numbers)
        }

    def to_dict(self) -> dict[str, Any]:
        """Return means, folds and tests as plain data; NaN becomes None."""
        found: dict[str, Any] = {
            "systems": list(self.systems),
            "measures": list(self.measures),
            "n_queries": self.data.n_queries,
            "n_folds": self.n_folds,
            "select_by": self.select_by,
            "convention": make_convention(self.convention).name,
            "best": self.best,
            "best_params": None if self.best is None else self.params(),
            "validation": self.validation,
            "optimised": {name: runs[0].optimised and runs[0].optimised.what for name, runs in self.folds.items()},
            "means": self.means,
            "seconds": {name: one.seconds for name, one in self.systems.items()},
            "folds": {
                name: [{part: getattr(run, part) for part in RUN_PARTS} for run in runs]
                for name, runs in self.folds.items()
            },
            "comparison": None if self.comparison is None else self.comparison.to_dict(),
            "findings": None if self.diagnosis is None else self.diagnosis.to_dict()["findings"],
            "notes": list(self.notes),
        }
        return dict(json_value(found))

    def means_table(self) -> Table:
        """Return a row for every ranker: what was chosen, the validation value, the means, the seconds."""
        means, comparison = self.means, self.comparison
        best = {name: max(one[name] for one in means.values()) for name in self.measures}
        validation, chosen = self.validation, self.best
        letters = {name: {} if comparison is None else comparison.letters(name) for name in self.measures}
        rows = [
            (
                "" if comparison is None else comparison.letter_of(name),
                name,
                _chosen(runs),
                Cell(measure_text(validation[name]), name == chosen),
                *(
                    Cell(measure_text(value := means[name][one]), value == best[one], letters[one].get(name, ""))
                    for one in self.measures
                ),
                f"{self.systems[name].seconds:.2f}",
            )
            for name, runs in self.folds.items()
        ]
        return table(("", "ranker", "chosen", f"validation {self.select_by}", *self.measures, "seconds"), rows, 3)

    @property
    def footer(self) -> list[str]:
        """Sentences on the procedure, the choice, and notes."""
        held_out = self.n_folds == 1
        means = "" if held_out else f" Means over {'folds' if self.averaged == 'folds' else 'all queries'}."
        chooses = any(len(run.points) > 1 for runs in self.folds.values() for run in runs)
        chosen = f"parameters chosen by {self.select_by} on validation queries" if chooses else "parameters as given"
        footer = [
            f"{self.choice} {self.data.n_queries:,} queries, each tested once in "
            f"{'a held-out part' if held_out else f'{self.n_folds} folds'}; {chosen}; convention "
            f"{make_convention(self.convention).name}.{means} "
            "Seconds: one training at the chosen parameters.",
        ]
        if self.comparison is not None:
            footer.append(
                "* best of each column; letters: the rankers that are significantly worse "
                f"(paired t-test over all queries, Holm, {self.comparison.level:g}"
                f"{'' if held_out else '; in the table of folds, within the fold'})."
            )
        where = {run: "" if held_out else f", fold {run.fold}" for runs in self.folds.values() for run in runs}
        own = [f"{name}{where[run]}: {note}" for name, runs in self.folds.items() for run in runs for note in run.notes]
        return [*footer, *self.notes, *own]

    @property
    def choice(self) -> str:
        """Return which ranker validation chose, and its result on the tested queries."""
        if self.best is None:
            return "No ranker is chosen: there were no validation queries."
        first = self.measures[0]
        value, tested = self.validation[self.best], self.means[self.best][first]
        return (
            f"Best by {self.select_by} on validation queries: {self.best} ({measure_text(value)}); on the tested "
            f"queries its {first} is {measure_text(tested)}."
        )


def folds_table(
    title: str, folds: Mapping[str, Sequence[Any]], asked: Any, tests: Mapping[int, Comparison] | None = None
) -> Table:
    """Return every run of every ranker: what was chosen, its validation value, the measures on the test part.

    ``asked`` gives ``measures`` and ``select_by``; ``tests`` compare the rankers within each fold, and letters mark
    those that are significantly worse there.
    """
    letters = {(fold, one): found.letters(one) for fold, found in (tests or {}).items() for one in asked.measures}
    rows = [
        (
            name,
            str(run.fold),
            parameters_text(run.params),
            measure_text(run.validation),
            *(
                Cell(measure_text(run.means[one]), raised=letters.get((run.fold, one), {}).get(name, ""))
                for one in asked.measures
            ),
        )
        for name, runs in folds.items()
        for run in runs
    ]
    return table((title, "fold", "chosen", f"validation {asked.select_by}", *asked.measures), rows, 3)


def _chosen(runs: Sequence[Run]) -> str:
    """Return the parameters that were chosen in the folds, every value once."""
    values: dict[str, dict[str, None]] = {}
    for run in runs:
        for name, value in run.params.items():
            values.setdefault(name, {})[number_text(value, 3)] = None
    return ", ".join(f"{name}={'/'.join(found)}" for name, found in values.items()) or "-"


def systems_of(
    runs: Mapping[str, Sequence[Run]], data: Dataset, tested: Sequence[Integers]
) -> tuple[dict[str, System], list[str]]:
    """Assemble the scores of all folds, given their queries of ``data``; add notes on rankers with constant scores."""
    systems, notes = {}, []
    rows = [np.flatnonzero(np.isin(data.query_of_row, queries)) for queries in tested]
    for name, own in runs.items():
        scores = np.empty(data.n_documents)
        for run, queries, where in zip(own, tested, rows, strict=True):
            scores[where] = data.select(queries).from_caller(run.scores)
        trace = getattr(own[0].ranker, "trace_", None)
        systems[name] = System(
            name=name,
            scores=scores,
            models=tuple((run.model, queries) for run, queries in zip(own, tested, strict=True) if run.model),
            trace=trace.to_dict() if len(own) == 1 and trace is not None and len(trace) else None,
            seconds=float(np.mean([run.training_seconds for run in own])),
            validated=_validated(own),
        )
        starts = data.indptr[:-1]
        same = np.maximum.reduceat(scores, starts) == np.minimum.reduceat(scores, starts)
        silent = int((same & (data.sizes > 1)).sum())
        if silent:
            helps = "; bound='tight' may help" if own[0].ranker.get_params().get("bound") == "convex" else ""
            notes.append(
                f"{name} gives all documents the same score in {silent:,} of {data.n_queries:,} queries{helps}."
            )
    return systems, notes


def aims_and_stays(runs: Mapping[str, Sequence[Run]], asked: str) -> list[str]:
    """Return notes on rankers that optimise another measure than requested, or whose model is another method's."""
    told = together({name: own[0].optimised for name, own in runs.items()}, asked)
    notes = [] if told is None else [told]
    for name, own in runs.items():
        stays = [run.ranker.stayed_ for run in own if isinstance(run.ranker, Reporting) and run.ranker.stayed_]
        if stays:
            gains = [one.gain for one in stays if one.gain is not None]
            gain = float(np.nanmean(gains)) if gains and not np.isnan(gains).all() else None
            mean = stays[0]._replace(distance=float(np.mean([one.distance for one in stays])), gain=gain, error=None)
            where = "" if len(own) == 1 else f", in {len(stays)} of {len(own)} folds"
            notes.append(f"{name} {mean}{where}.")
    return notes


def _validated(runs: Sequence[Run]) -> tuple[tuple[float, float], ...]:
    """Return every C tried and the mean over folds of its validation measure; empty if others were tried too."""
    if any(set(point.params) != {"C"} for run in runs for point in run.points):
        return ()
    return tuple(sorted((float(point.params["C"]), point.value) for point in mean_points(runs)))
