"""Text files line by line: UTF-8, numbers and ids, with the line number in every error."""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from argrank._memory import check_memory
from argrank._types import Floats
from argrank.data.grouping import objects
from argrank.errors import FormatError, InputError, is_text, shown

MISSING = ("", "null", "nan")  # words for a missing value, in upper or lower case
LONGEST_LINE = 1 << 27  # bytes
LOOK = 1 << 22  # bytes after which memory is checked again
HELD = 20  # bytes that a reader in plain Python needs per byte of text
_CANONICAL_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")  # integers of 64 bits as str() writes them


def text_lines(stream: IO[bytes], path: str | os.PathLike[str], *, held: int = HELD) -> Iterator[str]:
    """Yield the lines of a UTF-8 file with their line ends, without a byte order mark.

    A caller that keeps what it reads needs about ``held`` bytes per byte of text. Exceeding the memory limit is an
    error, since a small archive may hold an enormous text, and a device an endless one.
    """
    n_bytes, looked = 0, LOOK
    for number, line in enumerate(iter(lambda: stream.readline(LONGEST_LINE), b""), 1):
        n_bytes += len(line)
        if n_bytes >= looked:
            if len(line) == LONGEST_LINE:
                raise FormatError(path, number, f"lines of less than {LONGEST_LINE:,} bytes", "a longer one")
            looked = n_bytes + LOOK
            check_memory(os.fspath(path), held * n_bytes, "unpack it and read it in parts, or convert it to Parquet")
        if number == 1 and line.startswith(BOM_UTF8):
            line = line[len(BOM_UTF8) :]
        if b"\0" in line:
            raise FormatError(path, number, "text", "a NUL byte")
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise FormatError(path, number, "UTF-8 text", f"byte 0x{error.object[error.start]:02x}") from error


def read_number(text: str) -> float:
    """Parse a number; NaN and infinity as in float(), but no digit separators."""
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return float(text)


def read_numbers(cells: Sequence[str]) -> Floats:
    """Parse the numbers of a column exactly as float() does; missing values are NaN.

    Raises ValueError if a text is not a number, or infinite; `is_number` finds it.
    """
    together = "".join(cells)
    if "_" in together or not (together.isascii() or all(cell.strip().isascii() for cell in cells)):
        raise ValueError
    try:
        values = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        known = ["nan" if cell.lower() in MISSING else cell for cell in map(str.strip, cells)]
        values = np.fromiter(map(float, known), np.float64, len(cells))
    if np.isinf(values).any():
        raise ValueError
    return values


def is_number(cell: str) -> bool:
    """Tell whether `read_numbers` accepts a text."""
    try:
        read_numbers([cell])
    except ValueError:
        return False
    return True


def read_ids(cells: Sequence[str]) -> NDArray[Any]:
    """Return ids as integers if all of them are written as str() writes integers, else as texts."""
    if all(map(_CANONICAL_INTEGER.fullmatch, cells)):
        return np.array(cells, dtype=object).astype(np.int64)
    return objects(cells)


def number_text(value: float) -> str:
    """Return the shortest text that float() reads back exactly: ``2``, ``0.1``, ``1e-07``, empty for NaN."""
    return "" if value != value else repr(value).removesuffix(".0")


def id_texts(ids: NDArray[Any], what: str) -> list[str]:
    """Return ids as texts; raise for those that UTF-8 cannot encode."""
    texts = [str(value) for value in ids.tolist()]
    together = "".join(texts)
    for text in texts if "\0" in together or not is_text(together) else ():
        if "\0" in text or not is_text(text):
            raise InputError(f"{what}: expected ids that UTF-8 text can hold, got {shown(text)}")
    return texts


def first_repeated(words: Sequence[str]) -> str | None:
    """Return the first word that occurs again, None when all are different."""
    if len(set(words)) == len(words):
        return None
    seen: set[str] = set()
    for word in words:
        if word in seen:
            return word
        seen.add(word)
    return None
