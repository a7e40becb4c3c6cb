"""Parquet and Arrow (Feather, IPC) files, through pyarrow."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from argrank._files import open_bytes, read_all, split_suffixes, write_bytes
from argrank._memory import check_memory
from argrank.data.dataset import Dataset
from argrank.data.frames import COLUMNS, columns_of
from argrank.data.io.columns import TEXTS, Chosen, choose, refused_text
from argrank.errors import FormatError, InputError, MissingExtraError

ARROW_FILE = b"ARROW1"  # first bytes of an IPC file; a stream has others


def read(
    path: str | os.PathLike[str],
    kind: str,
    columns: Mapping[str, str | None],
    features: Sequence[str] | None,
    dtype: Any,
) -> dict[str, Any]:
    """Read a Parquet or Arrow file into the arguments of Dataset."""
    table = read_columns(path, kind)
    found = _arguments(table, choose(table.column_names, columns, path, None, features))
    if dtype is not None:
        with np.errstate(over="ignore"):  # too large for float32 becomes infinite, which a Dataset refuses
            found["X"] = found["X"].astype(dtype, copy=False)
    return found


def stream(
    path: str | os.PathLike[str],
    kind: str,
    columns: Mapping[str, str | None],
    features: Sequence[str] | None,
    n_values: int,
    ids_alone: bool = False,
) -> Iterator[dict[str, Any]]:
    """Yield the arguments of Dataset for pieces of about ``n_values`` features, in the order of the file.

    ``ids_alone`` reads no more than the query ids. Features that are texts are refused, see `refused_text`.
    """
    pa = _pyarrow("reading Parquet and Arrow files")
    with open_bytes(path) as opened:
        source = _seekable(opened, path)
        try:
            schema, batches = _parquet_batches(source) if kind == "parquet" else _ipc_batches(source)
            chosen = choose(schema.names, columns, path, None, features)
            for at in chosen.features if not ids_alone else ():
                if _is_text(schema.field(at).type):
                    raise refused_text(path, schema.names[at])
            wanted = [chosen.named["qid"]] if ids_alone else [*chosen.named.values(), *chosen.features]
            n_rows = max(1, n_values // len(wanted))
            for batch in batches([schema.names[at] for at in wanted], n_rows):
                for start in range(0, batch.num_rows, n_rows):
                    piece = pa.Table.from_batches([batch.slice(start, n_rows)])
                    if ids_alone:
                        yield {"qid": piece.column(schema.names[wanted[0]]).to_numpy()}
                    else:
                        yield _arguments(piece, _placed(chosen, schema.names, piece.column_names))
        except (pa.ArrowException, OSError, TypeError, KeyError, MemoryError) as error:
            raise _damaged(path, kind, error) from error


def _seekable(stream: IO[bytes], path: str | os.PathLike[str]) -> Any:
    """Return what Arrow can seek in: a file as it is, the contents of an archive or a pipe in memory."""
    if stream.seekable() and not split_suffixes(path)[1]:
        return stream
    return io.BytesIO(read_all(stream, os.fspath(path)))


def _arguments(table: Any, chosen: Chosen) -> dict[str, Any]:
    """Return the columns of a table as arguments of Dataset."""
    names = [table.column_names[at] for at in chosen.features]
    meant = table.select(list(chosen.named.values())).rename_columns(list(chosen.named))
    return columns_of(_without_gaps(meant), known=COLUMNS) | columns_of(table.select(chosen.features), features=names)


def _placed(chosen: Chosen, names: Sequence[str], now: Sequence[str]) -> Chosen:
    """Return where chosen columns are among those that were read."""
    place = {name: at for at, name in enumerate(now)}
    named = {meaning: place[names[at]] for meaning, at in chosen.named.items()}
    return Chosen(named, [place[names[at]] for at in chosen.features])


def _damaged(path: str | os.PathLike[str], kind: str, error: Exception) -> FormatError:
    got = " ".join(str(error).split()) or type(error).__name__
    return FormatError(path, None, f"a complete {kind} file", got)


def read_columns(path: str | os.PathLike[str], kind: str) -> Any:
    """Read a Parquet or Arrow file as a pyarrow Table; damage gives a FormatError."""
    pa = _pyarrow("reading Parquet and Arrow files")
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


def write(data: Dataset, path: str | os.PathLike[str], kind: str) -> None:
    """Write a Dataset as a Parquet or Arrow file, in the caller's row order; ids keep their type."""
    pa = _pyarrow("writing Parquet and Arrow files")
    table = pa.table({name: _array(name, values) for name, values in data.to_columns().items()})
    with write_bytes(path) as stream:
        if kind == "parquet":
            import pyarrow.parquet as pq

            pq.write_table(table, stream, write_page_checksum=True)
        else:
            with pa.ipc.new_file(stream, table.schema) as writer:
                writer.write_table(table)


def _pyarrow(purpose: str) -> Any:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtraError("pyarrow", "parquet", purpose) from error
    return pa


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


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    types = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_dictionary)
    return any(is_one(kind) for is_one in types)


def _without_gaps(table: Any) -> Any:
    """Replace absent texts by empty ones, as in a CSV file."""
    import pyarrow as pa

    for position, name in enumerate(table.column_names):
        column = table.column(position)
        if name in TEXTS and column.null_count:
            texts = column.cast(pa.string()) if not pa.types.is_large_string(column.type) else column
            table = table.set_column(position, name, texts.fill_null(""))
    return table


def _array(name: str, values: NDArray[Any]) -> Any:
    import pyarrow as pa

    try:
        array = pa.array(values.tolist() if values.dtype.kind in "OU" else values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name}: expected values of one plain type, got {error}") from error
    if pa.types.is_nested(array.type):
        raise InputError(f"{name}: expected values of one plain type, got {array.type}")
    return array
