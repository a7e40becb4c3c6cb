"""Parquet and Arrow (Feather, IPC) files, through pyarrow."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from argrank._files import STDIN, open_bytes, split_suffixes, write_bytes
from argrank.data.dataset import Dataset
from argrank.data.frames import COLUMNS, columns_of
from argrank.data.io.columns import TEXTS, choose
from argrank.errors import FormatError, InputError, MissingExtraError

ARROW_FILE = b"ARROW1"  # how an IPC file begins; a stream begins otherwise


def read(
    path: str | os.PathLike[str],
    kind: str,
    columns: Mapping[str, str | None],
    features: Sequence[str] | None,
    dtype: Any,
) -> dict[str, Any]:
    """Read a Parquet or Arrow file into the arguments of Dataset."""
    table = read_columns(path, kind)
    chosen = choose(table.column_names, columns, path, None, features)
    names = [table.column_names[at] for at in chosen.features]
    meant = table.select(list(chosen.named.values())).rename_columns(list(chosen.named))
    found = columns_of(_without_gaps(meant), known=COLUMNS) | columns_of(table.select(chosen.features), features=names)
    if dtype is not None:
        with np.errstate(over="ignore"):  # too large for float32 becomes infinite, which a Dataset refuses
            found["X"] = found["X"].astype(dtype, copy=False)
    return found


def read_columns(path: str | os.PathLike[str], kind: str) -> Any:
    """Read a Parquet or Arrow file as a pyarrow Table; damage gives a FormatError."""
    pa = _pyarrow("reading Parquet and Arrow files")
    with open_bytes(path) as stream:
        source: Any = stream
        if os.fspath(path) == STDIN or split_suffixes(path)[1]:  # Arrow wants to seek
            source = io.BytesIO(stream.read())
        try:
            table = _parquet(source) if kind == "parquet" else _ipc(source)
            table.validate(full=True)
        except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, MemoryError) as error:
            got = " ".join(str(error).split()) or type(error).__name__
            raise FormatError(path, None, f"a complete {kind} file", got) from error
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


def _parquet(source: IO[bytes]) -> Any:
    import pyarrow.parquet as pq

    return pq.ParquetFile(source, page_checksum_verification=True).read()


def _ipc(source: IO[bytes]) -> Any:
    import pyarrow as pa

    begin = source.read(len(ARROW_FILE))
    source.seek(0)
    opener = pa.ipc.open_file if begin == ARROW_FILE else pa.ipc.open_stream
    with opener(source) as reader:
        return reader.read_all()


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
