"""Files beside a LETOR file: sizes of queries (``.query``, ``.group``) and weights (``.weight``)."""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._files import open_bytes, read_all, split_suffixes
from argrank._once import STDIN
from argrank._types import Integers
from argrank.data.io.letor.format import NUMBER, quoted
from argrank.errors import FormatError

GROUPS = (".query", ".group")  # LightGBM's, XGBoost's
WEIGHT = ".weight"


def find_side_file(path: str | os.PathLike[str], suffixes: tuple[str, ...]) -> Path | None:
    """Return the first side file that exists; ``a.txt.gz`` may have ``a.txt.gz.query`` or ``a.txt.query``."""
    name = os.fspath(path)
    if name == STDIN:
        return None
    compression = split_suffixes(name)[1]
    stems = [name, name[: -len(compression)]] if compression else [name]
    candidates = [Path(stem + suffix) for stem in stems for suffix in suffixes]
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def read_sizes(path: str | os.PathLike[str], n_rows: int) -> Integers:
    """Read the number of rows of every query, one number per line."""
    name = os.fspath(path)
    sizes = []
    for line, token in _tokens(name):
        if not token.isdigit() or len(token) > 18 or int(token) == 0:
            raise FormatError(name, line, "the size of a query, an integer from 1 up", quoted(token))
        sizes.append(int(token))
    if sum(sizes) != n_rows:
        raise FormatError(name, None, f"sizes that add up to {n_rows} rows", f"a sum of {sum(sizes)}")
    return np.array(sizes, np.int64)


def read_weights(path: str, n_rows: int, n_queries: int) -> tuple[str, NDArray[Any]] | None:
    """Read the weight file of a LETOR file, if there is one: (argument of Dataset, weights in the file's order)."""
    found = find_side_file(path, (WEIGHT,))
    if found is None:
        return None
    name = os.fspath(found)
    weights = []
    for line, token in _tokens(name):
        value = float(token) if NUMBER.fullmatch(token) else -1.0
        if not 0 <= value < np.inf:
            raise FormatError(name, line, "a weight, a finite number from 0 up", quoted(token))
        weights.append(value)
    if len(weights) not in (n_rows, n_queries):
        raise FormatError(name, None, f"a weight for each of {n_rows} rows or {n_queries} queries", f"{len(weights)}")
    if not any(weights):
        raise FormatError(name, None, "at least one positive weight", "zeros only")
    return ("sample_weight" if len(weights) == n_rows else "query_weight"), np.array(weights)


def _tokens(name: str) -> list[tuple[int, bytes]]:
    with open_bytes(name) as stream:
        lines = bytes(read_all(stream, name)).removeprefix(BOM_UTF8).split(b"\n")
    return [(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip()]
