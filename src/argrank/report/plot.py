"""The report's plots through matplotlib, for notebooks and papers: ``ar.plot.weights(ranker)``.

Every function draws into ``axes``, or into a new figure's, and returns them; titles and sizes are yours to change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from argrank.data.dataset import Dataset
from argrank.errors import MissingExtraError, OptionError, check_name
from argrank.evaluation.comparison import Comparison
from argrank.measures.conventions import Convention
from argrank.report import figures
from argrank.trials.bootstrap import WeightIntervals
from argrank.trials.path import Path

__all__ = [
    "differences",
    "histogram",
    "measure_curves",
    "path",
    "trace",
    "weights",
]

HISTOGRAMS = {
    "labels": (figures.label_counts, "label", "documents"),
    "lengths": (figures.length_counts, "documents a query", "queries"),
}


def measure_curves(
    scores: Mapping[str, Any],
    data: Dataset,
    measure: str = "ndcg",
    cutoffs: Sequence[int] = tuple(range(1, 11)),
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


def differences(comparison: Comparison, measure: str, a: str, b: str, *, axes: Any = None) -> Any:
    """Draw one bar for every query, system a minus system b, the largest first."""
    axes = axes_or_new(axes)
    _, values = figures.sorted_differences(comparison, measure, a, b)
    axes.bar(np.arange(len(values)), values, width=1.0, color=np.where(values >= 0, "C0", "C1").tolist())
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set(xlabel="queries, sorted", ylabel=f"{measure}: {a} minus {b}")
    return axes


def trace(fitted: Any, column: str = "objective", *, axes: Any = None) -> Any:
    """Draw a column of the trace of a fitted ranker, or of several in a dict, against the iteration."""
    axes = axes_or_new(axes)
    rankers = fitted if isinstance(fitted, Mapping) else {type(fitted).__name__: fitted}
    for name, ranker in rankers.items():
        recorded = ranker.trace_
        check_name(f"column of the trace of {name}", column, recorded.columns)
        axes.plot(recorded["iteration"], recorded[column], marker=".", label=name)
    if column == "gap":
        axes.set_yscale("log")
    axes.set(xlabel="iteration", ylabel=column.replace("_", " "))
    axes.legend()
    return axes


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


def weights(fitted: Any, names: Sequence[str] | None = None, *, top: int = 20, axes: Any = None) -> Any:
    """Draw the largest weights of a fitted linear ranker, or those of ``ar.bootstrap_weights`` with intervals."""
    intervals = fitted if isinstance(fitted, WeightIntervals) else None
    values = fitted.weights if intervals is not None else getattr(fitted, "coef_", None)
    if values is None:
        raise OptionError(f"weights: expected a linear ranker or WeightIntervals, got {type(fitted).__name__}")
    if names is None:
        known = intervals.names if intervals is not None else getattr(fitted, "feature_names_in_", None)
        names = [str(i) for i in range(len(values))] if known is None else list(known)
    axes = axes_or_new(axes)
    shown = np.argsort(-np.abs(values), kind="stable")[:top][::-1]  # the largest on top
    spans = None
    if intervals is not None:
        spans = [np.maximum(values - intervals.low, 0)[shown], np.maximum(intervals.high - values, 0)[shown]]
    axes.barh([names[i] for i in shown], values[shown], xerr=spans, capsize=3)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set(xlabel="weight")
    return axes


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


def axes_or_new(given: Any) -> Any:
    """Return the axes given, else new ones; matplotlib is imported only here."""
    if given is not None:
        return given
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plot", "drawing") from error
    return plt.subplots(layout="constrained")[1]
