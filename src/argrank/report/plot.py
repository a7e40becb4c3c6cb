"""The report's plots through matplotlib, for notebooks and papers: ``ar.plot.weights(ranker)``.

Every function draws into ``axes``, or into those of a new figure, and returns them; titles and sizes can be changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from argrank._declared import Count, checked
from argrank.clicks.drawing import axes_or_new, click_rates, propensities, rank_pairs
from argrank.data.dataset import Dataset
from argrank.errors import OptionError, check_name, shown
from argrank.evaluation.comparison import Comparison
from argrank.evaluation.judges.audit import Agreement
from argrank.evaluation.power import Power
from argrank.measures.conventions import Convention
from argrank.models.importance import dependence as dependence_of
from argrank.models.importance import importances_of
from argrank.models.linear import LinearModel
from argrank.models.model import Model, fitted_model
from argrank.rankers.trace import Trace
from argrank.report import figures
from argrank.trials.bootstrap import WeightIntervals
from argrank.trials.path import Path
from argrank.trials.permutation import PermutationImportance

__all__ = [
    "agreement",
    "click_rates",
    "dependence",
    "differences",
    "histogram",
    "importances",
    "measure_curves",
    "path",
    "power",
    "propensities",
    "rank_pairs",
    "trace",
    "weights",
]

CLOCK = ("iteration", "seconds")  # columns of a trace that count iterations or time
MOST_COUNTS = 12  # grades whose counts are written into the picture
HISTOGRAMS = {
    "labels": (figures.label_counts, "label", "documents"),
    "lengths": (figures.length_counts, "documents a query", "queries"),
}


@runtime_checkable
class Traced(Protocol):
    """A fitted ranker that recorded its iterations."""

    trace_: Trace


@checked
def measure_curves(
    scores: Mapping[str, Any],
    data: Dataset,
    measure: str = "ndcg",
    cutoffs: Sequence[Count] = tuple(range(1, 11)),
    *,
    convention: str | Convention = "default",
    axes: Any = None,
) -> Any:
    """Draw the mean of a measure against its cut-off, one line for each system."""
    axes = axes_or_new(axes)
    for name, values in figures.measure_curves(scores, data, measure, cutoffs, convention).items():
        axes.plot(list(cutoffs), values, marker="o", markersize=4, label=name)
    axes.set(xlabel="k", ylabel=f"mean {measure}@k")
    axes.legend()
    return axes


@checked
def differences(comparison: Comparison, measure: str, a: str, b: str, *, axes: Any = None) -> Any:
    """Draw one bar for every query, system a minus system b, the largest first."""
    axes = axes_or_new(axes)
    _, values = figures.sorted_differences(comparison, measure, a, b)
    axes.bar(np.arange(len(values)), values, width=1.0, color=np.where(values >= 0, "C0", "C1").tolist())
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set(xlabel="queries, sorted", ylabel=f"{measure}: {a} minus {b}")
    return axes


@checked
def agreement(found: Agreement, *, axes: Any = None) -> Any:
    """Draw the grades of two judges for the same documents, as shares of the first judge's grade, with counts."""
    axes = axes_or_new(axes)
    each = found.table.sum(axis=1, keepdims=True)
    shares = found.table / np.maximum(each, 1)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    grades = [f"{grade:g}" for grade in found.grades]
    if len(grades) <= MOST_COUNTS:
        for (row, column), count in np.ndenumerate(found.table):
            colour = "white" if shares[row, column] > 0.5 else "black"
            axes.text(column, row, f"{count:,}", ha="center", va="center", color=colour)
    every = -(-len(grades) // MOST_COUNTS)
    places = np.arange(len(grades))[::every]
    axes.set_xticks(places, grades[::every])
    axes.set_yticks(places, grades[::every])
    first, second = found.judges if len(found.judges) == 2 else ("one judge of each pair", "the other")
    axes.set(xlabel=f"grade of {second}", ylabel=f"grade of {first}")
    axes.set_title(f"{found.weights} kappa {found.weighted_kappa:.2f}, {found.metric} alpha {found.alpha:.2f}")
    return axes


@checked
def power(found: Power, *, axes: Any = None) -> Any:
    """Draw the smallest difference that n queries show, for every pair of ``ar.power``, against their number.

    Dots mark the number of queries in the data; the dashed line is the requested difference.
    """
    drawn = [row for row in found.rows if np.isfinite(row.smallest)]
    if not drawn:
        raise OptionError("power: expected differences that vary, on enough queries, got none")
    axes = axes_or_new(axes)
    for row in drawn:
        ends = (row.n_queries, row.n_queries if row.needed is None else row.needed)
        numbers = np.unique(np.geomspace(max(5, min(ends) / 3), 3 * max(ends), 25).astype(int)).tolist()
        label = f"{row.measure}: {row.a} against {row.b}" if row.a else "differences"
        (line,) = axes.plot(numbers, [found.smallest(row, n) for n in numbers], label=label)
        axes.plot([row.n_queries], [row.smallest], "o", color=line.get_color())
    axes.axhline(found.difference, color="0.5", linestyle="--", linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="queries", ylabel="smallest difference shown")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("{x:g}")
    axes.legend()
    return axes


@checked
def trace(fitted: Any, column: str | None = None, *, axes: Any = None) -> Any:
    """Draw a column of the trace of a fitted ranker, or of several in a dict, against the iteration.

    By default the objective or, if it was not recorded, another column, such as the measure on the validation data.
    """
    axes = axes_or_new(axes)
    rankers = fitted if isinstance(fitted, Mapping) else {type(fitted).__name__: fitted}
    for ranker in rankers.values():
        if not isinstance(ranker, Traced):
            raise OptionError(f"expected a fitted ranker, or a dict of them, got {shown(ranker)}")
    if column is None:
        recorded = [name for ranker in rankers.values() for name in ranker.trace_.columns if name not in CLOCK]
        column = "objective" if "objective" in recorded or not recorded else recorded[0]
    for name, ranker in rankers.items():
        rows = ranker.trace_
        check_name(f"column of the trace of {name}", column, rows.columns)
        axes.plot(rows["iteration"], rows[column], marker=".", label=name)
    if column == "gap":
        axes.set_yscale("log")
    axes.set(xlabel="iteration", ylabel=column.replace("_", " "))
    axes.legend()
    return axes


@checked
def path(found: Path, what: str = "value", *, axes: Any = None) -> Any:
    """Draw a regularisation path against C.

    ``what``: "value" (the validation measure), "ratio" (objective / objective at w = 0), "norm", "average_slack" or
    "coefs" (one line for each weight).
    """
    columns: dict[str, tuple[str, Any]] = {
        "value": (f"validation {found.measure}", [point.value for point in found.points]),
        "ratio": ("objective / objective at 0", [point.objective / point.objective_at_zero for point in found.points]),
        "norm": ("|w|", [point.norm for point in found.points]),
        "average_slack": ("average slack", [point.average_slack for point in found.points]),
        "coefs": ("weights", found.coefs),
    }
    check_name("column of a path", what, columns)
    label, values = columns[what]
    if np.isnan(values).all():
        raise OptionError(f"path: this path has no {label}")
    axes = axes_or_new(axes)
    axes.plot(found.C, values, marker="o", markersize=4)
    axes.set_xscale("log")
    axes.set(xlabel="C", ylabel=label)
    return axes


@checked
def weights(fitted: Any, names: Sequence[str] | None = None, *, top: Count = 20, axes: Any = None) -> Any:
    """Draw the largest weights of a linear ranker or model, or those of ``ar.bootstrap_weights`` with intervals.

    Other rankers have no weights; for them, the importances of the features are drawn.
    """
    if isinstance(fitted, WeightIntervals):
        spans = np.maximum([fitted.weights - fitted.low, fitted.high - fitted.weights], 0)
        return _bars(fitted.weights, names or fitted.names, "weight", top, axes, spans)
    model = _model(fitted)
    if not isinstance(model, LinearModel):
        return importances(fitted, names, top=top, axes=axes)
    return _bars(model.weights, names or model.column_names, "weight", top, axes)


@checked
def importances(fitted: Any, names: Sequence[str] | None = None, *, top: Count = 20, axes: Any = None) -> Any:
    """Draw the importances of a ranker's or model's features, or those of ``ar.permutation_importance``."""
    if isinstance(fitted, PermutationImportance):
        spans = np.abs(fitted.intervals.T - fitted.losses)
        return _bars(fitted.losses, names or fitted.features, f"loss of {fitted.measure}", top, axes, spans)
    model = _model(fitted)
    return _bars(importances_of(model), names or model.feature_names, "share of the contributions", top, axes)


@checked
def dependence(fitted: Any, data: Dataset, feature: str | int, *, axes: Any = None) -> Any:
    """Draw the mean score against one feature, given by name or column number; the other features are unchanged."""
    if isinstance(feature, str):
        check_name("feature", feature, data.feature_names or ())
    column = (data.feature_names or ()).index(feature) if isinstance(feature, str) else feature
    if not 0 <= column < data.n_features:
        raise OptionError(f"feature: expected a column from 0 to {data.n_features - 1}, got {shown(feature)}")
    found = dependence_of(_model(fitted), data, column)
    axes = axes_or_new(axes)
    if found.texts is None:
        axes.plot(found.values, found.scores, marker=".")
    else:
        axes.barh(found.texts, found.scores)
    if found.missing is not None:
        draw = axes.axhline if found.texts is None else axes.axvline
        draw(found.missing, color="C1", linestyle="--", label="missing")
        axes.legend()
    words = {"xlabel": found.feature, "ylabel": "score, less its mean"}
    axes.set(**words if found.texts is None else dict(zip(words, reversed(words.values()), strict=True)))
    return axes


def _model(fitted: Any) -> Model:
    model = fitted_model(fitted)
    if not isinstance(model, Model):
        raise OptionError(f"expected a fitted ranker or model, linear or of trees, got {shown(fitted)}")
    return model


def _bars(values: Any, names: Any, label: str, top: int, axes: Any, spans: Any = None) -> Any:
    names = [str(i) for i in range(len(values))] if names is None else list(names)
    if len(names) != len(values):
        raise OptionError(f"names: expected {len(values)} names, got {len(names)}")
    axes = axes_or_new(axes)
    largest = np.argsort(-np.abs(values), kind="stable")[:top][::-1]  # on top
    axes.barh(
        [names[i] for i in largest], values[largest], xerr=None if spans is None else spans[:, largest], capsize=3
    )
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set(xlabel=label)
    return axes


@checked
def histogram(data: Dataset, what: str = "labels", *, axes: Any = None) -> Any:
    """Draw how many documents have each label ("labels"), or how many queries each length ("lengths")."""
    check_name("histogram", what, HISTOGRAMS)
    count, x_label, y_label = HISTOGRAMS[what]
    names, counts = count(data)
    axes = axes_or_new(axes)
    axes.bar(np.arange(len(names)), counts)
    every = -(-len(names) // 10)
    axes.set_xticks(np.arange(len(names))[::every], names[::every])
    axes.set(xlabel=x_label, ylabel=y_label)
    return axes
