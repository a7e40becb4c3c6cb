"""Ratings, (user, item, rating), from files: tables with named columns, plain text, sparse matrices."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from argrank._files import open_bytes, split_suffixes
from argrank._types import Floats, Integers
from argrank.data.io import arrow
from argrank.data.io.delimited import DELIMITERS, texts_of
from argrank.data.io.kinds import EXTENSIONS
from argrank.data.io.text import read_ids, read_numbers, text_lines
from argrank.errors import FormatError, shown

#: Recognised names of columns; if none occurs, columns are taken in this order.
NAMES = {
    "user": ("user", "users", "user_id", "userid", "uid"),
    "item": ("item", "items", "item_id", "itemid", "iid", "movie_id", "movieid", "product_id", "productid"),
    "rating": ("rating", "ratings", "stars", "score", "label"),
}
FIELDS = "user item rating time"


def read_triples(path: str | os.PathLike[str], rated: bool = True) -> Ratings:
    """Read users, items and ratings; without ``rated``, ratings may be missing and are then 0.

    ``.csv``, ``.tsv``, ``.parquet`` and ``.arrow`` files have a header; the columns user, item and rating are found by
    name (also ``userId``, ``movie_id``, ``stars`` …), or are the first three. ``.npz`` is a sparse matrix of users by
    items as SciPy saves it. Everything else is text with three or more words per line, as in MovieLens' ``u.data``.
    """
    suffix = split_suffixes(path)[0]
    if suffix == ".npz":
        return _matrix(path)
    kind = EXTENSIONS.get(suffix)
    if kind in ("parquet", "arrow"):
        table = arrow.read_columns(path, kind)
        return _of_columns(path, table.column_names, [column.to_pylist() for column in table.columns], rated)
    if kind in DELIMITERS:
        cells = texts_of(path, DELIMITERS[kind])
        return _of_columns(path, list(cells), list(cells.values()), rated)
    with open_bytes(path) as stream:
        rows = [words for words in (line.split() for line in text_lines(stream, path)) if words]
    header = [*NAMES, *("" for _ in range(len(rows[0]) - 3))][: len(rows[0])] if rows else []
    for line, row in enumerate(rows, 1):
        if len(row) != len(header):
            raise FormatError(path, line, f"{len(header)} fields, as in the first line", f"{len(row)}")
    return _of_columns(path, header, [list(column) for column in zip(*rows, strict=True)], rated)


def _of_columns(path: str | os.PathLike[str], header: Sequence[str], columns: list[list[Any]], rated: bool) -> Ratings:
    if not columns or not columns[0]:
        raise FormatError(path, None, f"a line of {', '.join(NAMES)}", "none")
    lower = [name.strip().lower() for name in header]
    places = {
        meaning: next((at for at, name in enumerate(lower) if name in known), None) for meaning, known in NAMES.items()
    }
    if places["user"] is None or places["item"] is None:
        places = {meaning: at if at < len(header) else None for at, meaning in enumerate(NAMES)}
    user, item, rating = (places[name] for name in ("user", "item", "rating"))
    if user is None or item is None or (rated and rating is None):
        raise FormatError(path, 1, f"columns {', '.join(NAMES)}", shown(",".join(header)))
    users, items = _ids(columns[user]), _ids(columns[item])
    ratings = np.zeros(len(users)) if rating is None else _numbers(path, header[rating], columns[rating], rated)
    return Ratings(users, items, ratings)


def _ids(cells: list[Any]) -> Any:
    return read_ids([cell.strip() for cell in cells]) if isinstance(cells[0], str) else np.array(cells, object)


def _numbers(path: str | os.PathLike[str], name: str, cells: list[Any], rated: bool) -> Floats:
    try:
        return read_numbers([str(cell) for cell in cells])
    except ValueError:
        if not rated:
            return np.zeros(len(cells))
        wrong = next((cell for cell in cells if not _is_number(cell)), cells[0])
        expected = f"columns {', '.join(NAMES)}, with numbers as ratings"
        raise FormatError(path, None, expected, f"{shown(wrong)} in column {shown(name)}") from None


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _matrix(path: str | os.PathLike[str]) -> Ratings:
    try:
        entries = sparse.load_npz(path).tocoo()
    except (OSError, ValueError, KeyError) as error:
        raise FormatError(path, None, "a sparse matrix as scipy.sparse.save_npz writes it", str(error)) from error
    return Ratings(entries.row.astype(np.int64), entries.col.astype(np.int64), entries.data.astype(np.float64))


@dataclass(frozen=True, eq=False)
class Ratings:
    """Triples (user, item, rating), one array element per rating, in the order of the file."""

    users: Integers
    items: Integers
    ratings: Floats

    def __len__(self) -> int:
        return len(self.users)


class RatingFold(NamedTuple):
    """The ratings to learn from and those to predict."""

    train: Ratings
    test: Ratings


def read_ratings(path: str | os.PathLike[str]) -> Ratings:
    """Read a file of MovieLens 100k: user, item, rating and time, all of them integers."""
    rows: list[list[int]] = []
    with open_bytes(path) as stream:
        for line, text in enumerate(text_lines(stream, path), 1):
            words = text.split()
            if len(words) != 4 or not all(word.isascii() and word.isdigit() and len(word) < 19 for word in words):
                raise FormatError(path, line, f"four integers ({FIELDS})", shown(text.strip()))
            rows.append([int(word) for word in words])
    if not rows:
        raise FormatError(path, None, f"lines of {FIELDS}", "an empty file")
    table = np.array(rows, dtype=np.int64)
    return Ratings(table[:, 0].copy(), table[:, 1].copy(), table[:, 2].astype(np.float64))
