"""Parse numbers in local formats; the format is decided for the whole column, never cell by cell.

A format is a decimal mark, a thousands separator, and a currency or percent sign. ``1.234`` matches two formats, so the
other cells of the column decide, then the other columns of the table.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._lazy import LazyModule
from argrank._types import Floats
from argrank.data.io.columns.texts import Texts, bools

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    pa, pc = LazyModule("pyarrow"), LazyModule("pyarrow.compute")


CURRENCIES = "€$£¥₹₽₩₺"
CODES = "EUR|USD|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|CAD|AUD|NZD|BRL|MXN|TRY|ZAR|KRW|Fr\\.|kr\\.?|zł"
_BESIDE = f"(?:[{CURRENCIES}]|{CODES})"
PERCENT = "%"
_EXPONENT = "(?:[eE][+-]?[0-9]+)?"
SAMPLE = 1000  # texts tried before all of them


class Writing(NamedTuple):
    """A number format."""

    decimal: str = "."  # empty: integers
    thousands: str = ""
    beside: str = ""  # a currency or the percent sign

    @property
    def pattern(self) -> str:
        """A regular expression of numbers in this format, without the sign beside them."""
        if not self.decimal:
            return "^[+-]?[0-9]+$"
        mark = re.escape(self.decimal)
        simple = f"(?:[0-9]+{mark}?[0-9]*|{mark}[0-9]+){_EXPONENT}"
        if not self.thousands:
            return f"^[+-]?{simple}$"
        return f"^[+-]?(?:{simple}|[1-9][0-9]{{0,2}}(?:{re.escape(self.thousands)}[0-9]{{3}})+(?:{mark}[0-9]*)?)$"


#: If several match, the first is used, unless other columns of the table have the other decimal mark.
WRITINGS = tuple(Writing(*marks) for marks in (".", ".,", ",", ",.", ". ", ", ", ".'", ",'"))
PLAIN = WRITINGS[0]
WHOLE = Writing("", "")


def writings(texts: Texts, decimal: str | None = None, thousands: str | None = None) -> list[Writing]:
    """Return the formats that match every text of a column, the likeliest first; empty if none does.

    ``decimal`` and ``thousands`` are given by the caller.
    """
    known = texts.known
    beside = _beside(known)
    if beside is None:
        return []
    bare = _bare(known, beside)
    if _fits(bare, WHOLE).all():
        return [WHOLE._replace(beside=beside)]
    ways = [
        way._replace(beside=beside)
        for way in _allowed(decimal, thousands)
        if _fits(bare[:SAMPLE], way).all() and (len(bare) <= SAMPLE or _fits(bare, way).all())
    ]
    several = any(not np.array_equal(_values(bare, ways[0]), _values(bare, way)) for way in ways[1:])
    return ways if several else ways[:1]  # several give different numbers


def _allowed(decimal: str | None, thousands: str | None) -> list[Writing]:
    if decimal is None and thousands is None:
        return list(WRITINGS)
    marks = (".", ",") if decimal is None else (decimal,)
    groups = ("", ",", ".", " ", "'") if thousands is None else (thousands,)
    return [Writing(mark, group) for mark in marks for group in groups if mark != group]


def share_of_numbers(texts: Texts, way: Writing) -> tuple[float, NDArray[np.bool_]]:
    """Return the share of rows with a value that are numbers, and for each distinct text whether it is not a number."""
    wrong = ~texts.missing & ~(_fits(_bare(texts.plain, way.beside), way) | _infinite(texts))
    known = float(texts.counts[~texts.missing].sum())
    return (1.0 - texts.counts[wrong].sum() / known if known else 1.0), wrong


def _infinite(texts: Texts) -> NDArray[np.bool_]:
    return np.array([re.fullmatch(r"[+-]?inf(inity)?", word) is not None for word in texts.lower.to_pylist()], bool)


def wrong_numbers(texts: Texts, way: Writing) -> NDArray[np.bool_]:
    """Return for each distinct text whether it is neither missing nor a finite number in this format."""
    bare = _bare(texts.plain, way.beside)
    fits = _fits(bare, way)
    fits[fits] = np.isfinite(_values(bare.filter(pa.array(fits)), way))
    return ~texts.missing & ~fits


def numbers(texts: Texts, way: Writing) -> Floats:
    """Return the number of every row, NaN if missing; all texts must be in this format."""
    values = np.full(len(texts.words), np.nan)
    values[~texts.missing] = _values(_bare(texts.known, way.beside), way)
    return texts.spread(values)


def _beside(known: Any) -> str | None:
    """Return the sign of all numbers: nothing, one currency or a percent sign; None if they differ."""
    if not len(known):
        return ""
    percent = bools(pc.match_substring(known, PERCENT))
    if percent.any():
        return PERCENT if percent.all() else None
    pattern = f"(?P<sign>{_BESIDE})"
    if not bools(pc.match_substring_regex(known[:SAMPLE], pattern)).any():
        return ""
    found = set(pc.struct_field(pc.extract_regex(known, pattern), "sign").to_pylist()) - {None}
    return found.pop() if len(found) == 1 else None


def usual_sign(texts: Texts) -> str:
    """Return the sign of most texts of a column: a currency, the percent sign or nothing."""
    known = texts.known
    found = pc.struct_field(pc.extract_regex(known, f"(?P<sign>{_BESIDE}|{PERCENT})"), "sign")
    counts = {one["values"]: one["counts"] for one in found.value_counts().to_pylist()}
    return next((sign for sign, count in counts.items() if sign is not None and 2 * count > len(known)), "")


def without_sign(texts: Texts, sign: str) -> NDArray[np.bool_]:
    """Return for each distinct text whether it is not missing and lacks a sign."""
    return ~texts.missing & ~bools(pc.match_substring(texts.plain, sign))


def _bare(words: Any, beside: str) -> Any:
    if not beside:
        return words
    sign = re.escape(beside)
    return pc.replace_substring_regex(words, rf"^([+-]?)\s*{sign}\s*|\s*{sign}$", r"\1")


def _fits(bare: Any, way: Writing) -> NDArray[np.bool_]:
    return bools(pc.match_substring_regex(bare, way.pattern))


def _values(bare: Any, way: Writing) -> Floats:
    if way.thousands:
        bare = pc.replace_substring(bare, way.thousands, "")
    if way.decimal not in (".", ""):
        bare = pc.replace_substring(bare, way.decimal, ".")
    return np.asarray(bare.cast(pa.float64()).to_numpy(zero_copy_only=False))
