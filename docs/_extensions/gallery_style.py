"""How the gallery draws: the same quiet axes in every example, which the examples need not ask for."""

from __future__ import annotations

from typing import Any

STYLE = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "figure.constrained_layout.use": True,
    "figure.figsize": (7, 3.8),
    "legend.frameon": False,
}


def reset(gallery_conf: dict[str, Any], fname: str) -> None:
    """Set matplotlib up before each example."""
    import matplotlib as mpl

    mpl.rcParams.update(STYLE)
