"""Plots of what ``sampling_diagnostics`` and ``resampling`` return: LogRank's Figures 4 to 8."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from argrank.errors import OptionError, unknown_name
from argrank.report.plot import axes_or_new

Rows = Sequence[Mapping[str, Any]]


def sampling_accuracy(rows: Rows, parameter: str, measure: str, *, axes: Any = None) -> Any:
    """Draw a measure against a parameter of the sampler, the mean over seeds with its range (Figures 4 to 6).

    Sample sizes have a logarithmic axis; names stand in the order of the rows.
    """
    _require(rows, parameter, measure)
    values = list(dict.fromkeys(row[parameter] for row in rows))
    found = [[row[measure] for row in rows if row[parameter] == value] for value in values]
    means = np.array([np.mean(part) for part in found])
    span = [means - [min(part) for part in found], [max(part) for part in found] - means]
    axes = axes_or_new(axes)
    numbers = all(isinstance(value, int | float) for value in values)
    places = values if numbers else list(range(len(values)))
    axes.errorbar(places, means, yerr=span, marker="o", markersize=4, capsize=3)
    if not numbers:
        axes.set_xticks(places, [str(value) for value in values])
    if parameter == "n_samples":
        axes.set_xscale("log")
    axes.set(xlabel=parameter.replace("_", " "), ylabel=measure)
    return axes


def smear(rows: Rows, *, bins: int = 20, axes: Any = None) -> Any:
    """Draw the density of the losses that walks meet, a line for each loss they start from (Figure 7)."""
    _require(rows, "wanted", "losses")
    axes = axes_or_new(axes)
    borders = np.linspace(0.0, 1.0, bins + 1)
    for wanted in dict.fromkeys(row["wanted"] for row in rows):
        losses = np.concatenate([row["losses"] for row in rows if row["wanted"] == wanted])
        counts, _ = np.histogram(losses, borders)
        axes.stairs(counts / max(1, counts.sum()), borders, label=f"start at loss {wanted:g}", linewidth=1.5)
    axes.set(xlabel="loss of sampled rankings", ylabel="share")
    axes.legend()
    return axes


def objective_dynamics(rows: Rows, *, axes: Any = None) -> Any:
    """Draw sampled and exact objective against the iteration (section 5.3.4), each as a share of its first value."""
    _require(rows, "iteration", "sampled", "exact")
    axes = axes_or_new(axes)
    for column in ("sampled", "exact"):
        values = np.array([row[column] for row in rows])
        axes.plot([row["iteration"] for row in rows], values / values[0], marker=".", label=column)
    axes.set(xlabel="iteration", ylabel="objective / objective at w = 0")
    axes.legend()
    return axes


def scores_against_losses(rows: Rows, *, axes: Any = None) -> Any:
    """Draw |w · phi(best) - w · phi(y)|, the mean over the iterations after the first, against the loss (Figure 8).

    The line marks where the two would be equal.
    """
    _require(rows, "loss", "w_phi")
    axes = axes_or_new(axes)
    losses = [row["loss"] for row in rows]
    axes.scatter(losses, [float(np.abs(row["w_phi"][1:]).mean()) for row in rows], s=12)
    axes.plot([0, 1], [0, 1], color="black", linewidth=0.8)
    axes.set_yscale("symlog", linthresh=1.0)
    axes.set(xlabel="loss of the ranking", ylabel="|w · dphi|, mean over iterations")
    return axes


def resampling(rows: Rows, *, axes: Any = None) -> Any:
    """Draw the risk that an optimiser is shown at each evaluation, with a fixed sample and with one redrawn."""
    _require(rows, "sample", "evaluation", "shown")
    axes = axes_or_new(axes)
    for sample in dict.fromkeys(row["sample"] for row in rows):
        own = [row for row in rows if row["sample"] == sample]
        axes.plot([row["evaluation"] for row in own], [row["shown"] for row in own], marker=".", label=sample)
    axes.set(xlabel="evaluation", ylabel="risk shown to the optimiser")
    axes.legend()
    return axes


def _require(rows: Rows, *columns: str) -> None:
    if not rows:
        raise OptionError("expected at least one row, got none")
    for column in columns:
        if column not in rows[0]:
            raise unknown_name("column", column, rows[0])
