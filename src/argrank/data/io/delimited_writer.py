"""Columns as CSV and TSV: numbers that float() reads back bit for bit, missing values as empty cells."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._files import write_bytes
from argrank.data.io.text import id_texts, number_text

CHUNK_ROWS = 8192  # rows converted together


def write(columns: Mapping[str, NDArray[Any]], path: str | os.PathLike[str], delimiter: str) -> None:
    """Write columns as a delimited file with a header."""
    n_rows = len(next(iter(columns.values())))
    header = id_texts(np.array(list(columns), object), "feature_names")
    with write_bytes(path) as stream:
        for start in range(0, n_rows, CHUNK_ROWS):
            if start == 0:
                stream.write((delimiter.join(_quoted(header, delimiter)) + "\n").encode())
            rows = slice(start, start + CHUNK_ROWS)
            cells = [_cells(name, values[rows], delimiter) for name, values in columns.items()]
            stream.write("".join(f"{delimiter.join(row)}\n" for row in zip(*cells, strict=True)).encode())


def _cells(name: str, values: NDArray[Any], delimiter: str) -> list[str]:
    if values.dtype.kind == "f":
        return [number_text(value) for value in values.tolist()]
    if values.dtype == object:
        values = np.array(["" if value is None else value for value in values.tolist()], object)
    return _quoted(id_texts(values, name), delimiter)


def _quoted(texts: list[str], delimiter: str) -> list[str]:
    special = (delimiter, '"', "\n", "\r")
    return [
        '"' + text.replace('"', '""') + '"' if any(character in text for character in special) else text
        for text in texts
    ]
