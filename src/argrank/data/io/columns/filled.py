"""Write columns of numbers directly into the rows of X, batch by batch, without a second copy of the table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from argrank._types import Floats
from argrank.data.io.columns.roles import FEATURE, is_id_name

PLAIN_KINDS = (None, FEATURE, "number")  # kinds that a column converted by pyarrow may be given
NO_FEATURES = ("id", "text")
CACHED_ROWS = 1 << 13  # whose parts of neighbouring columns stay in the cache
MORE = 1.5  # growth factor if there are more rows than expected


class Filled(NamedTuple):
    """An Arrow table in two parts: ``X`` has the numbers, and space for other features; ``rest`` the other columns.

    ``columns`` are all columns in the order of the table, ``names`` those of X, ``numbers`` those that are filled.
    """

    X: Floats
    columns: list[str]
    names: list[str]
    numbers: Collection[str]
    rest: Any


class NotFiniteError(Exception):
    """A number is infinite or NaN."""


def feature_columns(names: Iterable[str], given: Mapping[str, str | None], chosen: bool) -> dict[str, str | None]:
    """Return the columns that are features unless their texts show otherwise, and the caller's kind of each.

    ``chosen`` means that the caller has named them as features.
    """
    kinds = {name: given.get(name) or (FEATURE if chosen else None) for name in names}
    return {
        name: kind
        for name, kind in kinds.items()
        if kind not in NO_FEATURES and not (kind is None and is_id_name(name))
    }


def number_types(schema: Any, names: Iterable[str]) -> dict[str, Any]:
    """Return the type of the columns that hold numbers or booleans."""
    import pyarrow as pa

    plain = (pa.types.is_integer, pa.types.is_float32, pa.types.is_float64, pa.types.is_boolean)
    types = {name: schema.field(name).type for name in names}
    return {name: kind for name, kind in types.items() if any(check(kind) for check in plain)}


class Piece(NamedTuple):
    """Some rows of some columns: those of X from ``first`` to before ``last``, in a batch of Arrow."""

    row: int
    first: int
    last: int
    batch: Any


def by_rows(batches: Iterable[Any], n_columns: int, others: Sequence[str], rest: list[Any]) -> Iterator[Piece]:
    """Yield batches with all columns; other columns go to ``rest``."""
    row = 0
    for batch in batches:
        yield Piece(row, 0, n_columns, batch)
        rest.append(batch.select(others))
        row += len(batch)


def fill(
    pieces: Iterable[Piece], names: Sequence[str], numbers: Mapping[str, Any], n_rows: int, finite: bool = False
) -> Floats:
    """Return X with columns ``names``; those in ``numbers``, with their types, are filled.

    About ``n_rows`` are expected. With ``finite``, a number that is not finite raises NotFiniteError.
    """
    import pyarrow as pa

    single = len(numbers) == len(names) and set(numbers.values()) == {pa.float32()}
    kind = pa.float32() if single else pa.float64()
    X = np.empty((n_rows, len(names)), np.float32 if single else np.float64)
    used = 0
    for row, first, last, batch in pieces:
        end = row + len(batch)
        X = X if end <= len(X) else _enlarged(X, row, max(end, int(MORE * row)))
        some = [
            (place, _numbers(batch, name, kind))
            for place, name in enumerate(names[first:last], first)
            if name in numbers
        ]
        values = [(place, array.to_numpy(zero_copy_only=False)) for place, array in some]
        if finite and any(
            np.count_nonzero(~np.isfinite(cells)) != array.null_count
            for (_, array), (_, cells) in zip(some, values, strict=True)
        ):
            raise NotFiniteError
        for start in range(0, len(batch), CACHED_ROWS):
            rows = slice(start, start + CACHED_ROWS)
            for place, cells in values:
                X[row:end, place][rows] = cells[rows]
        used = max(used, end)
    if numbers and used < len(X):
        X.resize((used, len(names)), refcheck=False)  # releases unused memory
    return X


def _numbers(batch: Any, name: str, kind: Any) -> Any:
    array = batch.column(name)
    return array if array.type == kind else array.cast(kind, safe=False)  # integers beyond 2^53 are rounded


def _enlarged(X: Floats, n_filled: int, n_rows: int) -> Floats:
    """Return a larger array; pages that are not written to take no memory."""
    larger = np.empty((n_rows, X.shape[1]), X.dtype)
    larger[:n_filled] = X[:n_filled]
    return larger
