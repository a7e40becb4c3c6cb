"""Files in and out: compressed input, standard input, and files and folders that appear whole or not at all."""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import io
import lzma
import os
import platform
import re
import shutil
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, cast

from argrank._memory import check_memory
from argrank._once import is_stream, open_stream
from argrank.errors import FormatError, InputError, InputTypeError, MissingExtraError, shown

COMPRESSIONS = (".gz", ".xz", ".bz2", ".zip")
PART = ".part"  # suffix of an unfinished file
ASIDE = ".old.part"  # suffix of a folder that is being replaced
LONGEST_NAME = 60  # characters of a name that its unfinished file keeps
PIECE = 1 << 22  # bytes to decompress at a time
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://")
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def check_path(path: object) -> None:
    """Raise unless the argument can be a file name."""
    if not isinstance(path, str | os.PathLike):
        raise InputTypeError(f"expected the name of a file, got {shown(path)}")
    try:
        name = os.fsencode(path)
    except UnicodeEncodeError as error:
        raise InputError(f"{os.fspath(path)!r}: expected the name of a file, got half a surrogate") from error
    if not name:
        raise InputError("expected the name of a file, got an empty one")
    if b"\0" in name:
        raise InputError(f"{os.fspath(path)!r}: expected the name of a file, got a NUL byte in it")
    try:
        os.lstat(path)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InputError(f"{shown(path)}: expected the name of a file, got {len(name):,} bytes") from error


def refuse_endless(path: str | os.PathLike[str]) -> None:
    """Raise if the path is a pipe or a device, which may never end; for readers that need a whole file."""
    place = Path(path)
    if place.exists() and not place.is_file() and not place.is_dir():
        raise InputError(f"{os.fspath(path)}: expected a file, got a pipe or a device")


def split_suffixes(path: str | os.PathLike[str]) -> tuple[str, str]:
    """Return (format suffix, compression suffix), both lower-case: ``a.csv.gz`` gives ``.csv``, ``.gz``."""
    check_path(path)
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    compression = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSIONS else ""
    return (suffixes[-1] if suffixes else ""), compression


@contextlib.contextmanager
def open_bytes(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for reading, decompressed by its suffix; ``-`` is standard input.

    A damaged archive is noticed only while reading, so errors of the caller's block are turned into a FormatError here.
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
    """Tell whether an error is the decompressor's, and not a system error from the caller's block."""
    if isinstance(error, RuntimeError):  # zipfile: an unknown method of compression, or encryption
        return compression == ".zip"
    if isinstance(error, OSError):  # bz2 and gzip set no errno; with a damaged zip, zipfile seeks to an invalid offset
        return error.errno is None or (compression == ".zip" and error.errno == errno.EINVAL)
    return True


def read_all(stream: IO[bytes], name: str) -> bytearray:
    """Read a stream to its end, up to the memory limit: a small archive may hold an enormous text."""
    text = bytearray()
    while piece := stream.read(PIECE):
        text += piece
        check_memory(name, len(text), "unpack it and read it in parts, or convert it to Parquet or a sparse file")
    return text


@contextlib.contextmanager
def _decompressor(path: str) -> Iterator[IO[bytes]]:
    compression = split_suffixes(path)[1]
    with contextlib.ExitStack() as opened:
        source: Any = path
        if is_remote(path):
            source = opened.enter_context(_remote_file(path))
        elif is_stream(path):
            source = opened.enter_context(open_stream(path))
        if compression == ".zip":
            archive = source if source is path or source.seekable() else io.BytesIO(read_all(source, path))
            yield opened.enter_context(_only_member(archive, path))
            return
        opener: Any = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}.get(compression)
        if opener is None and source is not path:
            yield source
        else:
            yield opened.enter_context((opener or open)(source, "rb"))


def is_remote(path: str | os.PathLike[str]) -> bool:
    """Tell whether a name is a URL of a file system that pyarrow supports: s3://, gs://, hdfs://, file://."""
    return bool(_ADDRESS.match(os.fspath(path)))


