"""Rows of packs and Datasets, one after the other, with the same features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank.data.categories import align, union
from argrank.data.dataset import Dataset
from argrank.data.io.naming import Naming
from argrank.data.io.pack.chosen import Chosen
from argrank.data.io.pack.chunks import BY_ROW, Chunk
from argrank.data.mapped import size_of
from argrank.errors import InputError

LEFT_OUT = ("comments", "titles", "query_texts")  # free texts, which a pack cannot hold


class PackedRows:
    """Packs and Datasets as a source of rows.

    Features are matched by name, in the order of the first part; categories are the union of all parts. Row numbers
    continue from part to part.
    """

    def __init__(self, parts: Sequence[tuple[str, Dataset]], said: Naming, strict: bool = True) -> None:
        self._parts = [data for _, data in parts]
        for where, data in parts:
            if data.preferences is not None:
                raise InputError(f"{where}: preferences: a pack cannot hold them; give labels instead")
            if data.dates:
                raise InputError(
                    f"{where}: {next(iter(data.dates))!r}: a pack cannot hold reference dates; replace dates by "
                    f"numbers of days"
                )
        self._chosen = [Chosen(data, said, where, strict) for where, data in parts]
        first = self._chosen[0]
        self.feature_names, self.feature_base = first.feature_names, self._parts[0].feature_base
        for (where, _), other in zip(parts, self._chosen, strict=True):
            names = [None if one.feature_names is None else set(one.feature_names) for one in (first, other)]
            if names[0] != names[1]:
                raise InputError(f"{where}: expected the features of {parts[0][0]}, {_differ(first, other)}")
        texts = {frozenset(one.categories or ()) for one in self._chosen}
        if len(texts) > 1:
            raise InputError(f"{parts[0][0]}: expected the same features to be texts in every part, got different ones")
        self.categories: Mapping[str, tuple[str, ...]] | None = union(one.categories for one in self._chosen) or None
        self.normalised = self._parts[0].normalised
        if any(part.normalised != self.normalised for part in self._parts):
            raise InputError("expected parts that are all normalised in the same way, or none of them, got others")
        if self.normalised is not None:
            self._refuse_continued()
        self.left_out = {name for name in LEFT_OUT for part in self._parts if getattr(part, name) is not None}

    def chunks(self, n_bytes: int) -> Iterator[Chunk]:
        """Yield the stored rows."""
        first, has_rows = 0, any(data.rows is not None for data in self._parts)
        for data, chosen in zip(self._parts, self._chosen, strict=True):
            for chunk in _chunks(data, n_bytes):
                taken, rows = chosen.of(chunk), chunk.rows
                X = align(taken.X, chosen.feature_names, chosen.categories, self.feature_names, self.categories)
                yield taken._replace(X=X, rows=rows + first if has_rows and rows is not None else None)
            first += data.n_documents

    def ids(self, n_bytes: int) -> Iterator[NDArray[Any]]:
        """Yield the query ids of the stored rows."""
        yield from (chunk.qid for chunk in self.chunks(n_bytes))

    def _refuse_continued(self) -> None:
        """Raise if a query has rows in two parts that were normalised separately."""
        seen: set[str] = set()
        for data in self._parts:
            own = set(map(str, data.query_ids.tolist()))
            if not seen.isdisjoint(own):
                raise InputError(
                    f"expected queries that are each in one part, since parts were normalised separately, got query "
                    f"{min(seen & own)} in two; pack all of the data again from the original files"
                )
            seen |= own


def _chunks(data: Dataset, n_bytes: int) -> Iterator[Chunk]:
    """Yield the stored rows of a Dataset with the numbers of the caller's rows."""
    by_row = {name: getattr(data, name) for name in BY_ROW if name != "query_weight"}
    step = max(1, int(n_bytes * data.n_documents / max(1, size_of(data.X))))
    for start in range(0, data.n_documents, step):
        rows = slice(start, min(start + step, data.n_documents))
        query = np.searchsorted(data.indptr, np.arange(rows.start, rows.stop), side="right") - 1
        extras = {name: values[rows] for name, values in by_row.items() if values is not None}
        if data.query_weight is not None:
            extras["query_weight"] = data.query_weight[query]
        y = data.y[rows] if data.is_judged else None
        number = np.arange(rows.start, rows.stop) if data.rows is None else data.rows[rows]
        yield Chunk(data.X[rows], y, data.query_ids[query], extras, number)


def _differ(first: Chosen, other: Chosen) -> str:
    """Describe how the features of two parts differ."""
    mine, theirs = first.feature_names, other.feature_names
    if mine is None or theirs is None:
        return f"which have {'no ' if mine is None else ''}names, got features with{'out' if theirs is None else ''}"
    lacking, more = [name for name in mine if name not in theirs], [name for name in theirs if name not in mine]
    parts = [f"without {', '.join(lacking)[:100]}"] if lacking else []
    parts += [f"with {', '.join(more)[:100]} besides"] if more else []
    return f"got features {' and '.join(parts)}"
