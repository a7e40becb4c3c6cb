"""Plots of click logs with matplotlib, also available in ``ar.plot``.

Every function draws into ``axes``, or into those of a new figure, and returns them, so that you can change titles and
sizes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._declared import checked
from argrank.clicks import harvest
from argrank.clicks.curve import Propensities, PropensitiesBy
from argrank.clicks.propensities import counts_of
from argrank.data.clicks.counts import ClickCounts
from argrank.data.clicks.log import Clicks
from argrank.data.clicks.rates import rates_by_rank
from argrank.errors import MissingExtraError, OptionError, shown


@checked
def propensities(curve: Propensities | PropensitiesBy, *, axes: Any = None) -> Any:
    """Draw how much each rank is seen, with its interval; one line for each part of the log."""
    axes = axes_or_new(axes)
    several = curve if isinstance(curve, PropensitiesBy) else {curve.method: curve}
    for name, one in several.items():
        rank = np.arange(1, len(one) + 1)
        (line,) = axes.plot(rank, one.values, marker="o", markersize=4, label=name)
        axes.fill_between(rank, one.low, one.high, color=line.get_color(), alpha=0.2, linewidth=0)
    axes.set(xlabel="rank", ylabel="examination, relative to rank 1", ylim=(0, None))
    axes.legend()
    return axes


@checked
def click_rates(log: Clicks | ClickCounts, *, axes: Any = None) -> Any:
    """Draw the share of shown documents that were clicked at each rank, with its 95 % interval."""
    found = rates_by_rank(counts_of(log))
    axes = axes_or_new(axes)
    spans = np.maximum([found.rate - found.low, found.high - found.rate], 0.0)
    axes.errorbar(found.position, found.rate, yerr=spans, fmt="o", markersize=4, capsize=3)
    axes.set(xlabel="rank", ylabel="clicks / impressions", ylim=(0, None))
    return axes


@checked
def rank_pairs(log: Clicks | ClickCounts, *, axes: Any = None) -> Any:
    """Draw for every two ranks the effective number of impressions of documents that were shown at both.

    A document counts n n' / (n + n'), with n and n' its impressions at the two ranks, as in ``method="harvest"``.
    """
    counts = counts_of(log)
    cells = next(harvest.cells(counts))
    half = len(cells.rank) // 2
    first, second = cells.rank[:half], cells.rank[half:]
    table = np.full((counts.n_positions, counts.n_positions), np.nan)
    table[first, second] = table[second, first] = (cells.clicks + cells.others)[:half]
    axes = axes_or_new(axes)
    edges = np.arange(counts.n_positions + 1) + 0.5
    image = axes.pcolormesh(edges, edges, np.log10(1.0 + table))
    axes.figure.colorbar(image, ax=axes, label="log10(1 + impressions)")
    axes.set(xlabel="rank", ylabel="rank", aspect="equal")
    axes.invert_yaxis()
    return axes


def axes_or_new(given: Any) -> Any:
    """Return the given axes, or new ones if none are given."""
    try:
        import matplotlib.axes
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plot", "drawing") from error
    if given is not None and not isinstance(given, matplotlib.axes.Axes):
        raise OptionError(f"axes: expected axes of matplotlib, got {shown(given)}")
    return given if given is not None else plt.subplots(layout="constrained")[1]
