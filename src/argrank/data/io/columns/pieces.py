"""Tables that are read piece by piece: what is detected in the first piece applies to all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from argrank.data.io.columns.kinds import Marks
from argrank.data.io.columns.table import Reading, arguments_of, decimal_of
from argrank.data.io.columns.texts import CellError
from argrank.errors import InputError


def arguments_of_pieces(
    pieces: Iterator[Any], reading: Reading, path: str | os.PathLike[str]
) -> Iterator[dict[str, Any]]:
    """Yield the arguments of Dataset for every piece, a table of narwhals.

    Text features are refused, since their categories are known only after the last piece.
    """
    row = 0
    for piece in pieces:
        try:
            found = arguments_of(piece, reading)
        except CellError as error:
            raise CellError(error.column, row + error.row, error.expected, error.got, error.advice) from error
        for name in (*(found.pop("categories") or ()), *(found.pop("dates") or ())):
            raise refused_text(path, name)
        if row == 0:  # with a known decimal mark there is nothing to decide
            marks = Marks(reading.marks.decimal or decimal_of(piece, found["feature_names"]), reading.marks.thousands)
            reading = reading._replace(features=found["feature_names"], marks=marks, told=())
        row += len(piece)
        yield found


def refused_text(path: str | os.PathLike[str], name: str) -> InputError:
    """Return the error for a text feature in a file that is read piece by piece."""
    return InputError(
        f"{os.fspath(path)}: column {name!r}: expected numbers, got texts or dates, which need all rows; "
        "leave it out (--drop), replace it by numbers, or pack data in memory: ar.pack(ar.load(…), …)"
    )
