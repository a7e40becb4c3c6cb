"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def table(head: list[str], rows: Iterable[list[str]]) -> list[str]:
    """Return the lines of a table and an empty one."""
    return [joined(head), "|---|" + "--:|" * (len(head) - 1), *map(joined, rows), ""]


def joined(cells: Iterable[str]) -> str:
    """Return a row of a table."""
    return "| " + " | ".join(cells) + " |"


def digits(row: Mapping[str, str | float], keys: Iterable[str], n: int = 4) -> list[str]:
    """Return cells with n digits after the point, empty ones where there is nothing."""
    return [f"{float(row[key]):.{n}f}" if row.get(key, "") != "" else "" for key in keys]


def above(ours: float | str, theirs: float | str, error: float | str) -> str:
    """Return by how much ours is above theirs, and the standard error."""
    return f"{float(ours) - float(theirs):+.4f} ± {float(error):.4f}"