def remote_files(path: str) -> list[str] | None:
    """Return the URLs of all files below a remote folder, sorted; None if it is not a folder."""
    fs, system, place = _remote(path)
    try:
        if system.get_file_info(place).type != fs.FileType.Directory:
            return None
        found = system.get_file_info(fs.FileSelector(place, recursive=True))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {' '.join(str(error).split())}") from error
    begin = len(place.rstrip("/")) + 1
    return sorted(f"{path.rstrip('/')}/{one.path[begin:]}" for one in found if one.type == fs.FileType.File)


def _remote_file(path: str) -> Any:
    _, system, place = _remote(path)
    try:
        return io.BufferedReader(system.open_input_file(place), PIECE)  # which has lines, too
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {' '.join(str(error).split())}") from error


def _remote(path: str) -> tuple[Any, Any, str]:
    try:
        from pyarrow import ArrowException, fs
    except ImportError as error:
        raise MissingExtraError("pyarrow", "parquet", "reading from other file systems") from error
    try:
        return fs, *fs.FileSystem.from_uri(path)
    except (ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {' '.join(str(error).split())}") from error


@contextlib.contextmanager
def _only_member(source: Any, path: str) -> Iterator[IO[bytes]]:
    """Open the only file of a zip archive; zipfile's errors about a damaged directory become FormatErrors too."""
    with contextlib.ExitStack() as opened:
        try:
            archive = opened.enter_context(zipfile.ZipFile(source))
            members = [member for member in archive.infolist() if not member.is_dir()]
            if len(members) != 1:
                raise FormatError(path, None, "an archive of one file", f"{len(members)} files")
            stream = opened.enter_context(archive.open(members[0]))
        except (IndexError, struct.error, UnicodeDecodeError, OverflowError, NotImplementedError, MemoryError) as error:
            raise FormatError(path, None, "a complete archive", f"{error}" or type(error).__name__) from error
        yield stream


@contextlib.contextmanager
def write_bytes(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing, compressed by its suffix; it gets its name only when the block ends without error.

    The new contents are synced to disk before they replace the old ones. A link stays a link: its target is written.
    Devices and pipes are written to directly, since replacing them would destroy them.
    """
    name = os.fspath(path)
    try:
        target, mode = _target(name), _mode(name)
    except (OSError, ValueError) as error:
        raise _unwritable(name, error) from error
    if mode is not None and not stat.S_ISREG(mode):
        with _directly(name) as stream:
            yield stream
        return
    try:
        descriptor, temporary = _unfinished(target, tempfile.mkstemp)
    except OSError as error:
        raise _unwritable(name, error) from error
    try:
        with os.fdopen(descriptor, "wb") as raw:
            with _compressor(raw, target) as stream:
                yield stream
            raw.flush()
            os.fsync(raw.fileno())
        # mkstemp makes private files; ours are ordinary ones, or what the one they replace was
        os.chmod(temporary, 0o666 & ~_mask() if mode is None else stat.S_IMODE(mode))
        os.replace(temporary, target)
        _sync(target.parent)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in FULL:
            raise _unwritable(name, error) from error
        raise


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise as ``write_bytes`` would if a file cannot be written: before the work whose result it is to hold."""
    name = os.fspath(path)
    try:
        target, mode = _target(name), _mode(name)
        if mode is not None and stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if mode is None or stat.S_ISREG(mode):
            descriptor, temporary = _unfinished(target, tempfile.mkstemp)
            os.close(descriptor)
            os.unlink(temporary)
    except (OSError, ValueError) as error:
        raise _unwritable(name, error) from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text as UTF-8, as ``write_bytes`` does."""
    with write_bytes(path) as stream:
        stream.write(text.encode())


def make_folder(path: str | os.PathLike[str]) -> Path:
    """Return a folder; create it if it does not exist."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{os.fspath(path)}: cannot be created: {error.strerror}") from error
    return Path(path)


@contextlib.contextmanager
def write_folder(path: str | os.PathLike[str], mark: str) -> Iterator[Path]:
    """Yield an empty folder to fill; it gets its name only when the block ends without error.

    An existing folder is replaced only if it is empty or holds the file ``mark``; other folders are not ours. Processes
    that have files of the old folder open can keep reading them. The new contents are synced before they get the name.
    """
    check_path(path)
    name = os.fspath(path)
    try:
        target = _target(name)
        _take_back(target)
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o777 & ~_mask()
        if target.exists() and not (target.is_dir() and ((target / mark).exists() or not any(target.iterdir()))):
            raise InputError(f"{name}: expected a new name, or a folder with {mark} to replace, got something else")
        temporary = Path(_unfinished(target, tempfile.mkdtemp))
    except OSError as error:
        raise _unwritable(name, error) from error
    try:
        yield temporary
        for file in temporary.iterdir():
            _sync(file)
        _sync(temporary)
        os.chmod(temporary, mode)
        _swap(temporary, target)
        _sync(target.parent)
    except BaseException as error:
        shutil.rmtree(temporary, ignore_errors=True)
        if isinstance(error, OSError) and error.errno in FULL:
            raise _unwritable(name, error) from error
        raise


def _target(name: str) -> Path:
    """Return a path with links followed; if the result is still a link, the links form a cycle."""
    target = Path(os.path.realpath(name))
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return target


def _mode(name: str) -> int | None:
    """Return the mode of what has a name; None if nothing has. The target of /dev/stdout may be a pipe, without one."""
    return os.stat(name).st_mode if os.path.exists(name) else None


def _take_back(target: Path) -> None:
    """Restore a folder that was set aside by a process that was killed before the new folder got its name."""
    if not target.exists():
        for aside in _leftovers(target):
            if aside.name.endswith(ASIDE):
                os.rename(aside, target)
                return


def _swap(folder: Path, target: Path) -> None:
    """Rename a folder to its final name; an existing one is set aside first and deleted afterwards."""
    if not target.exists():
        os.rename(folder, target)
        return
    aside = folder.with_name(folder.name.removesuffix(PART) + ASIDE)
    os.rename(target, aside)
    try:
        os.rename(folder, target)
    except OSError:
        os.rename(aside, target)
        raise
    shutil.rmtree(aside, ignore_errors=True)


@contextlib.contextmanager
def _directly(name: str) -> Iterator[IO[bytes]]:
    try:
        with open(name, "wb") as raw, _compressor(raw, Path(name)) as stream:
            yield stream
    except OSError as error:
        raise _unwritable(name, error) from error


def _unwritable(name: str, error: Exception) -> InputError:
    return InputError(f"{name}: cannot be written: {getattr(error, 'strerror', None) or error}")


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9-]", "-", platform.node())[:LONGEST_NAME] or "host"


