"""Features that are dates: X holds the days before a reference date, the newest of the data, which a model keeps."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from argrank.errors import InputError

#: Feature name -> its reference date, such as "2025-12-31".
Dates = Mapping[str, str] | None


def is_date(text: object) -> bool:
    """Tell whether a text is a date such as 2025-12-31."""
    try:
        return isinstance(text, str) and dt.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def days_between(earlier: str, later: str) -> float:
    """Return the number of days from one date to another."""
    return float((dt.date.fromisoformat(later) - dt.date.fromisoformat(earlier)).days)


def redated(X: Any, names: Sequence[str] | None, dates: Dates, wanted: Dates) -> Any:
    """Return features whose dates are counted from other reference dates, those of a model or of other data.

    A feature that is a date on one side only is taken as days where it is a number in the data, and refused where the
    model has learned from numbers.
    """
    have, want = dates or {}, wanted or {}
    if have == want or names is None:
        return X
    moved = {name: days_between(have[name], want.get(name, have[name])) for name in have if name in names}
    stranger = next((name for name in moved if name not in want), None)
    if stranger is not None:
        raise InputError(f"column {stranger!r}: expected numbers, as in training, got dates")
    if any(moved.values()):
        X = X.copy()
        for name, days in moved.items():
            X[:, list(names).index(name)] += days
    return X
