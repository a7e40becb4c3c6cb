"""Features that are texts or dates, stored in X as numbers, and columns found by their names.

Each text is a category, stored as its number. A date is stored as the days before a reference date, the newest of the
training data, which the model stores.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank.errors import InputError, shown

Names = tuple[str, ...] | None
#: Feature name -> its texts; the number of a text in X is its place here, and an unknown or missing one is NaN.
Categories = Mapping[str, tuple[str, ...]] | None
#: Feature name -> its reference date, such as "2025-12-31".
Dates = Mapping[str, str] | None

MADE_UP = re.compile(r"(Column_)?\d+")  # names that libraries give to unnamed features


def made_up(names: Sequence[str]) -> bool:
    """Tell whether names are those that LightGBM and CatBoost give to features without one."""
    return all(MADE_UP.fullmatch(name) for name in names)


def kinds_of(names: Names, categories: Categories, dates: Dates = None) -> dict[str, str | None]:
    """Return the kinds of a model's columns (category, date or number), which override what a table suggests."""
    if names is None or made_up(names):
        return {}
    said = dict.fromkeys(categories or (), "category") | dict.fromkeys(dates or (), "date")
    return {name: said.get(name, "number") for name in names}


def decode(codes: NDArray[Any], categories: Sequence[str]) -> list[str | None]:
    """Return the texts of codes; None for NaN."""
    return [None if code != code else categories[int(code)] for code in codes.tolist()]


def places(categories: Categories, names: Names) -> list[int]:
    """Return the indices of the columns that hold categories."""
    return [(names or ()).index(name) for name in categories or ()]


def union(parts: Iterable[Categories]) -> dict[str, tuple[str, ...]]:
    """Return the union of the categories of several parts of the data, sorted."""
    known: dict[str, tuple[str, ...]] = {}
    for part in parts:
        for name, texts in (part or {}).items():
            known[name] = tuple(sorted({*known.get(name, ()), *texts}))
    return known


def align(X: Any, names: Names, categories: Categories, wanted: Names, wanted_categories: Categories) -> Any:
    """Return features as a model expects them: its columns, found by name, in its order, texts coded as it codes them.

    Columns with other names are dropped. If either side has no names, columns are matched by position.
    """
    if names is not None and wanted is not None and names != wanted and (not made_up(wanted) or wanted[0] in names):
        X = _by_name(X, names, wanted)
        names = wanted
    have, want = categories or {}, wanted_categories or {}
    if (not have and not want) or have == want or names is None:
        return X
    changed = {name: texts for name, texts in have.items() if name in names and want.get(name) != texts}
    for name in names:
        if name in want and name not in have:
            raise InputError(f"column {name!r}: expected texts, as in training, got numbers")
    if changed:
        X = X.copy()
    for name, texts in changed.items():
        if name not in want:
            raise InputError(f"column {name!r}: expected numbers, as in training, got texts such as {shown(texts[0])}")
        number = {text: float(place) for place, text in enumerate(want[name])}
        table = np.array([*(number.get(text, np.nan) for text in texts), np.nan])
        column = X[:, names.index(name)]
        X[:, names.index(name)] = table[np.where(np.isnan(column), len(texts), column).astype(np.int64)]
    return X


def _by_name(X: Any, names: tuple[str, ...], wanted: tuple[str, ...]) -> Any:
    place = {name: position for position, name in enumerate(names)}
    lacking = [name for name in wanted if name not in place]
    if lacking:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        raise InputError(f"X: expected a feature {lacking[0]!r}{more}, as in training, got {', '.join(names)[:200]}")
    chosen = X[:, [place[name] for name in wanted]]
    return chosen if sparse.issparse(chosen) else np.ascontiguousarray(chosen)  # for identical sums


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
    """Return features with dates converted to other reference dates, those of a model or of other data.

    If only the model has a date, numbers in the data are taken as days; if only the data has one, it is refused.
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
