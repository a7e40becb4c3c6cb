"""A table of what an engine logged: a column for each feature, the score, perhaps qid and docid."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from argrank._files import open_bytes
from argrank._types import Floats
from argrank.deploy.engine_columns import texts_of
from argrank.deploy.options import Term
from argrank.deploy.plain import Plain
from argrank.errors import FormatError, shown

EMPTY = ("", "nan", "null", "none")


class Logged(NamedTuple):
    """Features as the model has them, texts by number; scores; and where each row is in the file."""

    X: Floats
    scores: Floats
    places: list[str]


def read_logged(path: str | os.PathLike[str], served: Any, parts: Plain, names: tuple[str, ...]) -> Logged:
    """Read the table; a feature with categories may be logged as such, or as columns of 0 and 1."""
    with open_bytes(path) as stream:
        try:
            text = stream.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise FormatError(path, None, "UTF-8 text", "other bytes") from error
    table = csv.reader(io.StringIO(text, newline=""))
    header = [name.strip() for name in next(table, [])]
    if len(set(header)) < len(header):
        raise FormatError(path, 1, "different columns", shown(",".join(header)))
    column = {name: i for i, name in enumerate(header)}
    readers = [_reader(path, served, parts, names, feature, column) for feature in range(len(names))]
    if "score" not in column:
        raise FormatError(path, 1, "a column 'score'", shown(",".join(header)))
    rows: list[list[float]] = []
    scores: list[float] = []
    places: list[str] = []
    for cells in table:
        if not cells:
            continue
        number = table.line_num
        if len(cells) != len(header):
            raise FormatError(path, number, f"{len(header)} cells", str(len(cells)))
        rows.append([read(number, cells) for read in readers])
        scores.append(_number(path, number, cells[column["score"]], False))
        labels = [f"{name} {cells[column[name]]}" for name in ("qid", "docid") if name in column]
        places.append(", ".join([f"line {number}", *labels]))
    if not rows:
        raise FormatError(path, None, "logged rows", "none")
    return Logged(np.array(rows), np.array(scores), places)


def _reader(
    path: str | os.PathLike[str],
    served: Any,
    parts: Plain,
    names: tuple[str, ...],
    feature: int,
    column: Mapping[str, int],
) -> Any:
    """Return what reads one feature from the cells of a line."""
    name, texts = names[feature], texts_of(served).get(feature)
    if name in column:
        place = column[name]
        if texts is None:
            return lambda line, cells: _number(path, line, cells[place], True)
        codes = {text: float(code) for code, text in enumerate(texts)}
        codes = {str(code): float(code) for code in range(len(texts))} | codes  # engines of numbers log those
        return lambda line, cells: codes.get(cells[place], codes.get(cells[place].removesuffix(".0"), math.nan))
    categories = parts.categories
    if texts is None and feature not in categories:
        raise FormatError(path, 1, f"a column {name!r}", shown(",".join(column)))
    terms = {Term(name, str(code) if texts is None else texts[code]).name: code for code in categories.get(feature, [])}
    absent = next((one for one in terms if one not in column), None)
    if absent is not None:
        raise FormatError(path, 1, f"a column {name!r}, or {absent!r} and the like", shown(",".join(column)))

    def category(line: int, cells: list[str]) -> float:
        values = {code: _number(path, line, cells[column[one]], True) for one, code in terms.items()}
        is_one = [code for code, value in values.items() if value == 1]
        if len(is_one) > 1 or not all(value in (0, 1) or math.isnan(value) for value in values.values()):
            raise FormatError(path, line, f"0 or 1 in the columns of {name!r}, 1 at most once", shown(cells))
        return float(is_one[0]) if is_one else math.nan

    return category


def _number(path: str | os.PathLike[str], line: int, text: str, may_miss: bool) -> float:
    if may_miss and text.strip().lower() in EMPTY:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        value = math.inf
    if not math.isfinite(value):
        raise FormatError(path, line, "a number", shown(text))
    return value
