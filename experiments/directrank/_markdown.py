"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike


def table(head: list[str], rows: Iterable[list[str]]) -> list[str]:
    """Return the lines of a table and an empty one."""
    return [joined(head), "|---|" + "--:|" * (len(head) - 1), *map(joined, rows), ""]


def joined(cells: Iterable[str]) -> str:
    """Return a row of a table."""
    return "| " + " | ".join(cells) + " |"


def digits(row: Mapping[str, str | float], keys: Iterable[str], n: int = 4) -> list[str]:
    """Return cells with so many digits after the point, empty ones where there is nothing."""
    return [f"{float(row[key]):.{n}f}" if row.get(key, "") != "" else "" for key in keys]


def difference(ours: ArrayLike, theirs: ArrayLike) -> str:
    """Return by how much ours are above theirs, query by query, and the standard error of that mean."""
    values = np.asarray(ours, np.float64) - np.asarray(theirs, np.float64)
    return f"{values.mean():+.4f} ± {values.std(ddof=1) / len(values) ** 0.5:.4f}"
