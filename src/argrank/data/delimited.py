"""CSV and TSV files, with the line number in every complaint and values that survive a round trip bit for bit."""

from __future__ import annotations

import csv
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._files import open_bytes, write_bytes
from argrank.data.columns import TEXTS, Chosen, choose, feature_names, named_columns, stored_rows
from argrank.data.dataset import Dataset
from argrank.data.frames import COLUMNS
from argrank.data.text import id_texts, is_number, number_text, read_ids, read_numbers, text_lines
from argrank.errors import FormatError, InputError, shown

CHUNK_ROWS = 8192  # rows converted together
NUMBERS = ("label", "query_weight", "sample_weight")  # columns with a meaning that are numbers from 0 up


def read(path: str | os.PathLike[str], delimiter: str, columns: Mapping[str, str | None], dtype: Any) -> dict[str, Any]:
    """Read a delimited file with a header into the arguments of Dataset."""
    with open_bytes(path) as stream:
        reader = csv.reader(text_lines(stream, path), delimiter=delimiter, strict=True)
        try:
            names = next(reader, None)
            if not names:
                raise FormatError(path, None, "a line with the names of the columns", "an empty file")
            chosen = choose(names, columns, path, 1)
            blocks: list[NDArray[Any]] = []
            cells: dict[str, list[Any]] = {name: [] for name in chosen.named}
            for chunk in _chunks(reader, names, path):
                blocks.append(_features(chunk, chosen, np.dtype(dtype)))
                for name, position in chosen.named.items():
                    cells[name].extend(_named(chunk, name, position))
        except csv.Error as error:
            raise FormatError(path, reader.line_num, "delimited text", str(error)) from error
    if not blocks:
        raise FormatError(path, None, "rows under the names of the columns", "none")
    found: dict[str, Any] = {COLUMNS[name]: _column(name, values) for name, values in cells.items()}
    return found | {"X": np.concatenate(blocks), "feature_names": [names[at] for at in chosen.features]}


def write(data: Dataset, path: str | os.PathLike[str], delimiter: str) -> None:
    """Write a Dataset as a delimited file, in the caller's row order; missing values are empty cells."""
    names = feature_names(data)
    columns = {
        name: list(map(number_text, values.tolist())) if name in NUMBERS else _texts(name, values, delimiter)
        for name, values in named_columns(data).items()
    }
    different = len(set(columns["qid"]))
    if different != data.n_queries or "" in columns["qid"]:
        raise InputError(
            f"qid: expected {data.n_queries} ids with different texts for a delimited file, got {different}"
            f"{', one of them empty' if '' in columns['qid'] else ''}"
        )
    header = [*columns, *_texts("feature_names", np.array(names, object), delimiter)]
    order = stored_rows(data)
    with write_bytes(path) as stream:
        stream.write((delimiter.join(header) + "\n").encode())
        for start in range(0, data.n_documents, CHUNK_ROWS):
            rows = slice(start, start + CHUNK_ROWS)
            block = data.X[order[rows]]
            values = (block.toarray() if sparse.issparse(block) else block).tolist()
            heads = zip(*(column[rows] for column in columns.values()), strict=True)
            lines = (
                delimiter.join((*head, *map(number_text, row))) + "\n" for head, row in zip(heads, values, strict=True)
            )
            stream.write("".join(lines).encode())


class _Chunk(NamedTuple):
    path: str | os.PathLike[str]
    names: Sequence[str]
    cells: list[tuple[str, ...]]  # by column
    lines: list[int]  # where each row begins

    def wrong(self, position: int, row: int, expected: str) -> FormatError:
        expected = f"{expected} in column {self.names[position]!r}"
        return FormatError(self.path, self.lines[row], expected, shown(self.cells[position][row]))


def _chunks(reader: Any, names: Sequence[str], path: str | os.PathLike[str]) -> Iterator[_Chunk]:
    for numbered in iter(lambda: list(itertools.islice(_rows(reader), CHUNK_ROWS)), []):
        for line, row in numbered:
            if len(row) != len(names):
                raise FormatError(path, line, f"{len(names)} cells, as many as there are column names", f"{len(row)}")
        lines, rows = zip(*numbered, strict=True)
        yield _Chunk(path, names, list(zip(*rows, strict=True)), list(lines))


def _rows(reader: Any) -> Iterator[tuple[int, list[str]]]:
    line = reader.line_num + 1
    for row in reader:
        if row:  # else an empty line
            yield line, row
        line = reader.line_num + 1


def _features(chunk: _Chunk, chosen: Chosen, dtype: np.dtype[Any]) -> NDArray[Any]:
    block = np.empty((len(chunk.lines), len(chosen.features)), dtype)
    with np.errstate(over="ignore"):  # too large for float32 becomes infinite, which a Dataset refuses
        for column, position in enumerate(chosen.features):
            block[:, column] = _numbers(chunk, position, "a finite number")
    return block


def _numbers(chunk: _Chunk, position: int, expected: str) -> NDArray[np.float64]:
    cells = chunk.cells[position]
    try:
        return read_numbers(cells)
    except ValueError:
        row = next(row for row, cell in enumerate(cells) if not is_number(cell))
        raise chunk.wrong(position, row, expected) from None


def _named(chunk: _Chunk, name: str, position: int) -> Sequence[Any]:
    cells = chunk.cells[position]
    if name in NUMBERS:
        expected = "a number from 0 up"
        values = _numbers(chunk, position, expected)
        if not (values >= 0).all():  # negative or missing
            raise chunk.wrong(position, int(np.argmin(values >= 0)), expected)
        return list(values)
    if name == "qid" and not all(cells):
        raise chunk.wrong(position, cells.index(""), "a query id")
    return cells


def _column(name: str, values: list[Any]) -> NDArray[Any]:
    if name in NUMBERS:
        return np.array(values)
    if name in TEXTS:
        return np.array(values, dtype=object)
    return read_ids(values)


def _texts(what: str, values: NDArray[Any], delimiter: str) -> list[str]:
    special = (delimiter, '"', "\n", "\r")
    return [
        '"' + text.replace('"', '""') + '"' if any(character in text for character in special) else text
        for text in id_texts(values, what)
    ]
