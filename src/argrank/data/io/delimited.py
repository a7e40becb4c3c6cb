"""CSV and TSV files: pyarrow splits the cells, `columns` interprets them, and errors name the line."""

from __future__ import annotations

import contextlib
import io
import mmap
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from argrank._files import is_remote, open_bytes, read_all, split_suffixes
from argrank._lazy import LazyModule
from argrank._memory import check_memory
from argrank._once import is_stream
from argrank.data.io.columns.checks import Columns, check_columns, check_names, columns_to_read
from argrank.data.io.columns.filled import PLAIN_KINDS, Filled, NotFiniteError, by_rows, feature_columns, fill
from argrank.data.io.columns.numbers import Writing, writings
from argrank.data.io.columns.roles import NUMBERS, TEXTS, tell
from argrank.data.io.columns.table import Reading, arguments_of, arguments_of_pieces
from argrank.data.io.columns.texts import CellError, Texts, bools
from argrank.data.io.dialects import BEGINNING, Dialect, Given, find_dialect, text_rows
from argrank.data.io.naming import told_naming
from argrank.errors import FormatError, shown

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv
else:
    nw, pa, pc = LazyModule("narwhals"), LazyModule("pyarrow"), LazyModule("pyarrow.compute")
    csv = LazyModule("pyarrow.csv")


DELIMITERS = {"csv": ",", "tsv": "\t"}
#: Missing values in columns that pyarrow converts to numbers; other words use the slower path.
MISSING = ["", "NULL", "null", "NaN", "nan"]
LOOKED_AT = 1 << 16  # bytes examined to decide which columns pyarrow may convert to numbers
LOOK = 20  # rows examined for thousands separators
THOUSANDS = Writing(",", ".")
PIECE = 1 << 21  # bytes of text to read at a time
ROOM = 1.05  # factor on the number of rows estimated from the length of the first ones
COUNTED = 1 << 18  # bytes to count at a time: few enough for the cache
HELD = 3  # bytes of memory for each byte of text


class Content(NamedTuple):
    """A delimited file and its dialect; ``data`` is its text, in memory or mapped, if it is read whole."""

    path: str | os.PathLike[str]
    dialect: Dialect
    data: Any = None  # bytearray or mmap
    quoted: bool = True  # whether cells may be quoted

    def table(self, names: Sequence[str], data: Any = None, *, texts: Iterable[str] | None = None) -> Any:
        """Return columns as texts, or only some as texts, the others as converted by pyarrow.

        ``data`` is a piece of the text, with the header.
        """
        source = pa.BufferReader(pa.py_buffer(self.data if data is None else data))
        types = dict.fromkeys(names if texts is None else texts, pa.string())
        return csv.read_csv(source, **self._options(names, types))

    def batches(self, names: Sequence[str], n_bytes: int, numbers: Collection[str] = (), stream: Any = None) -> Any:
        """Return a reader of columns as texts, some as numbers, piece by piece."""
        source = pa.BufferReader(pa.py_buffer(self.data)) if stream is None else stream
        types = {name: pa.float64() if name in numbers else pa.string() for name in names}
        return csv.open_csv(source, **self._options(names, types, n_bytes))

    def _options(self, names: Sequence[str], types: Any, block_size: int | None = None) -> dict[str, Any]:
        encoding = "utf8" if self.dialect.encoding in ("utf-8", "utf-8-sig") else self.dialect.encoding
        return {
            "read_options": csv.ReadOptions(
                column_names=self.dialect.names,
                skip_rows=int(self.dialect.hint),
                skip_rows_after_names=self.dialect.skip,
                encoding=encoding,
                block_size=block_size,
            ),
            "parse_options": csv.ParseOptions(delimiter=self.dialect.sep, newlines_in_values=self.quoted),
            "convert_options": csv.ConvertOptions(
                column_types=types, include_columns=list(names), null_values=MISSING, strings_can_be_null=False
            ),
        }

    def refuse_damage(self) -> None:
        """Raise if the text is not a table: a NUL byte, unclosed quotes, rows of different length."""
        n_columns = len(self.dialect.names)
        for line, row in self.rows():
            if len(row) != n_columns:
                expected = f"{n_columns} cells, as many as there are column names"
                raise FormatError(self.path, line, expected, f"{len(row)}")

    def wrong(self, error: CellError) -> FormatError:
        """Return the error about a cell, with its line."""
        expected, place = f"{error.expected} in column {error.column!r}", self.dialect.names.index(error.column)
        for number, (line, row) in enumerate(self.rows()):
            if number == error.row:
                return FormatError(self.path, line, expected, f"{shown(row[place])}{error.advice}")
        return FormatError(self.path, None, expected, error.got)

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows under the header as texts, each with its line; slowly."""
        if self.data is not None:
            yield from text_rows(io.BytesIO(self.data), self.path, self.dialect)
            return
        with open_bytes(self.path) as stream:
            yield from text_rows(stream, self.path, self.dialect)

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Convert errors of pyarrow and of `columns` into errors that name the line."""
        try:
            yield
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:
            self.refuse_damage()
            got = " ".join(str(error).split())
            raise FormatError(self.path, None, f"{self.dialect.encoding.upper()} text in cells", got) from error
        except CellError as error:
            self.refuse_damage()
            raise self.wrong(error) from error


