"""Dates as people write them."""

from __future__ import annotations

from typing import Any

from argrank.data.io.columns.texts import Texts

_TIME = r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
#: How dates look, and how to read their first ten characters; where several fit, the first does.
FORMATS = (
    (rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}{_TIME}$", "%Y-%m-%d"),
    (rf"^[0-9]{{4}}/[0-9]{{2}}/[0-9]{{2}}{_TIME}$", "%Y/%m/%d"),
    (rf"^[0-9]{{2}}\.[0-9]{{2}}\.[0-9]{{4}}{_TIME}$", "%d.%m.%Y"),
    (rf"^[0-9]{{2}}/[0-9]{{2}}/[0-9]{{4}}{_TIME}$", "%d/%m/%Y"),
    (rf"^[0-9]{{2}}/[0-9]{{2}}/[0-9]{{4}}{_TIME}$", "%m/%d/%Y"),
)
LENGTH = 10  # characters of a day


def date_format(texts: Texts) -> str | None:
    """Return how all texts of a column are dates; None where they are not."""
    import pyarrow.compute as pc

    known = texts.known
    for pattern, form in FORMATS:
        if (
            len(known)
            and pc.all(pc.match_substring_regex(known, pattern)).as_py()
            and not _days(known, form).null_count
        ):
            return form
    return None


def _days(known: Any, form: str) -> Any:
    import pyarrow.compute as pc

    return pc.strptime(pc.utf8_slice_codeunits(known, 0, LENGTH), format=form, unit="s", error_is_null=True)
