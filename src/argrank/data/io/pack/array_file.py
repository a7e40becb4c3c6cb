"""One array of a pack: a plain ``.npy`` file, appended to while it is written, and memory-mapped for reading.

Ids of rows are integers, or texts of one width, which is known only at the end. Features may be stored a second time,
column by column, for the rankers that read columns. Every array has a SHA-256 of all of it, and a CRC-32 of every few
megabytes, which is checked on first use: it detects flipped bits and bursts of damage at the speed of memory, but does
not protect against tampering.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
import stat
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from argrank.data.io.pack.chunks import as_texts, plain_ids
from argrank.data.io.pack.contents import CHUNK_BYTES, Contents, ContentsError, Stored
from argrank.data.mapped import give_back
from argrank.errors import FormatError, OptionError

SUFFIX = ".npy"
STEP = 1 << 20  # ids to rewrite at a time
SUMMED = 1 << 24  # bytes of an array to sum at a time
TRANSPOSED = "XT"


class Sums:
    """Checksums of bytes that arrive piece by piece."""

    def __init__(self) -> None:
        self._sha256, self._crc32, self._n_bytes = hashlib.sha256(), [0], 0

    def update(self, values: NDArray[Any]) -> None:
        """Add the bytes of a contiguous array."""
        self._sha256.update(values.data)
        piece = values.reshape(-1).view(np.uint8)
        while len(piece):
            room = CHUNK_BYTES - self._n_bytes % CHUNK_BYTES
            self._crc32[-1] = zlib.crc32(piece[:room].data, self._crc32[-1])
            self._n_bytes += min(room, len(piece))
            if len(piece) >= room:
                self._crc32.append(0)
            piece = piece[room:]

    def stored(self, dtype: str, shape: tuple[int, ...]) -> Stored:
        """Return the description of the array."""
        whole = self._n_bytes % CHUNK_BYTES == 0
        return Stored(dtype, shape, self._sha256.hexdigest(), tuple(self._crc32[:-1] if whole else self._crc32))


def stored_of(values: NDArray[Any]) -> Stored:
    """Return the description of an array, which is read block by block."""
    sums, step = Sums(), max(1, SUMMED // max(1, values[:1].nbytes))
    for start in range(0, len(values), step):
        sums.update(np.ascontiguousarray(values[start : start + step]))
    return sums.stored(values.dtype.str, values.shape)


class Guard:
    """Compares the chunks of a mapped array with their checksums, each once per process."""

    def __init__(self, path: Path, values: NDArray[Any], stored: Stored, gives_back: bool = False) -> None:
        self._path, self._stored, self._gives_back = path, stored, gives_back
        self._bytes = values.reshape(-1).view(np.uint8) if values.size else np.empty(0, np.uint8)
        self._row_bytes = stored.n_bytes // max(1, stored.shape[0])
        place = os.stat(path)
        sums = stored.crc32 or ()
        self._seen = _seen(place.st_dev, place.st_ino, place.st_mtime_ns, place.st_size, sums)

    def check(self, start: int, end: int) -> None:
        """Raise if bytes of the rows from ``start`` to ``end`` are damaged."""
        if self._stored.crc32 is None:  # a pack of an earlier version, without CRCs
            return
        first = start * self._row_bytes // CHUNK_BYTES
        for chunk in range(first, -(-end * self._row_bytes // CHUNK_BYTES)):
            if self._seen[chunk]:
                continue
            begin = chunk * CHUNK_BYTES
            found = zlib.crc32(self._bytes[begin : begin + CHUNK_BYTES].data)
            if self._gives_back:
                give_back(self._bytes[begin : begin + CHUNK_BYTES])
            if found != self._stored.crc32[chunk]:
                expected = f"bytes {begin:,} and following with CRC-32 {self._stored.crc32[chunk]:08x}"
                raise FormatError(self._path, None, expected, f"{found:08x}: the file is damaged")
            self._seen[chunk] = True


@functools.lru_cache(maxsize=256)
def _seen(device: int, file: int, changed: int, size: int, sums: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return which chunks of a file this process has checked."""
    return np.zeros(len(sums), bool)


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
        return _write_header(self._file, self.dtype, (self.n_rows, *self._row_shape))


def _write_header(file: IO[bytes], dtype: np.dtype[Any], shape: tuple[int, ...]) -> int:
    """Write the header of a .npy file; return where it ends."""
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file.tell()


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
        begin, size = _write_header(file, X.dtype, shape), X.dtype.itemsize
        step = max(1, n_bytes // X[:1].nbytes)
        for start in range(0, len(X), step):
            for column, values in enumerate(np.ascontiguousarray(X[start : start + step].T)):
                file.seek(begin + (column * len(X) + start) * size)
                file.write(values.data)
    whole = stored_of(open_array(folder, TRANSPOSED, Stored(X.dtype.str, shape, "")))
    return dataclasses.replace(contents, arrays={**contents.arrays, TRANSPOSED: whole})
