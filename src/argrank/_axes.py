"""Axes to draw into; matplotlib is imported only here."""

from __future__ import annotations

from typing import Any

from argrank.errors import MissingExtraError


def axes_or_new(given: Any) -> Any:
    """Return the axes given, else new ones; matplotlib is imported only here."""
    if given is not None:
        return given
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plot", "drawing") from error
    return plt.subplots(layout="constrained")[1]
