"""Checksums of an array: SHA-256 of all of it, and a CRC-32 of every few megabytes, checked on first use.

A CRC detects flipped bits and bursts of damage at the speed of memory; it does not protect against tampering.
"""

from __future__ import annotations

import functools
import hashlib
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank.data.io.pack.contents import CHUNK_BYTES, Stored
from argrank.data.mapped import give_back
from argrank.errors import FormatError

STEP = 1 << 24  # bytes of an array to sum at a time


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
    sums, step = Sums(), max(1, STEP // max(1, values[:1].nbytes))
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
