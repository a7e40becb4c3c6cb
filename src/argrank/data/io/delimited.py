"""CSV and TSV files: pyarrow splits the cells, `columns` says what they are, and complaints name the line."""

from __future__ import annotations

import contextlib
import io
import mmap
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from argrank._files import is_remote, open_bytes, read_all, split_suffixes
from argrank._memory import check_memory
from argrank._once import is_stream
from argrank.data.io.columns.checks import Columns, check_columns, check_names, columns_to_read
from argrank.data.io.columns.numbers import PLAIN, WHOLE, writings
from argrank.data.io.columns.pieces import arguments_of_pieces
from argrank.data.io.columns.roles import KINDS, NUMBERS, TEXTS
from argrank.data.io.columns.table import Reading, arguments_of
from argrank.data.io.columns.texts import CellError, Texts
from argrank.data.io.dialects import BEGINNING, Dialect, Given, find_dialect, text_rows
from argrank.data.io.naming import told_naming
from argrank.errors import FormatError, shown

DELIMITERS = {"csv": ",", "tsv": "\t"}
MISSING = [
    "",
    "NULL",
    "null",
    "NaN",
    "nan",
]  # in columns that pyarrow turns into numbers; other words take the long way
LOOK = 1000  # rows that say which columns pyarrow may turn into numbers
HELD = 3  # bytes of memory for each byte of text


class Content(NamedTuple):
    """A delimited file and how it is written; ``data`` is its text, in memory or mapped, where it is read whole."""

    path: str | os.PathLike[str]
    dialect: Dialect
    data: Any = None  # bytearray or mmap

    def table(self, names: Sequence[str], numbers: Sequence[str] = (), data: Any = None) -> Any:
        """Return columns as texts, some as numbers; ``data`` is a piece of the text that begins with the header."""
        import pyarrow as pa
        from pyarrow import csv

        source = pa.BufferReader(pa.py_buffer(self.data if data is None else data))
        try:
            return csv.read_csv(source, **self._options(names, numbers, self.data.find(b'"') >= 0))
        except UnicodeDecodeError as error:
            raise pa.ArrowInvalid(str(error)) from error

    def batches(self, stream: Any, names: Sequence[str], n_bytes: int) -> Iterator[Any]:
        """Yield columns as texts, piece by piece."""
        import pyarrow as pa
        from pyarrow import csv

        try:
            yield from csv.open_csv(stream, **self._options(names, (), True, n_bytes))
        except UnicodeDecodeError as error:
            raise pa.ArrowInvalid(str(error)) from error

    def _options(
        self, names: Sequence[str], numbers: Sequence[str], quoted: bool, block_size: int | None = None
    ) -> dict[str, Any]:
        import pyarrow as pa
        from pyarrow import csv

        encoding = "utf8" if self.dialect.encoding in ("utf-8", "utf-8-sig") else self.dialect.encoding
        return {
            "read_options": csv.ReadOptions(
                column_names=self.dialect.names,
                skip_rows_after_names=self.dialect.skip,
                encoding=encoding,
                block_size=block_size,
            ),
            "parse_options": csv.ParseOptions(delimiter=self.dialect.sep, newlines_in_values=quoted),
            "convert_options": csv.ConvertOptions(
                column_types={name: pa.float64() if name in numbers else pa.string() for name in names},
                include_columns=list(names),
                null_values=MISSING,
                strings_can_be_null=False,
            ),
        }

    def refuse_damage(self) -> None:
        """Raise where the text is no table: a NUL byte, cells in quotes without end, rows of another length."""
        n_columns = len(self.dialect.names)
        for line, row in self._rows():
            if len(row) != n_columns:
                expected = f"{n_columns} cells, as many as there are column names"
                raise FormatError(self.path, line, expected, f"{len(row)}")

    def wrong(self, error: CellError) -> FormatError:
        """Return what is wrong with a cell, with its line."""
        expected, place = f"{error.expected} in column {error.column!r}", self.dialect.names.index(error.column)
        for number, (line, row) in enumerate(self._rows()):
            if number == error.row:
                return FormatError(self.path, line, expected, f"{shown(row[place])}{error.advice}")
        return FormatError(self.path, None, expected, error.got)

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        if self.data is not None:
            yield from text_rows(io.BytesIO(self.data), self.path, self.dialect)
            return
        with open_bytes(self.path) as stream:
            yield from text_rows(stream, self.path, self.dialect)

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Turn complaints of pyarrow and of columns into such that name the line."""
        import pyarrow as pa

        try:
            yield
        except pa.ArrowInvalid as error:
            self.refuse_damage()
            got = " ".join(str(error).split())
            raise FormatError(self.path, None, f"{self.dialect.encoding.upper()} text in cells", got) from error
        except CellError as error:
            self.refuse_damage()
            raise self.wrong(error) from error


@contextlib.contextmanager
def opened(path: str | os.PathLike[str], usual: str, given: Given) -> Iterator[Content]:
    """Give the text of a delimited file and how it is written."""
    given = given.checked()
    with contextlib.ExitStack() as stack:
        data = _data(path, stack)
        check_memory(os.fspath(path), HELD * len(data), "pack it (argrank pack), which reads it in pieces")
        content = Content(path, find_dialect(bytes(data[:BEGINNING]), path, usual, given), data)
        odd = data.find(b'"') >= 0 and sum(piece.count(b'"') for piece in _pieces(data)) % 2
        if odd or (data.find(b"\0") >= 0 and not content.dialect.is_wide):
            content.refuse_damage()  # perhaps a cell in quotes without end, which would swallow all that follows
        yield content


def _data(path: str | os.PathLike[str], stack: contextlib.ExitStack) -> Any:
    plain = not is_stream(path) and not is_remote(path) and not split_suffixes(path)[1]
    if plain and Path(path).is_file() and Path(path).stat().st_size:
        file = stack.enter_context(open_bytes(path))
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return read_all(stack.enter_context(open_bytes(path)), os.fspath(path))


def read(path: str | os.PathLike[str], usual: str, reading: Reading, given: Given) -> dict[str, Any]:
    """Read a delimited file with a header into the arguments of Dataset."""
    with opened(path, usual, given) as content, content.explained():
        return _converted(content, _informed(content, usual, reading, given))


def stream(
    path: str | os.PathLike[str], usual: str, reading: Reading, given: Given, n_bytes: int
) -> Iterator[dict[str, Any]]:
    """Yield the arguments of Dataset for pieces of the text of about ``n_bytes``, in the order of the file.

    Ids are integers or texts, depending on what the piece holds. Features that are texts are refused.
    """
    import narwhals as nw
    import pyarrow as pa

    with open_bytes(path) as first:
        content = Content(path, find_dialect(first.read(BEGINNING), path, usual, given.checked()))
    reading = _informed(content, usual, reading, given)
    columns = columns_to_read(content.dialect.names, reading)
    with open_bytes(path) as text, content.explained():
        tables = (pa.Table.from_batches([one]) for one in content.batches(text, columns.all, n_bytes) if one.num_rows)
        pieces = (nw.from_native(_with_ids(one, reading), eager_only=True) for one in tables)
        yield from arguments_of_pieces(pieces, reading, path)


def _informed(content: Content, usual: str, reading: Reading, given: Given) -> Reading:
    check_columns(content.dialect.names, reading, content.path, content.dialect.line)
    told = [*reading.told, *content.dialect.told(given, usual)]
    return reading._replace(marks=given.marks, told=told, strict=True)


def _converted(content: Content, reading: Reading) -> dict[str, Any]:
    import pyarrow as pa

    columns = columns_to_read(content.dialect.names, reading)
    numbers = _plain_columns(content, columns, reading)
    table = None
    if numbers:
        with contextlib.suppress(pa.ArrowInvalid):
            table = content.table(columns.all, numbers)
    if table is None or not _as_we_would(table, numbers, columns.others):
        table = content.table(columns.all)
    return _arguments(content, table, reading)


def _arguments(content: Content, table: Any, reading: Reading) -> dict[str, Any]:
    import narwhals as nw

    if not table.num_rows:
        raise FormatError(content.path, None, "rows under the names of the columns", "none")
    return arguments_of(nw.from_native(_with_ids(table, reading), eager_only=True), reading)


def _with_ids(table: Any, reading: Reading) -> Any:
    """Return a table whose ids are integers where they are written so."""
    for name, meaning in columns_to_read(table.column_names, reading).meanings.items():
        if meaning not in (*NUMBERS, *TEXTS):
            table = table.set_column(table.column_names.index(name), name, _ids(name, meaning, table.column(name)))
    return table


def _ids(name: str, meaning: str | None, column: Any) -> Any:
    """Return ids as integers where all of them are written as str() writes integers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pc.all(pc.match_substring_regex(column, r"^(0|-?[1-9][0-9]{0,17})$")).as_py():
        return column.cast(pa.int64())
    empty = pc.equal(column, "")
    if meaning == "qid" and pc.any(empty).as_py():
        raise CellError(name, pc.index(empty, True).as_py(), "a query id", "''")
    return column


