"""The dialect of a delimited text: separator and encoding, detected from its beginning or given by the caller."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import os
import re
from collections.abc import Iterator
from typing import IO, NamedTuple

from argrank.data.io.columns.kinds import Marks
from argrank.data.io.columns.roles import named
from argrank.errors import FormatError, OptionError, shown

SEPARATORS = (",", ";", "\t", "|")
BEGINNING = 1 << 18  # bytes to examine
ROWS = 100
_BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_HINT = re.compile(r"sep=([,;|\t])\r?\n")
NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "'|'"}


class Given(NamedTuple):
    """The caller's options about the text; None means detect it."""

    sep: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None

    def checked(self) -> Given:
        """Return the options, or raise if one is invalid."""
        for name, value in self._asdict().items():
            if value is not None and (not isinstance(value, str) or (name != "encoding" and len(value) > 1)):
                raise OptionError(f"{name}: expected one character, got {shown(value)}")
        if self.sep is not None and (not self.sep or self.sep in '"\r\n' or not self.sep.isascii()):
            raise OptionError(f"sep: expected a character that separates cells, got {shown(self.sep)}")
        if self.decimal is not None and self.decimal not in (".", ","):
            raise OptionError(f"decimal: expected '.' or ',', got {shown(self.decimal)}")
        if self.thousands is not None and self.thousands not in (",", ".", " ", "'", ""):
            raise OptionError(f"thousands: expected ',', '.', ' ', \"'\" or '', got {shown(self.thousands)}")
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except (LookupError, ValueError) as error:
                expected = "one such as utf-8, cp1252 or utf-16"
                raise OptionError(f"encoding: expected {expected}, got {shown(self.encoding)}") from error
        return self

    @property
    def marks(self) -> Marks:
        """The marks in numbers."""
        return Marks(self.decimal, self.thousands)


class Dialect(NamedTuple):
    """The dialect of a text, and its header: the names, and the number of rows up to it."""

    sep: str
    encoding: str
    names: list[str]
    line: int  # of the header
    skip: int  # rows up to the header, empty ones too
    hint: bool = False  # whether the first line is Excel's sep=, not a row

    @property
    def is_wide(self) -> bool:
        """Whether a character takes two bytes."""
        return self.encoding.lower().replace("_", "-").startswith(("utf-16", "utf16"))

    def told(self, given: Given, usual: str) -> list[str]:
        """Return what to log: detected properties that are unusual."""
        found = [f"separated by {NAMES[self.sep]}"] if given.sep is None and self.sep != usual else []
        plain = given.encoding is not None or self.encoding in ("utf-8", "utf-8-sig")
        return found + ([] if plain else [f"encoded as {self.encoding}"])


def find_dialect(beginning: bytes, path: str | os.PathLike[str], usual: str, given: Given) -> Dialect:
    """Detect the dialect of a text from its beginning."""
    encoding = given.encoding or find_encoding(beginning)
    text = codecs.getincrementaldecoder(encoding)("replace").decode(beginning).removeprefix("\ufeff")
    hint = _HINT.match(text)
    text = text[hint.end() :] if hint else text
    sep = given.sep or (hint[1] if hint else _separator(text) if usual == "," else usual)
    skip, above = 0, int(hint is not None)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=sep)
    try:
        for row in rows:
            if row:
                return Dialect(sep, encoding, named(row), rows.line_num + above, skip + 1, hint is not None)
            skip += 1
    except csv.Error as error:
        raise FormatError(path, rows.line_num + above, "delimited text", str(error)) from error
    raise FormatError(path, None, "a line with the names of the columns", "an empty file")


def find_encoding(beginning: bytes) -> str:
    """Return the encoding of a text: by its byte order mark or its zeros, else UTF-8 if valid, else cp1252."""
    for mark, name in _BYTE_ORDER_MARKS.items():
        if beginning.startswith(mark):
            return name
    if len(beginning) >= 4 and b"\0" in beginning[:4]:
        even, odd = beginning[:1000:2], beginning[1:1000:2]
        if odd.count(0) > len(odd) // 2 and not even.count(0):
            return "utf-16-le"
        if even.count(0) > len(even) // 2 and not odd.count(0):
            return "utf-16-be"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(beginning)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _separator(text: str) -> str:
    """Return the separator with which the header has several cells and most rows have as many."""
    best, chosen = (0.0, 1), ","
    lines = text.splitlines(keepends=True)[:-1] or [text]  # the last one may be cut off
    for sep in SEPARATORS:
        reader = csv.reader(lines, delimiter=sep)
        try:
            counts = [len(row) for row in itertools.islice(reader, ROWS) if row]
        except csv.Error:
            continue
        if not counts or counts[0] < 2:
            continue
        share = counts.count(counts[0]) / len(counts)
        if (share, counts[0]) > best:
            best, chosen = (share, counts[0]), sep
    return chosen


def text_rows(content: IO[bytes], path: str | os.PathLike[str], dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows below the header with their first line; raise for text that is not delimited.

    This is slow, and only used to locate an error.
    """
    above = int(dialect.hint)
    lines = itertools.islice(_lines(content, path, dialect.encoding), above, None)
    reader = csv.reader(lines, delimiter=dialect.sep, strict=True)
    line, seen = 1 + above, False
    try:
        for row in reader:
            if row and seen:
                yield line, row
            seen = seen or bool(row)
            line = reader.line_num + 1 + above
    except csv.Error as error:
        raise FormatError(path, reader.line_num + above, "delimited text", str(error)) from error


def _lines(content: IO[bytes], path: str | os.PathLike[str], encoding: str) -> Iterator[str]:
    name = "utf-8" if encoding == "utf-8-sig" else encoding
    if name.replace("-", "").lower().startswith("utf16"):
        content = io.BytesIO(content.read().decode(name, "replace").encode())
        name = "utf-8"
    for number, line in enumerate(content, 1):
        if b"\0" in line:
            raise FormatError(path, number, "text", "a NUL byte")
        try:
            text = line.decode(name)
        except UnicodeDecodeError as error:
            got = f"byte 0x{error.object[error.start]:02x}"
            raise FormatError(path, number, f"{encoding.upper()} text", got) from error
        yield text.removeprefix("\ufeff") if number == 1 else text
