"""One array of a pack: a plain ``.npy`` file, appended to while it is written, and memory-mapped for reading.

Ids of rows are integers, or texts of one width, which is known only at the end. Features may be stored a second time,
column by column, for the rankers that read columns.
"""

from __future__ import annotations

import dataclasses
import os
import stat
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from argrank.data.io.pack.chunks import as_texts, plain_ids
from argrank.data.io.pack.contents import Contents, ContentsError, Stored
from argrank.data.io.pack.sums import Sums, stored_of
from argrank.errors import OptionError

SUFFIX = ".npy"
STEP = 1 << 20  # ids to rewrite at a time
TRANSPOSED = "XT"


class GrowingArray:
    """An array that is written piece by piece; its header, with the number of rows, is written last.

    NumPy pads the header for a first dimension of any size, so that it can be overwritten in place.
    """

    def __init__(self, folder: Path, name: str, dtype: Any, row_shape: tuple[int, ...] = ()) -> None:
        self.name, self.dtype, self.n_rows = name, np.dtype(dtype).newbyteorder("<"), 0
        self._row_shape, self._sums = row_shape, Sums()
        self._file: IO[bytes] = open(folder / f"{name}{SUFFIX}", "wb+")  # noqa: SIM115 - closed by finish
        self._header = self._write_header()

    def append(self, values: NDArray[Any]) -> None:
        """Write rows at the end."""
        piece = np.ascontiguousarray(values, self.dtype)
        if len(piece):
            self._file.write(piece.data)
            self._sums.update(piece)
            self.n_rows += len(piece)

    def finish(self) -> Stored:
        """Write the header; return what is stored."""
        self._file.seek(0)
        if self._write_header() != self._header:
            raise AssertionError("the header of a .npy file has grown")
        self._file.close()
        return self._sums.stored(self.dtype.str, (self.n_rows, *self._row_shape))

    def close(self) -> None:
        """Close the file, finished or not."""
        self._file.close()

    def _write_header(self) -> int:
        shape = (self.n_rows, *self._row_shape)
        header = {"descr": np.lib.format.dtype_to_descr(self.dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._file, header)
        return self._file.tell()


def write_array(folder: Path, name: str, values: NDArray[Any]) -> Stored:
    """Write a whole array."""
    array = GrowingArray(folder, name, values.dtype, values.shape[1:])
    try:
        array.append(values)
        return array.finish()
    finally:
        array.close()


def open_array(folder: Path, name: str, stored: Stored) -> NDArray[Any]:
    """Map an array into memory, read-only, or raise ContentsError if the file does not match the description.

    Nothing is unpickled, no link is followed, and no byte beyond the file's end becomes part of the array.
    """
    path = folder / f"{name}{SUFFIX}"
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        raise ContentsError(f"a plain file {path.name}", error.strerror or str(error)) from error
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ContentsError(f"a plain file {path.name}", "something else")
        try:
            version = np.lib.format.read_magic(file)
            if version != (1, 0):
                raise ValueError(f"version {version}")
            shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
        except Exception as error:  # raised by NumPy's header parser, which uses Python's tokenizer
            raise ContentsError(f"{path.name}: a .npy file", " ".join(str(error).split())[:200]) from error
        if fortran or dtype.hasobject or dtype.str != stored.dtype or tuple(shape) != stored.shape:
            raise ContentsError(f"{path.name}: {stored.dtype} of shape {stored.shape}", f"{dtype.str} of shape {shape}")
        begin, size = file.tell(), os.fstat(descriptor).st_size
        if size != begin + stored.n_bytes:
            raise ContentsError(f"{path.name}: {begin + stored.n_bytes:,} bytes", f"{size:,}")
        if stored.n_bytes == 0:
            return np.empty(stored.shape, stored.dtype)
        mapped = np.memmap(file, np.dtype(stored.dtype), "r", begin, stored.shape)
    return mapped.view(np.ndarray)


class GrowingIds:
    """An array of ids; it is rewritten when a wider text follows, or a first text after integers."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._array: GrowingArray | None = None

    def append(self, values: NDArray[Any]) -> None:
        """Write ids at the end."""
        ids = plain_ids(values, len(values), self._name)
        array = self._array
        if ids.dtype == object or (array is not None and array.dtype.kind == "U"):
            ids = as_texts(ids).astype("U")
        if ids.dtype.itemsize == 0:  # only empty texts
            ids = ids.astype("U1")
        if array is None:
            array = self._array = GrowingArray(self._folder, self._name, ids.dtype)
        elif ids.dtype.kind == "U" and (array.dtype.kind != "U" or ids.dtype.itemsize > array.dtype.itemsize):
            array = self._array = self._wider(array, ids.dtype)
        array.append(ids)

    def finish(self) -> Stored:
        """Write the header; return what is stored."""
        if self._array is None:
            self._array = GrowingArray(self._folder, self._name, np.int64)
        return self._array.finish()

    def close(self) -> None:
        """Close the file, finished or not."""
        if self._array is not None:
            self._array.close()

    def _wider(self, narrow: GrowingArray, dtype: np.dtype[Any]) -> GrowingArray:
        narrow.finish()
        path = self._folder / f"{self._name}.npy"
        before: Any = np.load(path, mmap_mode="r") if narrow.n_rows else np.empty(0, narrow.dtype)
        path.unlink()
        if before.dtype.kind != "U":
            widest = max((len(str(one)) for one in (before.min(), before.max())), default=1) if len(before) else 1
            dtype = max(dtype, np.dtype(f"U{widest}"), key=lambda one: one.itemsize)
        wide = GrowingArray(self._folder, self._name, dtype)
        for start in range(0, len(before), STEP):
            piece = before[start : start + STEP]
            wide.append(piece if piece.dtype.kind == "U" else as_texts(piece).astype("U"))
        return wide


def write_transposed(folder: Path, contents: Contents, n_bytes: int) -> Contents:
    """Write ``XT.npy`` beside ``X.npy``, about ``n_bytes`` at a time; return the description with it."""
    if contents.sparse:
        raise OptionError("columns: expected dense features, got sparse ones, which are stored by row alone")
    X = open_array(folder, "X", contents.arrays["X"])
    shape = X.shape[::-1]
    with open(folder / f"{TRANSPOSED}{SUFFIX}", "wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": np.lib.format.dtype_to_descr(X.dtype), "fortran_order": False, "shape": shape}
        )
        begin, size = file.tell(), X.dtype.itemsize
        step = max(1, n_bytes // X[:1].nbytes)
        for start in range(0, len(X), step):
            for column, values in enumerate(np.ascontiguousarray(X[start : start + step].T)):
                file.seek(begin + (column * len(X) + start) * size)
                file.write(values.data)
    whole = stored_of(open_array(folder, TRANSPOSED, Stored(X.dtype.str, shape, "")))
    return dataclasses.replace(contents, arrays={**contents.arrays, TRANSPOSED: whole})
