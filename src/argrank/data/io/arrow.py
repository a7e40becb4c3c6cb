"""Parquet and Arrow (Feather, IPC) files, through pyarrow."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

from numpy.typing import NDArray

from argrank._files import open_bytes, read_all, split_suffixes, write_bytes
from argrank._memory import check_memory
from argrank.data.io.columns.checks import check_columns, columns_to_read
from argrank.data.io.columns.pieces import arguments_of_pieces
from argrank.data.io.columns.table import Reading, arguments_of
from argrank.errors import FormatError, InputError

ARROW_FILE = b"ARROW1"  # first bytes of an IPC file; a stream has others


def read(path: str | os.PathLike[str], kind: str, reading: Reading) -> dict[str, Any]:
    """Read a Parquet or Arrow file into the arguments of Dataset."""
    import narwhals as nw

    table = read_columns(path, kind)
    check_columns(table.column_names, reading, path, None)
    return arguments_of(nw.from_native(table, eager_only=True), reading)


def stream(
    path: str | os.PathLike[str], kind: str, reading: Reading, n_values: int, ids_alone: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield the arguments of Dataset for pieces of about ``n_values`` features, in the order of the file.

    ``ids_alone`` reads no more than the query ids. Features that are texts are refused, see `refused_text`.
    """
    import narwhals as nw
    import pyarrow as pa

    with open_bytes(path) as opened:
        source = _seekable(opened, path)
        try:
            schema, batches = _parquet_batches(source) if kind == "parquet" else _ipc_batches(source)
            check_columns(schema.names, reading, path, None)
            columns = columns_to_read(schema.names, reading)
            wanted = [name for name, one in columns.meanings.items() if one == "qid"] if ids_alone else columns.all
            pieces = _pieces(batches, wanted, max(1, n_values // len(columns.all)))
            if ids_alone:
                yield from ({"qid": piece.column(wanted[0]).to_numpy()} for piece in pieces)
            else:
                tables = (nw.from_native(piece, eager_only=True) for piece in pieces)
                yield from arguments_of_pieces(tables, reading, path)
        except (pa.ArrowException, OSError, TypeError, KeyError, MemoryError) as error:
            raise _damaged(path, kind, error) from error


def _seekable(stream: IO[bytes], path: str | os.PathLike[str]) -> Any:
    """Return what Arrow can seek in: a file as it is, the contents of an archive or a pipe in memory."""
    if stream.seekable() and not split_suffixes(path)[1]:
        return stream
    return io.BytesIO(read_all(stream, os.fspath(path)))


def _pieces(batches: Callable[[list[str], int], Iterator[Any]], names: list[str], n_rows: int) -> Iterator[Any]:
    import pyarrow as pa

    for batch in batches(names, n_rows):
        for start in range(0, batch.num_rows, n_rows):
            yield pa.Table.from_batches([batch.slice(start, n_rows)])


def _damaged(path: str | os.PathLike[str], kind: str, error: Exception) -> FormatError:
    got = " ".join(str(error).split()) or type(error).__name__
    return FormatError(path, None, f"a complete {kind} file", got)


def read_columns(path: str | os.PathLike[str], kind: str) -> Any:
    """Read a Parquet or Arrow file as a pyarrow Table; damage gives a FormatError."""
    import pyarrow as pa

    with open_bytes(path) as stream:
        source = _seekable(stream, path)
        try:
            table = _parquet(source, path) if kind == "parquet" else _ipc(source, path)
            table.validate(full=True)
        except InputError:
            raise
        except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, MemoryError) as error:
            raise _damaged(path, kind, error) from error
    return table


def write(columns: Mapping[str, NDArray[Any]], path: str | os.PathLike[str], kind: str) -> None:
    """Write columns as a Parquet or Arrow file; ids keep their type."""
    import pyarrow as pa

    table = pa.table({name: _array(name, values) for name, values in columns.items()})
    with write_bytes(path) as stream:
        if kind == "parquet":
            import pyarrow.parquet as pq

            pq.write_table(table, stream, write_page_checksum=True)
        else:
            with pa.ipc.new_file(stream, table.schema) as writer:
                writer.write_table(table)


def _parquet(source: IO[bytes], path: str | os.PathLike[str]) -> Any:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(source, page_checksum_verification=True)
    _check_memory(path, 8.0 * file.metadata.num_rows * file.metadata.num_columns)  # equal values take no room in a file
    return file.read()


def _check_memory(path: str | os.PathLike[str], n_bytes: float) -> None:
    check_memory(os.fspath(path), n_bytes, "pack it (argrank pack), which reads it in pieces")


def _parquet_batches(source: IO[bytes]) -> tuple[Any, Callable[[list[str], int], Iterator[Any]]]:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(source, page_checksum_verification=True)

    def batches(names: list[str], n_rows: int) -> Iterator[Any]:
        for group in range(file.num_row_groups):  # a reader of several keeps what it has read of all
            yield from file.iter_batches(n_rows, row_groups=[group], columns=names)

    return file.schema_arrow, batches


def _ipc(source: IO[bytes], path: str | os.PathLike[str]) -> Any:
    import pyarrow as pa

    reader = _ipc_reader(source)
    found, n_bytes = [], 0.0
    for batch in _record_batches(reader):
        n_bytes += batch.nbytes
        _check_memory(path, n_bytes)
        found.append(batch)
    return pa.Table.from_batches(found, reader.schema)


def _ipc_batches(source: IO[bytes]) -> tuple[Any, Callable[[list[str], int], Iterator[Any]]]:
    reader = _ipc_reader(source)

    def batches(names: list[str], n_rows: int) -> Iterator[Any]:
        for batch in _record_batches(reader):
            batch.validate(full=True)
            yield batch.select(names)

    return reader.schema, batches


def _record_batches(reader: Any) -> Iterator[Any]:
    if hasattr(reader, "num_record_batches"):  # a file
        return map(reader.get_batch, range(reader.num_record_batches))
    return iter(reader)


def _ipc_reader(source: IO[bytes]) -> Any:
    import pyarrow as pa

    begin = source.read(len(ARROW_FILE))
    source.seek(0)
    return (pa.ipc.open_file if begin == ARROW_FILE else pa.ipc.open_stream)(source)


def _array(name: str, values: NDArray[Any]) -> Any:
    import pyarrow as pa

    try:
        array = pa.array(values.tolist() if values.dtype.kind in "OU" else values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name}: expected values of one plain type, got {error}") from error
    if pa.types.is_nested(array.type):
        raise InputError(f"{name}: expected values of one plain type, got {array.type}")
    return array
