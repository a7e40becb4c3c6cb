"""Logged features and scores of an engine against the model's own scores."""

from __future__ import annotations

import csv
import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from argrank._files import open_bytes
from argrank._types import Floats
from argrank.deploy.options import MISSING, names_of
from argrank.deploy.parity import own_scores
from argrank.deploy.plain import plain
from argrank.deploy.registry import model_of
from argrank.errors import FormatError, OptionError, check_choice, shown

EMPTY = ("", "nan", "null", "none")


@dataclass(frozen=True)
class Verification:
    """The largest difference, where it is, and whether it is within the tolerance."""

    largest: float
    line: str
    holds: bool


def verify(
    model: Any,
    path: str | os.PathLike[str],
    *,
    tolerance: float = 1e-5,
    missing: str = "as-trained",
    constant: bool = False,
) -> Verification:
    """Compare a table of logged features and scores with the model; columns are found by name."""
    if not isinstance(tolerance, int | float) or not 0 <= tolerance < math.inf:
        raise OptionError(f"tolerance: expected a number from 0 up, got {shown(tolerance)}")
    check_choice("missing", missing, MISSING)
    served = model_of(model)
    parts = plain(served, missing)
    names = names_of(served.feature_names, None, parts.n_features)
    X, scores, places = _read(path, names)
    expected = own_scores(served, parts, missing, X.astype(np.float32))
    differences = scores - expected
    if constant:
        differences = differences - np.median(differences)
    row = int(np.argmax(np.abs(differences)))
    largest = float(np.abs(differences[row]))
    holds = largest <= tolerance
    verdict = "within" if holds else "beyond"
    line = (
        f"{len(scores):,} scores: largest difference {largest:.3g} ({verdict} {tolerance:g}) at {places[row]}: "
        f"logged {float(scores[row])!r}, argrank {float(expected[row])!r}"
    )
    return Verification(largest, line, holds)


def _read(path: str | os.PathLike[str], names: tuple[str, ...]) -> tuple[Floats, Floats, list[str]]:
    rows: list[list[float]] = []
    scores: list[float] = []
    places: list[str] = []
    with open_bytes(path) as stream:
        try:
            text = stream.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise FormatError(path, None, "UTF-8 text", "other bytes") from error
    table = csv.reader(text.splitlines())
    header = [name.strip() for name in next(table, [])]
    absent = next((name for name in (*names, "score") if name not in header), None)
    if absent is not None:
        raise FormatError(path, 1, f"a column {absent!r}", shown(",".join(header)))
    if len(set(header)) < len(header):
        raise FormatError(path, 1, "different columns", shown(",".join(header)))
    column = {name: i for i, name in enumerate(header)}
    for number, cells in enumerate(table, 2):
        if not cells:
            continue
        if len(cells) != len(header):
            raise FormatError(path, number, f"{len(header)} cells", str(len(cells)))
        rows.append([_number(path, number, cells[column[name]], True) for name in names])
        scores.append(_number(path, number, cells[column["score"]], False))
        labels = [f"{name} {cells[column[name]]}" for name in ("qid", "docid") if name in column]
        places.append(", ".join([f"line {number}", *labels]))
    if not rows:
        raise FormatError(path, None, "logged rows", "none")
    return np.array(rows), np.array(scores), places


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
