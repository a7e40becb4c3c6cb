"""Session lists, one session per line: session, query, list of documents, list of verticals, list of clicks."""

from __future__ import annotations

import json
import os
from typing import Any

from argrank._files import open_bytes
from argrank.data.clicks.counts import Unusable
from argrank.errors import FormatError, shown


def read(path: str | os.PathLike[str]) -> tuple[dict[str, list[Any]], Unusable]:
    """Return the columns of a log, and what could not be used; lines with the same session are searches of one user."""
    found: dict[str, list[Any]] = {name: [] for name in ("session", "user", "qid", "docid", "position", "click")}
    with open_bytes(path) as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                _add(path, number, line, found)
    if not found["session"]:
        raise FormatError(path, None, "one session per line", "an empty file")
    return found, Unusable()


def _add(path: str | os.PathLike[str], number: int, line: bytes, found: dict[str, list[Any]]) -> None:
    try:
        cells = line.decode("utf-8").rstrip("\r\n").split("\t")
    except UnicodeDecodeError as error:
        raise FormatError(path, number, "UTF-8 text", "other bytes") from error
    if len(cells) < 5:
        raise FormatError(path, number, "five cells: session, query, documents, verticals, clicks", str(len(cells)))
    documents, clicks = _list(path, number, cells[2]), _list(path, number, cells[4])
    if len(documents) != len(clicks) or not documents:
        raise FormatError(path, number, "as many clicks as documents", f"{len(clicks)} and {len(documents)}")
    n = len(documents)
    found["session"] += [f"{cells[0]}:{number}"] * n
    found["user"] += [cells[0]] * n
    found["qid"] += [cells[1]] * n
    found["docid"] += [str(one) for one in documents]
    found["position"] += range(1, n + 1)
    found["click"] += clicks


def _list(path: str | os.PathLike[str], number: int, text: str) -> list[Any]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(path, number, "a list in brackets", shown(text)) from error
    if not isinstance(values, list) or not all(isinstance(one, int | str) for one in values):
        raise FormatError(path, number, "a list of numbers or texts", shown(text))
    return values