def _unfinished(target: Path, make: Callable[..., Any]) -> Any:
    """Create a file or folder beside the target; its name says that it is unfinished and which process owns it."""
    _remove_leftovers(target)
    prefix = f".{target.name[:LONGEST_NAME]}.{_host()}.{os.getpid()}."
    return make(dir=target.parent, prefix=prefix, suffix=PART)


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _remove_leftovers(target: Path) -> None:
    """Remove unfinished versions of this file or folder left by processes of this machine that no longer run."""
    for left in _leftovers(target):
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                left.unlink(missing_ok=True)


def _leftovers(target: Path) -> list[Path]:
    name = re.escape(target.name[:LONGEST_NAME])
    pattern = re.compile(rf"\.{name}\.{re.escape(_host())}\.(\d+)\..*{re.escape(PART)}")
    found = []
    with contextlib.suppress(OSError):  # a folder that cannot be listed
        for entry in os.scandir(target.parent):
            match = pattern.fullmatch(entry.name)
            if match is not None and not _is_alive(int(match[1])):
                found.append(Path(entry.path))
    return found


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # owned by another process
        return True
    return True


def _sync(place: Path) -> None:
    """Sync a file, or the entries of a folder, to disk; ignored on systems that cannot."""
    with contextlib.suppress(OSError):
        descriptor = os.open(place, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


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
