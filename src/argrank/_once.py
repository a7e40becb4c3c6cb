"""Standard input, pipes and devices: read once, and kept so that a call or command can read them again."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextvars import ContextVar
from typing import IO, Any

from argrank.errors import InputError

STDIN = "-"
IN_MEMORY = 1 << 24  # bytes kept in memory before a temporary file is used


class _Kept:
    """A stream and everything read from it so far."""

    def __init__(self, path: str) -> None:
        if path == STDIN and sys.stdin is None:
            raise InputError("-: expected data in standard input, which is closed")
        self._stream: IO[bytes] = sys.stdin.buffer if path == STDIN else open(path, "rb")  # noqa: SIM115
        self._owned, self._size, self._path = path != STDIN, 0, path
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115

    def read(self, place: int, n_bytes: int) -> bytes:
        """Return up to ``n_bytes`` from an offset; nothing at the end."""
        if place < self._size:
            self._file.seek(place)
            return self._file.read(min(n_bytes, self._size - place))
        piece = self._stream.read1(n_bytes)  # type: ignore[attr-defined]
        try:
            self._file.seek(self._size)
            self._file.write(piece)
        except OSError as error:
            raise InputError(f"{self._path}: cannot be kept in {tempfile.gettempdir()}: {error.strerror}") from error
        self._size += len(piece)
        return bytes(piece)

    def close(self) -> None:
        self._file.close()
        if self._owned:
            self._stream.close()


class _Again(io.RawIOBase):
    """A view of a kept stream from its beginning."""

    def __init__(self, kept: _Kept) -> None:
        self._kept, self._place = kept, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._kept.read(self._place, len(buffer))
        buffer[: len(piece)] = piece
        self._place += len(piece)
        return len(piece)


_streams: ContextVar[dict[str, _Kept] | None] = ContextVar("streams", default=None)


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Tell whether a name is standard input, a pipe or a device, which can be read only once."""
    if os.fspath(path) == STDIN:
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextlib.contextmanager
def reading_once() -> Iterator[None]:
    """Let every stream opened in the block, or in the decorated function, be opened repeatedly."""
    if _streams.get() is not None:
        yield
        return
    kept: dict[str, _Kept] = {}
    token = _streams.set(kept)
    try:
        yield
    finally:
        _streams.reset(token)
        for one in kept.values():
            one.close()


@contextlib.contextmanager
def open_stream(path: str) -> Iterator[IO[bytes]]:
    """Open a stream at its beginning."""
    with reading_once():
        kept = _streams.get()
        if kept is not None and path not in kept:
            kept[path] = _Kept(path)
        yield io.BufferedReader(_Again(kept[path]))  # type: ignore[index]
