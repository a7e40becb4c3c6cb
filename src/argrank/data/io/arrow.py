"""Parquet and Arrow (Feather, IPC) files, through pyarrow."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from numpy.typing import NDArray

from argrank._files import open_bytes, read_all, split_suffixes, write_bytes
from argrank._lazy import LazyModule
from argrank._memory import check_memory, max_memory
from argrank.data.io.columns.checks import check_columns, columns_to_read
from argrank.data.io.columns.filled import PLAIN_KINDS, Filled, Piece, by_rows, feature_columns, fill, number_types
from argrank.data.io.columns.table import Reading, arguments_of, arguments_of_pieces
from argrank.errors import ArgrankError, FormatError, InputError

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa
    import pyarrow.parquet as pq
else:
    nw, pa, pq = LazyModule("narwhals"), LazyModule("pyarrow"), LazyModule("pyarrow.parquet")


ROWS = 1 << 13  # rows of a batch
BUFFER = 1 << 17  # bytes of a file to read at a time: reading whole columns would allocate new memory each time
LARGEST_PAGE = 1 << 31  # limit for the size that a (perhaps damaged) page claims, which a buffer would allocate
TOGETHER = 16  # columns of Parquet that are read together: so many numbers fill two lines of the cache
ARROW_FILE = b"ARROW1"  # first bytes of an IPC file, not of an IPC stream


def read(path: str | os.PathLike[str], kind: str, reading: Reading) -> dict[str, Any]:
    """Read a Parquet or Arrow file into the arguments of Dataset; numbers are read directly into X."""
    with _opened(path, kind) as file:
        check_columns(file.schema.names, reading, path, None)
        columns = columns_to_read(file.schema.names, reading)
        features = feature_columns(columns.others, reading.given, reading.features is not None)
        numbers = number_types(file.schema, [name for name, one in features.items() if one in PLAIN_KINDS])
        others = [name for name in columns.all if name not in numbers]
        if file.n_rows is None:
            table = pa.Table.from_batches(_within_memory(path, file, columns.all), _selected(file.schema, columns.all))
            pieces = by_rows(table.to_batches(ROWS), len(features), (), [])
        else:
            table = pa.Table.from_batches(_within_memory(path, file, others), _selected(file.schema, others))
            pieces = _by_columns(file, list(features), numbers)
        n_rows = len(table) if file.n_rows is None else file.n_rows
        filled = Filled(
            fill(pieces, list(features), numbers, n_rows), columns.all, list(features), numbers, table.select(others)
        )
    return arguments_of(nw.from_native(filled.rest, eager_only=True), reading, filled)


def _by_columns(file: Opened, names: list[str], numbers: Collection[str]) -> Iterator[Piece]:
    """Yield a few columns at a time: Parquet's reader keeps a page of every column in memory."""
    for first in range(0, len(names), TOGETHER):
        some, row = names[first : first + TOGETHER], 0
        wanted = [name for name in some if name in numbers]
        for batch in file.batches(wanted, ROWS) if wanted else ():
            yield Piece(row, first, first + len(some), batch)
            row += len(batch)


