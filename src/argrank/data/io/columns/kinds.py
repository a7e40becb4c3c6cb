"""Decide whether a text column holds numbers, flags, dates, categories, ids or texts to read; and its values."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

import numpy as np

from argrank._types import Floats, Integers
from argrank.data.io.columns import numbers
from argrank.data.io.columns.dates import ISO, date_format, no_dates
from argrank.data.io.columns.numbers import PLAIN, WRITINGS, Writing
from argrank.data.io.columns.roles import is_id_name
from argrank.data.io.columns.texts import CellError, Texts
from argrank.errors import shown

#: Words of yes/no columns, in lower case: (1, 0).
FLAGS = (("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("on", "off"))
FEW = 50  # up to this many distinct texts are always categories
NEARLY_ALL = 0.9  # share of rows with distinct texts above which they are ids
REPEATED = 0.02  # share of rows whose text occurs again in the query, up to which they are ids
MISTAKE = 0.5  # share of numbers in a column above which a text among them is an error
MANY_WORDS = 4.0  # average words of a text to read


class Kind(Enum):
    """What a column of texts is."""

    NUMBER = "number"
    FLAG = "flag"
    DATE = "date"
    CATEGORY = "category"
    ID = "id"
    TEXT = "text"


class Decided(NamedTuple):
    """The kind of a text column; for numbers, all formats that match, the likeliest first."""

    kind: Kind
    ways: tuple[Writing, ...] = ()
    date: str | None = None  # the format of dates

    @property
    def ambiguous(self) -> bool:
        """Whether other columns have to decide which format the numbers have."""
        return len({way.decimal for way in self.ways}) > 1


class Marks(NamedTuple):
    """The decimal mark and the thousands separator of a table, if known."""

    decimal: str | None = None
    thousands: str | None = None


def decide(name: str, texts: Texts, queries: Integers | None, marks: Marks, given: str | None = None) -> Decided:
    """Decide the kind of a text column: the one ``given`` by the caller, else from all of its texts."""
    if given in ("category", "id", "text"):
        return Decided(Kind(given))
    if given == "date":
        form = date_format(texts) or (None if len(texts.known) else ISO)
        if form is None:
            row = texts.first_row(no_dates(texts))
            raise CellError(name, row, "dates, all in one format, such as 2025-12-31", shown(texts.text_of(row)))
        return Decided(Kind.DATE, date=form)
    words = texts.known_lower if len(texts.known) <= 2 else set()
    if words and any(words <= set(pair) for pair in FLAGS):
        return Decided(Kind.FLAG)
    ways = numbers.writings(texts, *marks)
    if ways:
        return Decided(Kind.NUMBER, tuple(ways))
    if is_id_name(name) and given is None:
        return Decided(Kind.ID)
    if date_format(texts) is not None:
        return Decided(Kind.DATE)
    _refuse_mistakes(name, texts, given)
    return Decided(_kind_of_texts(texts, queries))


def _refuse_mistakes(name: str, texts: Texts, given: str | None) -> None:
    """Raise for a text in a column that is mostly numbers, or that the caller declared as numbers."""
    sign = numbers.usual_sign(texts)
    shares = [numbers.share_of_numbers(texts, way._replace(beside=sign)) for way in WRITINGS[:4]]
    share, wrong = max(shares, key=lambda one: one[0])
    if share >= MISTAKE or given == "number":
        if not wrong.any():
            wrong = numbers.without_sign(texts, sign) if sign else numbers.wrong_numbers(texts, PLAIN)
        raise _wrong(name, texts, texts.first_row(wrong), sign)


def _wrong(name: str, texts: Texts, row: int, sign: str = "") -> CellError:
    advice = "; if the column is not numeric, use --category, --text or --drop"
    expected = f"a finite number{' with ' if sign else ''}{sign}"
    return CellError(name, row, expected, shown(texts.text_of(row)), advice)


def _kind_of_texts(texts: Texts, queries: Integers | None) -> Kind:
    words = [word for word, count in zip(texts.plain.to_pylist(), texts.counts, strict=True) if count and word]
    n_rows = int(texts.counts.sum())
    if len(words) <= FEW:
        return Kind.CATEGORY
    if np.mean([len(word.split()) for word in words]) >= MANY_WORDS:
        return Kind.TEXT
    if len(words) > NEARLY_ALL * n_rows or (queries is not None and _repeated(texts.codes, queries) <= REPEATED):
        return Kind.ID
    return Kind.CATEGORY


def _repeated(codes: Integers, queries: Integers) -> float:
    """Return the share of rows whose text another row of the same query has."""
    pairs = queries * (codes.max() + 2) + codes + 1
    return 1.0 - len(np.unique(pairs)) / max(1, len(pairs))


def number_values(name: str, texts: Texts, way: Writing) -> Floats:
    """Return the numbers of a column; a CellError names the first that is not finite, or in another format."""
    wrong = numbers.wrong_numbers(texts, way)
    if wrong.any():
        raise _wrong(name, texts, texts.first_row(wrong))
    return numbers.numbers(texts, way)


def flag_values(texts: Texts) -> Floats:
    """Return 1 for yes, 0 for no, NaN if missing."""
    yes, no = ({pair[side] for pair in FLAGS} for side in (0, 1))
    meant = [1.0 if word in yes else 0.0 if word in no else np.nan for word in texts.lower.to_pylist()]
    return texts.spread(np.array(meant, np.float64))
