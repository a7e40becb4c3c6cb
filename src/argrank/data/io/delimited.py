"""CSV and TSV files, with the line number in every complaint and values that survive a round trip bit for bit."""

from __future__ import annotations

import contextlib
import csv
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._files import open_bytes, write_bytes
from argrank._memory import check_memory
from argrank._types import Floats
from argrank.data.categories import decode, encode
from argrank.data.dataset import Dataset
from argrank.data.frames import COLUMNS
from argrank.data.io.columns import (
    NUMBERS,
    TEXTS,
    Chosen,
    choose,
    feature_names,
    named_columns,
    refused_text,
    stored_rows,
)
from argrank.data.io.text import id_texts, is_number, number_text, read_ids, read_numbers, text_lines
from argrank.errors import FormatError, InputError, shown

CHUNK_ROWS = 8192  # rows converted together
CELL = 60  # bytes of a cell that is a text
LOOK = 100  # lines that say which features are texts


class _Table(NamedTuple):
    """What a file is, for all that reads it."""

    path: str | os.PathLike[str]
    delimiter: str
    names: Sequence[str]
    chosen: Chosen
    texts: frozenset[int] = frozenset()  # features that are texts

    @property
    def feature_names(self) -> list[str]:
        return [self.names[at] for at in self.chosen.features]


class _Block(NamedTuple):
    """Some rows, converted."""

    X: Floats  # NaN where a feature is a text
    named: dict[str, Sequence[Any]]
    texts: dict[int, Sequence[str]]


def read(
    path: str | os.PathLike[str],
    delimiter: str,
    columns: Mapping[str, str | None],
    features: Sequence[str] | None,
    dtype: Any,
) -> dict[str, Any]:
    """Read a delimited file with a header into the arguments of Dataset."""
    blocks: list[NDArray[Any]] = []
    n_bytes = 0.0  # of the blocks, of their joined copy, and of cells that are texts
    with _opened(path, delimiter, columns, features) as (table, found_blocks):
        cells: dict[str, list[Any]] = {name: [] for name in table.chosen.named}
        texts: dict[int, list[str]] = {position: [] for position in table.texts}
        for block in found_blocks:
            with np.errstate(over="ignore"):  # too large for float32 becomes infinite, which a Dataset refuses
                blocks.append(block.X.astype(dtype, copy=False))
            n_bytes += blocks[-1].nbytes * 2 + len(blocks[-1]) * CELL * (len(cells) + len(texts))
            check_memory("table", n_bytes, "pack it (argrank pack), or read it as float32")
            for name, values in block.named.items():
                cells[name].extend(values)
            for position, column in block.texts.items():
                texts[position].extend(column)
    if not blocks:
        raise FormatError(path, None, "rows under the names of the columns", "none")
    found: dict[str, Any] = {COLUMNS[name]: _column(name, values) for name, values in cells.items()}
    X, categories = np.concatenate(blocks), {}
    for position, column in texts.items():
        X[:, table.chosen.features.index(position)], categories[table.names[position]] = encode(column)
    return found | {"X": X, "feature_names": table.feature_names, "categories": categories}


def stream(
    path: str | os.PathLike[str],
    delimiter: str,
    columns: Mapping[str, str | None],
    features: Sequence[str] | None,
) -> Iterator[dict[str, Any]]:
    """Yield the arguments of Dataset for a few thousand rows at a time, in the order of the file.

    Ids are integers or texts, depending on what the piece holds. Features that are texts are refused, since all of
    them would have to be seen before the first can get its number.
    """
    with _opened(path, delimiter, columns, features) as (table, blocks):
        for at in table.texts:
            raise refused_text(path, table.names[at])
        for block in blocks:
            found: dict[str, Any] = {COLUMNS[name]: _column(name, list(one)) for name, one in block.named.items()}
            yield found | {"X": block.X, "feature_names": table.feature_names}


@contextlib.contextmanager
def _opened(
    path: str | os.PathLike[str],
    delimiter: str,
    columns: Mapping[str, str | None],
    features: Sequence[str] | None,
) -> Iterator[tuple[_Table, Iterator[_Block]]]:
    """Return what the first lines say about a file, and its rows."""
    with open_bytes(path) as opened:
        lines = text_lines(opened, path, held=0)  # whole files are looked at block by block
        first = next(_rows(lines, 0, delimiter, path), None)
        if first is None:
            raise FormatError(path, None, "a line with the names of the columns", "an empty file")
        line, names = first
        chosen = choose(names, columns, path, line, features)
        begin = list(itertools.islice(lines, LOOK))
        table = _Table(path, delimiter, names, chosen, _text_columns(begin, delimiter, chosen))
        yield table, _blocks(itertools.chain(begin, lines), line + sum(name.count("\n") for name in names), table)


def _text_columns(lines: list[str], delimiter: str, chosen: Chosen) -> frozenset[int]:
    """Return the features that are texts in most of the first lines; a text among numbers is a mistake."""
    numbers, texts = (dict.fromkeys(chosen.features, 0) for _ in range(2))
    with contextlib.suppress(csv.Error):  # a cell in quotes that ends later: the reader itself complains
        for row in csv.reader(lines, delimiter=delimiter, strict=True):
            for at in chosen.features:
                if at < len(row) and row[at].strip():
                    (numbers if _looks_numeric(row[at]) else texts)[at] += 1
    return frozenset(at for at in chosen.features if texts[at] > numbers[at])


