"""Choose the columns of a file to read, and check their names; every message names the file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from argrank.data.io.columns.roles import likely_option, listing, meanings_of, tell, told_indexes
from argrank.data.io.columns.table import Reading
from argrank.data.io.text import first_repeated
from argrank.errors import FormatError, shown

Path = str | os.PathLike[str]


def check_names(names: Sequence[str], path: Path, line: int | None) -> None:
    """Raise unless every column has a unique name; ``line`` is the line of the header."""
    twice = first_repeated(names)
    if twice is not None:
        raise FormatError(path, line, "columns of different names", f"{shown(twice)} twice")
    if "" in names:
        got = f"none for column {names.index('') + 1} of {listing(names)}"
        raise FormatError(path, line, "a name for every column", got)


def check_columns(names: Sequence[str], reading: Reading, path: Path, line: int | None) -> None:
    """Raise unless the columns given by the caller, and those that a table needs, exist."""
    check_names(names, path, line)
    features = reading.features or ()
    roles, _, _, indexes = meanings_of(names, reading.given, reading.known, features)  # refuses unknown meanings
    if indexes and not features:
        tell(f"{os.fspath(path)}: {told_indexes(indexes)}")  # they are not read, so checked here
    for name in (*reading.given, *features):
        if name not in names:
            raise FormatError(path, line, f"a column {name!r}", f"columns {listing(names)}")
    found: dict[str, str] = {}
    for name, meaning in sorted(roles.items(), key=lambda pair: names.index(pair[0])):
        if meaning in found:
            got = f"{shown(found[meaning])} and {shown(name)}"
            raise FormatError(path, line, f"one column that is the {meaning}", got)
        if meaning is not None:
            found[meaning] = name
    if "qid" not in found and "qid" not in reading.known:
        option = likely_option("qid", names, ("query", "search", "keyword", "term", "topic", "session"))
        got = f"columns {listing(names)}; give one with {option} (columns={{…: 'qid'}})"
        raise FormatError(path, line, "a column 'qid'", got)
    if not features and not set(names) - set(roles):
        raise FormatError(path, line, "at least one column that is a feature", f"columns {listing(names)}")


class Columns(NamedTuple):
    """The columns of a file to read: those with a meaning, and features."""

    meanings: dict[str, str]
    others: list[str]

    @property
    def all(self) -> list[str]:
        """All of them."""
        return [*self.meanings, *self.others]


def columns_to_read(names: Sequence[str], reading: Reading) -> Columns:
    """Return the columns that are needed."""
    roles = meanings_of(names, reading.given, reading.known, reading.features or ()).roles
    needed = {name: meaning for name, meaning in roles.items() if meaning is not None and name in names}
    return Columns(needed, list(reading.features or [name for name in names if name not in roles]))
