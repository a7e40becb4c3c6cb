"""Figures of pages, taken from the tables that the scripts wrote.

A reference names one cell of a table, its parts separated by " | ":

    figures4to6.csv | data=MQ2008 | ranker=SVMndcg | C=10000 | average_slack:.2f
    figure9.md#OHSUMED | trained on=MAP | map
    figure4.csv | n_samples=10 | mean ndcg@10:.3f

First the file, with a heading of the page where it is Markdown; then what the row must have; last the column and how to
write its number, as Python would. Exactly one row must match, except before ``mean``, ``se`` (standard error), ``sd``,
``min``, ``max`` and ``count``, which summarise all that do, and ``rank``: the place of the row in its column, from the
greatest value down.
"""

from __future__ import annotations

import csv
import re
import statistics
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

Row = dict[str, str]

SUMMARIES: dict[str, Callable[[list[float]], float]] = {
    "mean": statistics.fmean,
    "se": lambda values: statistics.stdev(values) / len(values) ** 0.5,
    "sd": statistics.stdev,
    "min": min,
    "max": max,
    "count": len,
}


def cell(reference: str, folder: Path) -> str:
    """Return the figure that a reference names, as pages write it: no zero before the point.

    >>> cell("experiments/kdd2008/figure10.csv | size=TD2004 | method=McRank | added_megabytes:.0f", Path())
    '47'
    """
    table, *conditions, last = reference.split(" | ")
    path, _, heading = table.partition("#")
    rows = read_table(folder / path, heading)
    wanted = dict(condition.split("=", 1) for condition in conditions)
    found = [row for row in rows if all(_same(row.get(key), value) for key, value in wanted.items())]
    column, _, form = last.partition(":")
    summary, _, name = column.partition(" ")
    if found and summary in SUMMARIES and column not in found[0]:
        return written(SUMMARIES[summary]([number(row[name]) for row in found if row[name]]), form or ".4f")
    found = [row for row in found if row.get(name if summary == "rank" else column)]
    if len(found) != 1:
        raise ValueError(f"{folder / path}: {len(found)} rows match {reference!r}, 1 expected")
    if summary == "rank":
        own = number(found[0][name])
        return str(1 + sum(number(row[name]) > own for row in rows if row.get(name)))
    return written(number(found[0][column]), form) if form else short(found[0][column])


def written(value: float, form: str) -> str:
    """Return a number as pages write it."""
    return short(format(value, form))


def short(text: str) -> str:
    """Return text whose numbers have no zero before the point.

    >>> short("+0.055 ± 0.020 (p 0.05)"), short("10.5")
    ('+.055 ± .020 (p .05)', '10.5')
    """
    return re.sub(r"(?<![\d.])0\.(?=\d)", ".", text)


def number(text: str) -> float:
    """Return the number at the start of a cell, without the marks of the best one: ``**0.5** (1)`` is 0.5."""
    return float(re.sub(r"[*_]|(?<=\d),(?=\d{3})", "", text).split()[0])


def _same(value: str | None, wanted: str) -> bool:
    if value is None or value == wanted:
        return value == wanted
    try:
        return float(value) == float(wanted)
    except ValueError:
        return False


@cache
def read_table(path: Path, heading: str = "") -> Sequence[Row]:
    """Return the rows of a CSV file, or of all tables of a Markdown page or of a part of it, each by its header."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    rows: list[Row] = []
    for part in _parts(path.read_text("utf-8"), heading):
        for block in re.findall(r"(?:^\|.*\n?)+", part, re.MULTILINE):
            head, _, *lines = (
                [one.strip() for one in line.strip().strip("|").split("|")] for line in block.splitlines()
            )
            rows += [dict(zip(head, line, strict=False)) for line in lines]
    return rows


def _parts(page: str, heading: str) -> list[str]:
    if not heading:
        return [page]
    parts = re.split(r"^#+ ", page, flags=re.MULTILINE)
    titles = [part.partition("\n")[0] for part in parts]
    exact = [part for part, title in zip(parts, titles, strict=True) if title == heading]
    return exact or [part for part, title in zip(parts, titles, strict=True) if title.startswith(heading)]