@contextlib.contextmanager
def opened(path: str | os.PathLike[str], usual: str, given: Given) -> Iterator[Content]:
    """Open a delimited file and detect its dialect."""
    given = given.checked()
    with contextlib.ExitStack() as stack:
        data = _data(path, stack)
        check_memory(os.fspath(path), HELD * len(data), "pack it (argrank pack), which reads it in pieces")
        quoted = data.find(b'"') >= 0
        content = Content(path, find_dialect(bytes(data[:BEGINNING]), path, usual, given), data, quoted)
        odd = quoted and _count(data, b'"') % 2
        if odd or (data.find(b"\0") >= 0 and not content.dialect.is_wide):
            content.refuse_damage()  # perhaps an unclosed quote, which would swallow the rest of the file
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

    Ids are integers or texts, depending on the piece. Text features are refused.
    """
    with open_bytes(path) as first:
        content = Content(path, find_dialect(first.read(BEGINNING), path, usual, given.checked()))
    reading = _informed(content, usual, reading, given)
    columns = columns_to_read(content.dialect.names, reading)
    with open_bytes(path) as text, content.explained():
        tables = (
            pa.Table.from_batches([one]) for one in content.batches(columns.all, n_bytes, (), text) if one.num_rows
        )
        pieces = (nw.from_native(_with_ids(one, reading), eager_only=True) for one in tables)
        yield from arguments_of_pieces(pieces, reading, path)


def _informed(content: Content, usual: str, reading: Reading, given: Given) -> Reading:
    check_columns(content.dialect.names, reading, content.path, content.dialect.line)
    told = [*reading.told, *content.dialect.told(given, usual)]
    return reading._replace(marks=given.marks, told=told, strict=True)


def _converted(content: Content, reading: Reading) -> dict[str, Any]:
    columns = columns_to_read(content.dialect.names, reading)
    filled = _filled(content, columns, reading)
    table = content.table(columns.all) if filled is None else filled.rest
    if not (table.num_rows if filled is None else len(filled.X)):
        raise FormatError(content.path, None, "rows under the names of the columns", "none")
    return arguments_of(nw.from_native(_with_ids(table, reading), eager_only=True), reading, filled)


def _filled(content: Content, columns: Columns, reading: Reading) -> Filled | None:
    """Let pyarrow convert columns that it reads as we would: finite numbers, in a table without decimal commas.

    Returns None if there is no such column, or if anything would be read differently.
    """
    features = feature_columns(columns.others, reading.given, reading.features is not None)
    all_numbers, row_bytes = _look(content, columns, features, reading)
    numbers = [name for name in all_numbers if name in features]
    if not numbers:
        return None
    n_rows = int(ROOM * len(content.data) / row_bytes)
    rest: list[Any] = []
    others = [name for name in columns.all if name not in numbers]
    try:
        reader = content.batches(columns.all, PIECE, all_numbers)
        pieces = by_rows(reader, len(features), others, rest)
        X = fill(pieces, list(features), dict.fromkeys(numbers, pa.float64()), n_rows, finite=True)
    except (pa.ArrowInvalid, UnicodeDecodeError, NotFiniteError):
        return None
    schema = pa.schema([reader.schema.field(name) for name in others])
    filled = Filled(X, columns.all, list(features), numbers, pa.Table.from_batches(rest, schema))
    ways = [writings(Texts(filled.rest.column(name))) for name in features if name not in numbers]
    if any(one and one[0].decimal == "," for one in ways):
        return None
    roles = [filled.rest.column(name) for name in all_numbers if name not in features]
    return filled if all(pc.all(pc.is_finite(values)).as_py() is not False for values in roles) else None


def _look(
    content: Content, columns: Columns, features: Mapping[str, str | None], reading: Reading
) -> tuple[list[str], float]:
    """Return the columns that pyarrow may convert to numbers, and the bytes per row, as the first rows show them.

    Columns that may have thousands separators are not left to pyarrow.
    """
    if content.dialect.is_wide or reading.marks.decimal == ",":
        return [], 1.0
    beginning = bytes(content.data[:LOOKED_AT])
    if len(content.data) > LOOKED_AT and b"\n" in beginning:
        beginning = beginning[: beginning.rfind(b"\n") + 1]
    names = [name for name, meaning in columns.meanings.items() if meaning in NUMBERS]
    names += [name for name, kind in features.items() if kind in PLAIN_KINDS]
    try:
        first = content.table(names, beginning, texts=())
        texts = content.table(names, beginning).slice(0, LOOK)
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return [], 1.0
    wanted = (pa.int64(), pa.float64(), pa.null())
    found = [name for name in names if first.schema.field(name).type in wanted]
    broken = [name for name in found if first.schema.field(name).type == pa.float64()]
    if broken and texts.num_rows:
        cells = pa.concat_arrays([texts.column(name).combine_chunks() for name in broken])
        fits = pc.or_(pc.equal(cells, ""), pc.match_substring_regex(cells, THOUSANDS.pattern))
        if bools(fits).all():  # no cell shows which mark it is
            found = [name for name in found if name not in broken]
    return found, max(1.0, len(beginning) / max(1, first.num_rows))


def _with_ids(table: Any, reading: Reading) -> Any:
    """Return a table with ids converted to integers if all of them are written as integers."""
    columns = columns_to_read(table.column_names, reading)
    features = feature_columns(columns.others, reading.given, reading.features is not None)
    ids = {name: one for name, one in columns.meanings.items() if one not in (*NUMBERS, *TEXTS)}
    more = [name for name in columns.others if name not in features and reading.given.get(name) != "text"]
    for name, meaning in (ids | dict.fromkeys(more, "docid")).items():
        table = table.set_column(table.column_names.index(name), name, _ids(name, meaning, table.column(name)))
    return table


def _ids(name: str, meaning: str | None, column: Any) -> Any:
    """Return ids as integers if all of them are written as str() writes integers."""
    with contextlib.suppress(pa.ArrowInvalid):
        integers = column.cast(pa.int64())
        if pc.all(pc.equal(integers.cast(pa.string()), column)).as_py():
            return integers
    empty = pc.equal(column, "")
    if meaning == "qid" and pc.any(empty).as_py():
        raise CellError(name, pc.index(empty, True).as_py(), "a query id", "''")
    return column


def _count(data: Any, byte: bytes) -> int:
    """Count the occurrences of a byte."""
    array = np.frombuffer(data, np.uint8)
    pieces = (array[start : start + COUNTED] for start in range(0, len(array), COUNTED))
    return sum(int(np.count_nonzero(piece == ord(byte))) for piece in pieces)


def texts_of(path: str | os.PathLike[str], usual: str) -> dict[str, list[str]]:
    """Return the columns of a delimited file as texts."""
    with opened(path, usual, told_naming().written) as content, content.explained():
        check_names(content.dialect.names, path, content.dialect.line)
        found: dict[str, list[str]] = content.table(content.dialect.names).to_pydict()
        return found


def table_of(path: str | os.PathLike[str], usual: str, ids: Callable[[list[str]], Collection[str]]) -> Any:
    """Return a delimited file as a table of pyarrow, with the types that pyarrow finds.

    The columns that ``ids`` chooses by the names are as they are written: integers if all of them are, else texts.
    """
    with opened(path, usual, Given()) as content, content.explained():
        names = content.dialect.names
        check_names(names, path, content.dialect.line)
        chosen = ids(names)
        table = content.table(names, texts=chosen)
        if told := content.dialect.told(Given(), usual):
            tell(f"{os.fspath(path)}: {'; '.join(told)}")
        for name in chosen:
            table = table.set_column(names.index(name), name, _ids(name, None, table.column(name)))
        return table


def header_of(path: str | os.PathLike[str], usual: str) -> list[str]:
    """Return the column names of a delimited file; an empty list if it is empty."""
    with open_bytes(path) as stream:
        beginning = stream.read(BEGINNING)
    try:
        return find_dialect(beginning, path, usual, told_naming().written).names
    except FormatError:
        return []
