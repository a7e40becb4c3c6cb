"""A text column, stored as its distinct texts and codes; decisions and conversions use the distinct texts."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from argrank._lazy import LazyModule
from argrank._types import Floats, Integers
from argrank.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    pa, pc = LazyModule("pyarrow"), LazyModule("pyarrow.compute")


MISSING = ("", "#n/a", "-", "?", "n/a", "na", "nan", "none", "null")  # in a column of numbers, in lower case
SILENT = ("", "nan", "null")  # not logged


class CellError(InputError):
    """A cell that does not match its column; a reader of a file adds the line."""

    def __init__(self, column: str, row: int, expected: str, got: str, advice: str = "") -> None:
        self.column, self.row, self.expected, self.got, self.advice = column, row, expected, got, advice
        super().__init__(f"column {column!r}: expected {expected}, got {got} in row {row}{advice}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.column, self.row, self.expected, self.got, self.advice)


class Texts:
    """A text column: its distinct ``words``, the same trimmed (``plain``), and the code of each row.

    ``codes`` is -1 for a missing text.
    """

    def __init__(self, column: Any) -> None:
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # too large for one array
            column = pa.concat_arrays(column.chunks)
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        self.words = encoded.dictionary.cast(pa.large_string())
        self.codes: Integers = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False).astype(np.int64)
        self.counts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.words))
        self.plain = _plain(self.words)
        self.lower = pc.utf8_lower(self.plain)
        self.missing = bools(pc.is_in(self.lower, pa.array(MISSING, pa.large_string())))

    @property
    def known(self) -> Any:
        """The distinct texts, trimmed, that are not a word for a missing value."""
        return self.plain.filter(pa.array(~self.missing))

    @property
    def known_lower(self) -> set[str]:
        """The same in lower case."""
        return set(self.lower.filter(pa.array(~self.missing)).to_pylist())

    def missing_words(self) -> list[str]:
        """Return the words for a missing value that should be logged."""
        found = {word for word, gap in zip(self.lower.to_pylist(), self.missing, strict=True) if gap}
        return sorted(found - set(SILENT)) if self.missing.any() else []

    def first_row(self, wrong: NDArray[np.bool_]) -> int:
        """Return the first row whose text is one of those marked."""
        return int(np.argmax(np.append(wrong, False)[self.codes]))

    def text_of(self, row: int) -> str | None:
        """Return the text of a row as it is."""
        code = int(self.codes[row])
        return None if code < 0 else str(self.words[code].as_py())

    def spread(self, values: Floats) -> Floats:
        """Expand one value per distinct text to one per row; NaN for missing."""
        return np.append(values, np.nan)[self.codes]

    @property
    def used(self) -> list[str]:
        """The distinct texts that occur and are not empty."""
        pairs = zip(self.words.to_pylist(), self.counts, strict=True)
        return [word for word, count in pairs if count and word.strip()]

    def categories(self, known: Collection[str] | None = None) -> tuple[Floats, tuple[str, ...]]:
        """Return the code of every row's text, NaN if empty or missing, and the sorted texts."""
        order = tuple(sorted(self.used)) if known is None else tuple(known)
        number = {word: float(place) for place, word in enumerate(order)}
        codes = [number.get(word, np.nan) for word in self.words.to_pylist()]
        return self.spread(np.array(codes, np.float64)), order


def _plain(words: Any) -> Any:
    """Return trimmed texts with Unicode spaces, minus signs and apostrophes replaced by ASCII."""
    trimmed = pc.utf8_trim_whitespace(words)
    for strange, usual in (("[\u00a0\u2009\u202f]", " "), ("\u2212", "-"), ("\u2019", "'")):
        if bools(pc.match_substring_regex(trimmed, strange)).any():
            trimmed = pc.replace_substring_regex(trimmed, strange, usual)
    return trimmed


def bools(mask: Any) -> NDArray[np.bool_]:
    """Return truth values of Arrow as an array."""
    return np.asarray(mask.to_numpy(zero_copy_only=False), bool)
