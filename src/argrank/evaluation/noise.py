"""The noise floor of a measure: how much it changes with other queries, with new judgements, with the order of ties."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from argrank._tables import Table, table
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.data.io.trec.files import Qrels, Run
from argrank.data.io.trec.forms import as_run
from argrank.errors import InputError
from argrank.evaluation.comparison import Comparison
from argrank.evaluation.evaluate import evaluate_systems
from argrank.evaluation.systems import is_run_for, judged_source, lists_of, named_systems
from argrank.measures.names import measure_list

N_REPEATS = 20

Source = Dataset | Qrels
Systems = dict[str, Any]  # scores in the caller's order, or runs


class Noise(NamedTuple):
    """How much one cause changes the mean of a measure, and the difference of two means: standard deviations.

    They are root mean squares over the systems, and over the pairs of systems.
    """

    measure: str
    cause: str
    mean: float
    difference: float


def noise_floor(
    comparison: Comparison, scores: Any, data: Any, disagreement: float, random_state: int
) -> tuple[Noise, ...]:
    """Return how much each measure changes with other queries and, if scores and data are given, by other causes."""
    found = {"other queries": _of_queries(comparison)}
    if data is not None:
        source, systems = _read(comparison, scores, data)
        rng = np.random.default_rng(random_state)
        found["judging again"] = _repeated(comparison, lambda: (systems, relabelled(source, disagreement, rng)))
        found["order of ties"] = _repeated(
            comparison, lambda: ({name: _untied(one, rng) for name, one in systems.items()}, source)
        )
    return tuple(
        Noise(measure, cause, *moves[measure]) for measure in comparison.measures for cause, moves in found.items()
    )


def noise_table(noise: tuple[Noise, ...]) -> Table:
    """Return the noise floor as a table."""
    rows = [(one.measure, one.cause, f"{one.mean:.4f}", f"{one.difference:.4f}") for one in noise]
    return table(("measure", "moved by", "a mean by", "a difference by"), rows, n_names=2)


def _read(comparison: Comparison, scores: Any, data: Any) -> tuple[Source, Systems]:
    """Return judgements and systems in forms that can be perturbed, models as their scores."""
    given, _ = named_systems(scores)
    missing = [name for name in comparison.systems if name not in given]
    if missing:
        raise InputError(f"scores: expected the systems of the comparison, got none named {missing[0]!r}")
    given = {name: given[name] for name in comparison.systems}
    source = judged_source(data, given)
    runs = {name: as_run(one) for name, one in given.items() if is_run_for(one, source)}
    rows = {name: one for name, one in given.items() if name not in runs}
    lists = lists_of(rows, source) if rows else {}
    return source, runs | {name: one.data.to_caller(one.scores) for name, one in lists.items()}


def _of_queries(comparison: Comparison) -> dict[str, tuple[float, float]]:
    """Return the standard errors over queries."""
    found = {}
    for measure in comparison.measures:
        means = [_error(comparison.values[system][measure]) for system in comparison.systems]
        pairs = [(one.a, one.b) for one in comparison.pairs if one.measure == measure]
        found[measure] = (_root(means), _root([_error(comparison.differences(measure, *pair)) for pair in pairs]))
    return found


def _repeated(
    comparison: Comparison, again: Callable[[], tuple[Mapping[str, Any], Source]]
) -> dict[str, tuple[float, float]]:
    """Evaluate systems under repeated perturbations; return how much means and their differences vary."""
    asked = measure_list(list(comparison.measures))
    means: dict[str, dict[str, list[float]]] = {name: {one: [] for one in comparison.systems} for name, _ in asked}
    for _ in range(N_REPEATS):
        for system, result in evaluate_systems(*again(), asked, comparison.rules).items():
            for name in means:
                means[name][system].append(result.means[name])
    found = {}
    for name, own in means.items():
        columns = {system: np.array(values) for system, values in own.items()}
        apart = [columns[one.a] - columns[one.b] for one in comparison.pairs if one.measure == name]
        found[name] = (_root([_deviation(one) for one in columns.values()]), _root([_deviation(one) for one in apart]))
    return found


def relabelled(source: Source, disagreement: float, rng: np.random.Generator) -> Source:
    """Return judgements with a share moved to a neighbouring grade, up or down at random."""
    labels = source.y if isinstance(source, Dataset) else source.rel
    grades = np.unique(labels)
    place = np.searchsorted(grades, labels)
    step = np.where(rng.random(len(labels)) < 0.5, 1, -1)
    step = np.where(place == 0, 1, np.where(place == len(grades) - 1, -1, step))
    moved = (rng.random(len(labels)) < disagreement) & (len(grades) > 1)
    changed = grades[np.where(moved, np.clip(place + step, 0, len(grades) - 1), place)]
    return source.with_labels(changed) if isinstance(source, Dataset) else dataclasses.replace(source, rel=changed)


def _untied(one: Any, rng: np.random.Generator) -> Any:
    """Return scores, or a run, with ties broken at random."""
    scores = one.score if isinstance(one, Run) else one
    ranks = np.empty(len(scores))
    ranks[np.lexsort((rng.random(len(scores)), scores))] = np.arange(len(scores))
    return dataclasses.replace(one, score=ranks) if isinstance(one, Run) else ranks


def _error(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return _deviation(known) / np.sqrt(len(known)) if len(known) > 1 else np.nan


def _deviation(values: Floats) -> float:
    if len(values) < 2:
        return np.nan
    return float(values.std(ddof=1)) if np.ptp(values) > 0 else 0.0  # the mean of equal numbers is rounded


def _root(values: list[float]) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