def stream(
    path: str | os.PathLike[str], kind: str, reading: Reading, n_values: int, ids_alone: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield the arguments of Dataset for pieces of about ``n_values`` features, in the order of the file.

    ``ids_alone`` reads only the query ids. Text features are refused.
    """
    with _opened(path, kind) as file:
        check_columns(file.schema.names, reading, path, None)
        columns = columns_to_read(file.schema.names, reading)
        wanted = [name for name, one in columns.meanings.items() if one == "qid"] if ids_alone else columns.all
        pieces = _pieces(file.batches, wanted, max(1, n_values // len(columns.all)))
        if ids_alone:
            yield from ({"qid": piece.column(wanted[0]).to_numpy()} for piece in pieces)
        else:
            tables = (nw.from_native(piece, eager_only=True) for piece in pieces)
            yield from arguments_of_pieces(tables, reading, path)


Batches = Callable[[list[str], int], Iterator[Any]]  # (columns, rows of a batch) -> batches


class Opened(NamedTuple):
    """An open file of columns: its schema, its number of rows if known in advance, and its batches."""

    schema: Any
    n_rows: int | None
    batches: Batches


@contextmanager
def _opened(path: str | os.PathLike[str], kind: str) -> Iterator[Opened]:
    """Open a Parquet or Arrow file; damage gives a FormatError."""
    with open_bytes(path) as opened:
        plain = opened.seekable() and not split_suffixes(path)[1]  # not an archive or a pipe
        source = opened if plain else io.BytesIO(read_all(opened, os.fspath(path)))
        try:
            yield _parquet_file(source) if kind == "parquet" else _ipc_file(source)
        except ArgrankError:
            raise
        except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, MemoryError) as error:
            got = " ".join(str(error).split()) or type(error).__name__
            raise FormatError(path, None, f"a complete {kind} file", got) from error


def _selected(schema: Any, names: list[str]) -> Any:
    return pa.schema([schema.field(name) for name in names])


def _within_memory(path: str | os.PathLike[str], file: Opened, names: list[str]) -> Iterator[Any]:
    """Yield the batches of a file; raise if all of them exceed the memory limit."""
    n_bytes = 8.0 * (file.n_rows or 0) * len(file.schema.names)  # equal values take almost no space in a file
    _check_memory(path, n_bytes)
    for batch in file.batches(names, ROWS):
        if file.n_rows is None:
            n_bytes += batch.nbytes
            _check_memory(path, n_bytes)
        yield batch


def stream_columns(
    path: str | os.PathLike[str], kind: str, n_rows: int, chosen: Callable[[list[str]], list[str]]
) -> Iterator[Any]:
    """Yield the columns that are chosen from all names as pyarrow Tables of at most ``n_rows`` rows."""
    with _opened(path, kind) as file:
        yield from _pieces(file.batches, chosen(list(file.schema.names)), n_rows)


def _pieces(batches: Batches, names: list[str], n_rows: int) -> Iterator[Any]:
    for batch in batches(names, n_rows):
        for start in range(0, batch.num_rows, n_rows):
            yield pa.Table.from_batches([batch.slice(start, n_rows)])


def read_columns(path: str | os.PathLike[str], kind: str) -> Any:
    """Read a Parquet or Arrow file as a pyarrow Table; damage gives a FormatError."""
    with _opened(path, kind) as file:
        return pa.Table.from_batches(_within_memory(path, file, file.schema.names), file.schema)


def write(columns: Mapping[str, NDArray[Any]], path: str | os.PathLike[str], kind: str) -> None:
    """Write columns as a Parquet or Arrow file; ids keep their type."""
    table = pa.table({name: _array(name, values) for name, values in columns.items()})
    with write_bytes(path) as stream:
        if kind == "parquet":
            pq.write_table(table, stream, write_page_checksum=True)
        else:
            with pa.ipc.new_file(stream, table.schema) as writer:
                writer.write_table(table)


def _check_memory(path: str | os.PathLike[str], n_bytes: float) -> None:
    check_memory(os.fspath(path), n_bytes, "pack it (argrank pack), which reads it in pieces")


def _parquet_file(source: IO[bytes]) -> Opened:
    buffer = BUFFER if max_memory() > LARGEST_PAGE else 0
    file = pq.ParquetFile(source, page_checksum_verification=True, pre_buffer=False, buffer_size=buffer)

    def batches(names: list[str], n_rows: int) -> Iterator[Any]:
        for group in range(file.num_row_groups):  # a reader of several columns keeps what it has read of all of them
            for batch in file.iter_batches(n_rows, row_groups=[group], columns=names, use_threads=False):
                batch.validate(full=True)
                yield batch

    return Opened(file.schema_arrow, file.metadata.num_rows, batches)


def _ipc_file(source: IO[bytes]) -> Opened:
    is_file = source.read(len(ARROW_FILE)) == ARROW_FILE
    source.seek(0)
    reader = (pa.ipc.open_file if is_file else pa.ipc.open_stream)(source)

    def batches(names: list[str], n_rows: int) -> Iterator[Any]:
        for batch in map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader:
            batch.validate(full=True)
            yield batch.select(names)

    return Opened(reader.schema, None, batches)


def _array(name: str, values: NDArray[Any]) -> Any:
    try:
        array = pa.array(values.tolist() if values.dtype.kind in "OU" else values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name}: expected values of one plain type, got {error}") from error
    if pa.types.is_nested(array.type):
        raise InputError(f"{name}: expected values of one plain type, got {array.type}")
    return array
