"""Split a Dataset into parts, and join several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._types import Integers
from argrank.data.categories import align, redated, union
from argrank.data.checks import Preferences
from argrank.data.grouping import offsets
from argrank.data.mapped import refuse_copy, row_view
from argrank.errors import InputError

if TYPE_CHECKING:
    from argrank.data.dataset import Dataset

BY_ROW = ("document_ids", "comments", "sample_weight", "gains", "examinations", "sources", "titles")
BY_QUERY = ("query_ids", "query_weight", "query_texts")


def fields_of_rows(data: Dataset, rows: Any, queries: Any, sizes: Integers) -> dict[str, Any]:
    """Return the fields of some stored rows, which form queries of the given sizes."""

    def part(name: str, where: Any) -> Any:
        values = getattr(data, name)
        return None if values is None else values[where]

    later = data.not_touched if isinstance(rows, slice) else {}
    fields: dict[str, Any] = {name: part(name, rows) for name in ("y", *BY_ROW) if name not in later}
    if isinstance(rows, slice):
        fields["untouched"] = {name: one.part(rows) for name, one in later.items()}
        if "X" not in later:
            fields["X"] = row_view(data.X, rows)
        if "XT" not in later and data.XT is not None:
            fields["XT"] = data.XT[:, rows]
    else:
        share = int(sizes.sum()) / max(1, data.n_documents)
        refuse_copy(data.X, "select", "take adjacent queries, or pack the part by itself", share)
        fields["X"] = data.X[rows]
    fields |= {name: part(name, queries) for name in BY_QUERY}
    fields["indptr"] = offsets(sizes)
    fields["preferences"] = None
    if data.preferences is not None:
        new_row = np.full(data.n_documents, -1)
        new_row[rows] = np.arange(fields["indptr"][-1])
        better, worse = new_row[data.preferences.better], new_row[data.preferences.worse]
        kept = (better >= 0) & (worse >= 0)
        fields["preferences"] = Preferences(better[kept], worse[kept], data.preferences.weight[kept])
    kept_names = ("feature_names", "categories", "dates", "normalised", "feature_base")
    return fields | {name: getattr(data, name) for name in kept_names}


def joined_fields(parts: Sequence[Dataset]) -> dict[str, Any]:
    """Return the fields of Datasets of different queries and the same features, joined in order."""
    if not len(parts):
        raise InputError("concatenate: expected at least one Dataset, got none")
    if any(part.categories != parts[0].categories for part in parts):
        parts = _recoded(parts)
    _check_features(parts)
    _check_queries(parts)
    first = parts[0]
    newest = {name: max((part.dates or {}).get(name, "") for part in parts) for name in first.dates or ()}
    if any(part.dates != first.dates for part in parts):
        moved = [redated(part.X, part.feature_names, part.dates, newest) for part in parts]
        parts = [part._but(X=one, dates=newest) for part, one in zip(parts, moved, strict=True)]
    stack = sparse.vstack if any(part.is_sparse for part in parts) else np.concatenate
    X: Any = stack([part.X for part in parts])
    return {
        **{name: _column(name, parts) for name in ("y", *BY_ROW, *BY_QUERY)},
        "X": X.tocsr() if sparse.issparse(X) else X,
        "indptr": offsets(np.concatenate([part.sizes for part in parts])),
        "preferences": _preferences(parts),
        "feature_names": first.feature_names,
        "categories": first.categories,
        "dates": newest or None,
        "feature_base": first.feature_base,
    }


def _check_features(parts: Sequence[Dataset]) -> None:
    first = parts[0]
    for part in parts[1:]:
        if part.n_features != first.n_features or part.feature_names != first.feature_names:
            raise InputError(
                f"concatenate: expected the same {first.n_features} features in every part, got {part.n_features}"
                f"{'' if part.n_features != first.n_features else ' with other names'}"
            )


def _check_queries(parts: Sequence[Dataset]) -> None:
    seen: set[Any] = set()
    for value in _columns([part.query_ids for part in parts]).tolist():
        if value in seen:
            raise InputError(f"concatenate: expected different queries in every part, got qid {value!r} twice")
        seen.add(value)


def _column(name: str, parts: Sequence[Dataset]) -> NDArray[Any] | None:
    """Return a field of all parts, joined; None if no part has it."""
    columns = [getattr(part, name) for part in parts]
    absent = [column is None for column in columns]
    if any(absent) and not all(absent):
        raise InputError(f"concatenate: expected {name} in every part or in none")
    return None if any(absent) else _columns(columns)


def _preferences(parts: Sequence[Dataset]) -> Preferences | None:
    """Return the preferences of all parts, with the row numbers of the joined data."""
    starts = offsets(np.array([part.n_documents for part in parts]))
    held = [(p.preferences, start) for p, start in zip(parts, starts, strict=False) if p.preferences is not None]
    if not held:
        return None
    return Preferences(
        np.concatenate([pairs.better + start for pairs, start in held]),
        np.concatenate([pairs.worse + start for pairs, start in held]),
        np.concatenate([pairs.weight for pairs, _ in held]),
    )


def _recoded(parts: Sequence[Dataset]) -> list[Dataset]:
    """Give every part the categories of all parts, in sorted order."""
    known = union(part.categories for part in parts)
    return [
        part._but(X=align(part.X, part.feature_names, part.categories, part.feature_names, known), categories=known)
        for part in parts
    ]


def _columns(columns: list[NDArray[Any]]) -> NDArray[Any]:
    if len({column.dtype.kind for column in columns}) > 1:  # 7 and "7" stay different ids
        columns = [column.astype(object) for column in columns]
    return np.concatenate(columns)