def _looks_numeric(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return is_number(cell)
    return True


def write(data: Dataset, path: str | os.PathLike[str], delimiter: str) -> None:
    """Write a Dataset as a delimited file, in the caller's row order; missing values are empty cells."""
    names = feature_names(data)
    texts = {
        names.index(name): _cells(decode(data.X[:, names.index(name)], own), delimiter)
        for name, own in (data.categories or {}).items()
    }
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
            if texts:
                _put_texts(values, order[rows], texts)
            heads = zip(*(column[rows] for column in columns.values()), strict=True)
            lines = [
                f"{delimiter.join(head)}{delimiter}{_row_text(row, delimiter)}"
                for head, row in zip(heads, values, strict=True)
            ]
            stream.write("".join(lines).encode())


def _row_text(values: list[float] | list[float | str], delimiter: str) -> str:
    """Write numbers as `number_text` does, the whole row at once."""
    if any(isinstance(value, str) for value in values):
        return delimiter.join(value if isinstance(value, str) else number_text(value) for value in values) + "\n"
    text = delimiter.join(map(repr, values)) + "\n"
    return text.replace("nan", "").replace(f".0{delimiter}", delimiter).replace(".0\n", "\n")


def _put_texts(values: list[list[Any]], rows: Any, texts: dict[int, list[str]]) -> None:
    """Put the texts of some columns where X has their numbers."""
    for line, row in zip(values, rows.tolist(), strict=True):
        for position, column in texts.items():
            line[position] = column[row]


def _blocks(lines: Iterator[str], done: int, table: _Table) -> Iterator[_Block]:
    """Convert the lines that follow the first ``done`` ones."""
    while piece := list(itertools.islice(lines, CHUNK_ROWS)):
        if any('"' in line for line in piece):
            # a cell in quotes may go on in the lines to come: the rest is left to one reader
            yield from _careful(itertools.chain(piece, lines), done, table)
            return
        block = _fast(piece, table)
        if block is not None:
            yield block
        else:
            yield from _careful(piece, done, table)
        done += len(piece)


def _fast(lines: list[str], table: _Table) -> _Block | None:
    """Convert lines without quotes at once; None where anything is missing, wrong or odd."""
    numbers = {at for name, at in table.chosen.named.items() if name in NUMBERS} | {
        *table.chosen.features
    } - table.texts
    kinds = [(str(at), np.float64 if at in numbers else np.object_) for at in range(len(table.names))]
    if not any(line.strip("\r\n") for line in lines):
        return None
    try:
        rows = np.loadtxt(lines, np.dtype(kinds), comments=None, delimiter=table.delimiter, ndmin=1)
    except ValueError:
        return None
    unknown = np.full(len(rows), np.nan)
    X = np.stack([unknown if at in table.texts else rows[str(at)] for at in table.chosen.features], axis=1)
    named = {name: rows[str(at)] for name, at in table.chosen.named.items()}
    right = not np.isinf(X).any() and all(
        bool(((values >= 0) & (values < np.inf)).all()) if name in NUMBERS else name != "qid" or all(values)
        for name, values in named.items()
    )
    if not right:
        return None
    texts = {at: rows[str(at)].tolist() for at in table.texts}
    return _Block(X, {name: values.tolist() for name, values in named.items()}, texts)


class _Chunk(NamedTuple):
    """Some rows as texts."""

    table: _Table
    cells: list[tuple[str, ...]]  # by column
    lines: tuple[int, ...]  # where each row begins

    def wrong(self, position: int, row: int, expected: str) -> FormatError:
        expected = f"{expected} in column {self.table.names[position]!r}"
        return FormatError(self.table.path, self.lines[row], expected, shown(self.cells[position][row]))


def _careful(lines: Iterable[str], done: int, table: _Table) -> Iterator[_Block]:
    """Convert lines cell by cell where necessary, so that a complaint names the line and the column."""
    rows = _rows(lines, done, table.delimiter, table.path)
    while numbered := list(itertools.islice(rows, CHUNK_ROWS)):
        for line, row in numbered:
            if len(row) != len(table.names):
                expected = f"{len(table.names)} cells, as many as there are column names"
                raise FormatError(table.path, line, expected, f"{len(row)}")
        beginnings, texts = zip(*numbered, strict=True)
        chunk = _Chunk(table, list(zip(*texts, strict=True)), beginnings)
        unknown = np.full(len(texts), np.nan)
        columns = [
            unknown if at in table.texts else _numbers(chunk, at, "a finite number") for at in table.chosen.features
        ]
        named = {name: _named(chunk, name, at) for name, at in table.chosen.named.items()}
        yield _Block(np.stack(columns, axis=1), named, {at: chunk.cells[at] for at in table.texts})


def _rows(
    lines: Iterable[str], done: int, delimiter: str, path: str | os.PathLike[str]
) -> Iterator[tuple[int, list[str]]]:
    """Yield rows with the number of the line on which they begin."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    line = done + 1
    try:
        for row in reader:
            if row:  # else an empty line
                yield line, row
            line = done + reader.line_num + 1
    except csv.Error as error:
        raise FormatError(path, done + reader.line_num, "delimited text", str(error)) from error


def _numbers(chunk: _Chunk, position: int, expected: str) -> Floats:
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
    return _cells(id_texts(values, what), delimiter)


def _cells(texts: Iterable[str | None], delimiter: str) -> list[str]:
    special = (delimiter, '"', "\n", "\r")
    return [
        '"' + text.replace('"', '""') + '"' if any(character in text for character in special) else text
        for text in ("" if text is None else text for text in texts)
    ]
