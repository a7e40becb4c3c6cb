"""Ratings of items by users: triples without features."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from argrank._files import open_bytes
from argrank._types import Floats, Integers
from argrank.data.io.text import text_lines
from argrank.errors import FormatError, shown

FIELDS = "user item rating time"


@dataclass(frozen=True, eq=False)
class Ratings:
    """Triples (user, item, rating), one element of each array a rating, in the order of the file."""

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
