"""LETOR text whose labels are clicks, with LightGBM's file of positions: one position per line."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from argrank._files import open_bytes
from argrank.data.clicks.counts import Unusable
from argrank.data.io.load import load
from argrank.errors import FormatError, shown

SUFFIX = ".position"


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Unusable]:
    """Return the columns of a log: a query of the file is a session, a comment ``docid = …`` names the document."""
    data = load(path)
    beside = os.fspath(path) + SUFFIX
    positions = _positions(beside)
    if len(positions) != data.n_documents:
        raise FormatError(beside, None, f"{data.n_documents} positions, one for each row", str(len(positions)))
    own = np.arange(data.n_documents) if data.document_ids is None else data.to_caller(data.document_ids)
    qid = data.to_caller(data.query_ids[data.query_of_row])
    columns = {"session": qid, "qid": qid, "docid": own, "position": positions, "click": data.to_caller(data.y)}
    return columns, Unusable()


def _positions(path: str) -> list[int]:
    with open_bytes(path) as stream:
        lines = stream.read().split(b"\n")
    lines = lines[:-1] if not lines[-1].strip() else lines
    for number, line in enumerate(lines, 1):
        if not line.strip().isdigit():
            raise FormatError(path, number, "a position, a whole number from 0 up", shown(line[:40]))
    return [int(line) for line in lines]
