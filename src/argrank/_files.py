"""Files in and out: compressed input, standard input, and writes that appear whole or not at all."""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import lzma
import os
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from argrank.errors import FormatError, InputError

COMPRESSIONS = (".gz", ".xz", ".bz2", ".zip")
STDIN = "-"


def split_suffixes(path: str | os.PathLike[str]) -> tuple[str, str]:
    """Return (format suffix, compression suffix), both lower-case: ``a.csv.gz`` gives ``.csv``, ``.gz``."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    compression = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSIONS else ""
    return (suffixes[-1] if suffixes else ""), compression


@contextlib.contextmanager
def open_bytes(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for reading, decompressed by its suffix; ``-`` is standard input.

    Damage to an archive surfaces while reading, so it is turned into a FormatError here, around the caller's block.
    """
    path = os.fspath(path)
    try:
        with _decompressor(path) as stream:
            yield stream
    except (IsADirectoryError, FileNotFoundError, PermissionError) as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except (EOFError, OSError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, RuntimeError) as error:
        if not _is_damage(error, split_suffixes(path)[1]):
            raise
        raise FormatError(path, None, "a complete archive", f"{error}" or type(error).__name__) from error


def _is_damage(error: Exception, compression: str) -> bool:
    """Tell errors of the decompressors from system errors, which may come from the caller's block."""
    if isinstance(error, RuntimeError):  # zipfile: an unknown method of compression, or encryption
        return compression == ".zip"
    if isinstance(error, OSError):  # bz2 and gzip give no number; a damaged zip makes zipfile seek to nowhere
        return error.errno is None or (compression == ".zip" and error.errno == errno.EINVAL)
    return True


@contextlib.contextmanager
def _decompressor(path: str) -> Iterator[IO[bytes]]:
    compression = split_suffixes(path)[1]
    if path == STDIN:
        yield sys.stdin.buffer
    elif compression == ".zip":
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            if len(members) != 1:
                raise FormatError(path, None, "an archive of one file", f"{len(members)} files")
            with archive.open(members[0]) as stream:
                yield stream
    else:
        opener = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}.get(compression, open)
        with cast(IO[bytes], cast(Any, opener)(path, "rb")) as stream:
            yield stream


@contextlib.contextmanager
def write_bytes(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing, compressed by its suffix; it takes its name only when the block ends without error."""
    target = Path(path)
    try:
        descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error.strerror}") from error
    try:
        with os.fdopen(descriptor, "wb") as raw, _compressor(raw, target) as stream:
            yield stream
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)  # mkstemp makes private files; ours are ordinary ones
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _compressor(raw: IO[bytes], target: Path) -> Iterator[IO[bytes]]:
    compression = split_suffixes(target)[1]
    if compression == ".zip":
        with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(target.stem, "w") as stream:
            yield stream
    elif compression == ".gz":
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:  # no name, no time: same bytes
            yield cast(IO[bytes], packed)
    elif compression:
        opener: Any = {".xz": lzma.open, ".bz2": bz2.open}[compression]
        with opener(raw, "wb") as stream:
            yield stream
    else:
        yield raw
