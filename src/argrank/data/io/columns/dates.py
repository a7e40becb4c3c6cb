"""Parse dates in common formats."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

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


_TIME = r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
#: Patterns of dates, and how to parse their first ten characters; the first match is used.
FORMATS = (
    (rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}{_TIME}$", "%Y-%m-%d"),
    (rf"^[0-9]{{4}}/[0-9]{{2}}/[0-9]{{2}}{_TIME}$", "%Y/%m/%d"),
    (rf"^[0-9]{{2}}\.[0-9]{{2}}\.[0-9]{{4}}{_TIME}$", "%d.%m.%Y"),
    (rf"^[0-9]{{2}}/[0-9]{{2}}/[0-9]{{4}}{_TIME}$", "%d/%m/%Y"),
    (rf"^[0-9]{{2}}/[0-9]{{2}}/[0-9]{{4}}{_TIME}$", "%m/%d/%Y"),
)
EPOCH = dt.date(1970, 1, 1)
ISO = FORMATS[0][1]
LENGTH = 10  # characters of a date


def date_format(texts: Texts) -> str | None:
    """Return the date format that all texts of a column have; None if there is none."""
    known = texts.known
    for pattern, form in FORMATS if len(known) else ():
        if pc.all(pc.match_substring_regex(known, pattern)).as_py() and not _days(known, form).null_count:
            return form
    return None


def no_dates(texts: Texts) -> NDArray[np.bool_]:
    """Return for each distinct text whether it is neither missing nor a date in the format of the first one."""
    first = texts.known[:1]
    way = next((one for one in FORMATS if pc.match_substring_regex(first, one[0])[0].as_py()), FORMATS[0])
    fits = bools(pc.match_substring_regex(texts.plain, way[0])) & ~bools(_days(texts.plain, way[1]).is_null())
    return ~texts.missing & ~fits


def day_numbers(texts: Texts, form: str) -> tuple[Floats, str]:
    """Return for every row the days before the newest date (NaN if missing), and that date."""
    days = np.full(len(texts.words), np.nan)
    if len(texts.known):
        known = _days(texts.known, form).cast(pa.date32()).cast(pa.int32())
        days[~texts.missing] = known.to_numpy(zero_copy_only=False)
    found = texts.spread(days)
    newest = np.nanmax(found) if len(texts.known) else 0.0
    return newest - found, (EPOCH + dt.timedelta(days=int(newest))).isoformat()


def iso_texts(column: Any) -> Any:
    """Return an Arrow column of dates or times as texts such as 2025-12-31, in the column's own time zone."""
    if pa.types.is_timestamp(column.type):
        column = pc.local_timestamp(column) if column.type.tz else column
        column = column.cast(pa.date32(), safe=False)
    return column.cast(pa.date32()).cast(pa.string())


def _days(known: Any, form: str) -> Any:
    """Parse texts; null where there is no such day: strptime itself takes February 30 as March 2."""
    parsed = pc.strptime(pc.utf8_slice_codeunits(known, 0, LENGTH), format=form, unit="s", error_is_null=True)
    place = len(form.partition("%d")[0].replace("%Y", "0000"))  # %m is as long as its month
    written = pc.utf8_slice_codeunits(known, place, place + 2)
    same = pc.equal(pc.utf8_lpad(pc.day(parsed).cast(pa.string()), 2, "0"), written)
    return pc.if_else(same, parsed, None)
