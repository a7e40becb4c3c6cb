"""Apply the caller's options about columns to a pack or a Dataset, as if it were a table.

Its columns are those with a meaning (label, qid, docid, source, sample_weight, query_weight) and the features, which
are called f1, f2, … if they have no names.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank.data.categories import Categories, decode
from argrank.data.dataset import Dataset
from argrank.data.io.columns.checks import check_columns
from argrank.data.io.columns.roles import COLUMNS, FEATURE, meanings_of
from argrank.data.io.columns.table import Reading
from argrank.data.io.naming import Naming
from argrank.data.io.pack.chunks import BY_ROW, Chunk
from argrank.errors import InputError, OptionError

FEATURES = (FEATURE, "number", "category", "date")  # declarations that keep a column a feature
WHOLE = 2.0**53  # up to here a float64 holds every integer


class Chosen:
    """The chosen features, in order, and the columns with a meaning."""

    def __init__(self, data: Dataset, said: Naming, where: str, strict: bool = True) -> None:
        unread = data.not_touched  # and to stay so
        has = {one for one in BY_ROW if one in unread or getattr(data, one) is not None}
        held = {name: argument for name, argument in COLUMNS.items() if argument in has}
        meant = ["qid", *(["label"] if data.is_judged else []), *held]
        names = data.feature_names or tuple(f"f{data.feature_base + place}" for place in range(data.n_features))
        columns = {name: one for name, one in said.columns.items() if strict or name in names or name in meant}
        self._place = {name: place for place, name in enumerate(names)}
        self._categories = data.categories or {}
        kept = [name for name in names if columns.get(name, FEATURE) in FEATURES]
        if said.features is not None:
            kept = list(said.features)
        if not kept:
            raise OptionError(f"{where}: expected at least one column that is a feature, got none")
        check_columns([*meant, *names], Reading(columns, (), kept), where, None)
        for name in kept:
            self._check_kind(name, columns.get(name), where)
        roles = meanings_of(meant, columns, (), names).roles
        self._roles = {meaning: name for name, meaning in roles.items() if meaning is not None}
        self._keeps_gains = columns.get("label", "label") == "label" and self._roles.get("label", "label") == "label"
        if data.normalised is not None and self._roles["qid"] != "qid":
            raise OptionError(
                f"{where}: expected the queries within which it was normalised, got others ({self._roles['qid']})"
            )
        all_of_them = tuple(kept) == tuple(names)
        self._taken = None if all_of_them else np.array([self._place[name] for name in kept])
        self.feature_names = data.feature_names if all_of_them else tuple(kept)
        left = {name: texts for name, texts in self._categories.items() if name in kept}
        self.categories: Categories = left or None

    def of(self, chunk: Chunk) -> Chunk:
        """Return rows with the chosen columns."""
        y = self._numbers("label", chunk) if "label" in self._roles else None
        qid = self._ids("qid", chunk)
        nameless = [name for name in chunk.extras if name not in COLUMNS.values()]  # gains and their examinations
        extras = {name: chunk.extras[name] for name in nameless} if self._keeps_gains else {}
        for meaning in self._roles:
            if COLUMNS[meaning] in BY_ROW:
                take = self._numbers if meaning.endswith("weight") else self._ids
                extras[COLUMNS[meaning]] = take(meaning, chunk)
        X = chunk.X if self._taken is None else chunk.X[:, self._taken]
        return Chunk(X, y, qid, extras, chunk.rows)

    def _check_kind(self, name: str, kind: str | None, where: str) -> None:
        if name not in self._place:
            raise InputError(f"{where}: expected a feature, got {name!r}, which has a meaning")
        is_now = "category" if name in self._categories else "number"
        if kind not in (None, FEATURE, is_now):
            raise InputError(
                f"{where}: column {name!r}: expected a {kind}, got a {is_now}; declare it when reading "
                f"the original table"
            )

    def _values(self, meaning: str, chunk: Chunk) -> NDArray[Any]:
        name = self._roles[meaning]
        if name == "qid":
            return chunk.qid
        if name == "label":
            assert chunk.y is not None
            return chunk.y
        if name in COLUMNS and name not in self._place:
            return chunk.extras[COLUMNS[name]]
        column = chunk.X[:, [self._place[name]]]
        values: NDArray[Any] = (column.toarray() if sparse.issparse(column) else column)[:, 0]
        if name not in self._categories:
            return values
        return np.array(decode(values, self._categories[name]), object)

    def _numbers(self, meaning: str, chunk: Chunk) -> NDArray[Any]:
        values = self._values(meaning, chunk)
        if values.dtype.kind not in "fiu":
            raise InputError(f"column {self._roles[meaning]!r}: expected numbers for {meaning}, got texts")
        return values.astype(np.float64, copy=False)

    def _ids(self, meaning: str, chunk: Chunk) -> NDArray[Any]:
        values = self._values(meaning, chunk)
        if values.dtype.kind == "f" and self._roles[meaning] in self._place:
            if not (np.abs(values) <= WHOLE).all() or (values != np.rint(values)).any():
                raise InputError(f"column {self._roles[meaning]!r}: expected whole numbers for {meaning}, got others")
            return values.astype(np.int64)
        if values.dtype == object and any(one is None for one in values.tolist()):
            raise InputError(f"column {self._roles[meaning]!r}: expected a {meaning} in every row, got missing ones")
        return values