def _plain_columns(content: Content, columns: Columns, reading: Reading) -> list[str]:
    """Return the columns that the first rows show as plain numbers."""
    import pyarrow as pa

    if content.dialect.is_wide or reading.marks.decimal == ",":
        return []
    beginning = bytes(content.data[:BEGINNING])
    if len(content.data) > BEGINNING:
        beginning = beginning[: beginning.rfind(b"\n") + 1]
    try:
        first = content.table(columns.all, data=beginning).slice(0, LOOK)
    except pa.ArrowInvalid:
        return []
    otherwise = set(KINDS) - {"feature", "number"}
    numbers = [name for name, meaning in columns.meanings.items() if meaning in NUMBERS]
    numbers += [name for name in columns.others if reading.given.get(name) not in otherwise]
    ways = {name: writings(Texts(first.column(name)), reading.marks.decimal, "") for name in numbers}
    return [name for name, found in ways.items() if found and found[0] in (PLAIN, WHOLE)]


def _as_we_would(table: Any, numbers: Sequence[str], features: Sequence[str]) -> bool:
    """Tell whether pyarrow has read numbers as we would have: finite ones, in a table without decimal commas."""
    import pyarrow.compute as pc

    for name in numbers:
        values = table.column(name)
        if values.null_count < len(values) and not pc.all(pc.is_finite(values)).as_py():
            return False
    return not any(_commas(Texts(table.column(name))) for name in features if name not in numbers)


def _commas(texts: Texts) -> bool:
    ways = writings(texts)
    return bool(ways) and ways[0].decimal == ","


def _pieces(data: Any) -> Iterator[bytes]:
    for start in range(0, len(data), 1 << 24):
        yield data[start : start + (1 << 24)]


def texts_of(path: str | os.PathLike[str], usual: str) -> dict[str, list[str]]:
    """Return the columns of a delimited file as texts."""
    with opened(path, usual, told_naming().written) as content, content.explained():
        check_names(content.dialect.names, path, content.dialect.line)
        found: dict[str, list[str]] = content.table(content.dialect.names).to_pydict()
        return found


def header_of(path: str | os.PathLike[str], usual: str) -> list[str]:
    """Return the names of the columns of a delimited file; none where it is empty."""
    with open_bytes(path) as stream:
        beginning = stream.read(BEGINNING)
    try:
        return find_dialect(beginning, path, usual, told_naming().written).names
    except FormatError:
        return []
