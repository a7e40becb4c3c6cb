"""Axes to draw into; matplotlib is imported only here."""

from __future__ import annotations

from typing import Any

from argrank.errors import MissingExtraError, OptionError, shown


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
