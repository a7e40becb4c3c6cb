"""A text as chunks of whole lines, in memory or read again from its file for every pass.

A file is never mapped into memory: truncating a mapped file would end the process with a signal.
Chunks are private copies, and a file that changes between two readings is an error.
"""

from __future__ import annotations

import codecs
import io
import os
import threading
from codecs import BOM_UTF8
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from argrank.errors import FormatError

CHUNK = 1 << 22  # bytes of a chunk; the result does not depend on it
PIECE = 1 << 12  # bytes to search for a line end at a time
LINE_END = ord("\n")

Bytes = NDArray[np.uint8]


class Lines:
    """The chunks of a text; ``len`` counts them. Every chunk's last byte is a line end."""

    def __init__(self, text: Any, name: str, chunk: int = CHUNK) -> None:
        self.name = name
        in_memory = not hasattr(text, "readinto")
        self._held = np.frombuffer(text if in_memory else b"", np.uint8)
        self._stream: io.BufferedReader | None = None if in_memory else text
        self._lock = threading.Lock()
        self._state = self._now()
        end = len(text) if in_memory else self._state[0]
        marked = self._bytes(0, min(end, len(BOM_UTF8))).tobytes() == BOM_UTF8
        self._borders = [len(BOM_UTF8) if marked else 0]
        while self._borders[-1] < end:
            self._borders.append(self._line_end(min(self._borders[-1] + chunk, end) - 1, end))

    def __len__(self) -> int:
        return len(self._borders) - 1

    @property
    def n_bytes(self) -> int:
        """Size of the text, without a byte order mark."""
        return self._borders[-1] - self._borders[0]

    def chunk(self, index: int) -> Bytes:
        """Return a chunk, read-only."""
        chunk = self._bytes(*self._borders[index : index + 2])
        if chunk[-1] != LINE_END:
            if index < len(self) - 1:
                self.refuse_change()
            chunk = np.append(chunk, np.uint8(LINE_END))
        chunk.flags.writeable = False
        return chunk

    def text(self) -> bytes:
        """Return the whole text."""
        return self._bytes(self._borders[0], self._borders[-1]).tobytes()

    def wrong_encoding(self, index: int, chunk: Bytes) -> FormatError | None:
        """Return the error for a chunk that is not UTF-8; the largest byte tells whether it is ASCII."""
        if chunk.max() < 0x80:
            return None
        try:
            codecs.utf_8_decode(chunk.data, "strict", True)
        except UnicodeDecodeError as error:
            got = f"byte 0x{chunk[error.start]:02x} at offset {self._borders[index] + error.start}"
            return FormatError(self.name, None, "text in UTF-8", got)
        return None

    def check_unchanged(self) -> None:
        """Raise if the file has changed since it was opened."""
        if self._now() != self._state:
            self.refuse_change()

    def refuse_change(self) -> NoReturn:
        """Raise, since two readings of the file disagree."""
        raise FormatError(self.name, None, "a file that stays as it is", "one that was changed while it was read")

    def _now(self) -> tuple[int, int]:
        if self._stream is None:
            return 0, 0
        found = os.fstat(self._stream.fileno())
        return found.st_size, found.st_mtime_ns

    def _bytes(self, start: int, end: int) -> Bytes:
        if self._stream is None:
            return np.array(self._held[start:end])
        found = np.empty(end - start, np.uint8)
        with self._lock:
            self._stream.seek(start)
            n_read = self._stream.readinto(found.data)
        if n_read < len(found):
            self.refuse_change()
        return found

    def _line_end(self, position: int, end: int) -> int:
        while position < end:
            found = np.flatnonzero(self._bytes(position, min(position + PIECE, end)) == LINE_END)
            if len(found):
                return position + int(found[0]) + 1
            position += PIECE
        return end
