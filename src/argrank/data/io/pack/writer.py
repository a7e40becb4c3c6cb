"""Write chunks of whole, adjacent queries to the arrays of a pack."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank.data import checks
from argrank.data.grouping import block_borders
from argrank.data.io.pack.array_file import GrowingArray, GrowingIds, write_array
from argrank.data.io.pack.chunks import NUMBERS, Chunk, as_texts, plain_ids
from argrank.data.io.pack.contents import Contents, Stored
from argrank.errors import InputError, OptionError

IDS = {"document_ids": "docids", "sources": "sources"}
LARGE = 1 << 31  # from this many stored values on, SciPy needs 64-bit columns


class ScatteredQueriesError(Exception):
    """A query whose rows are not adjacent: the source has to be sorted first."""


class Writer:
    """Appends chunks to the arrays of a pack in a folder."""

    def __init__(self, folder: Path, dtype: Any = None) -> None:
        self._folder = folder
        self._dtype = None if dtype is None else np.dtype(dtype)
        self._arrays: dict[str, GrowingArray | GrowingIds] = {}
        self._seen: set[Any] = set()
        self._ids: list[Any] = []
        self._starts: list[int] = []
        self._weights: list[float] = []
        self._n_rows, self._n_features, self._n_stored = 0, 0, 0
        self._sparse = self._judged = self._text_ids = False
        self._names: tuple[str, ...] = ()  # further fields of rows

    def append(self, chunk: Chunk) -> None:
        """Write rows; raise ScatteredQueriesError if a query appears again after another one."""
        try:
            X, y = self._checked(chunk)
        except InputError as error:
            raise InputError(f"in the {len(chunk.qid):,} rows after the first {self._n_rows:,}: {error}") from error
        if not self._n_rows:
            self._begin(X, chunk)
        self._check_like_before(X, chunk)
        self._add_queries(chunk)
        if self._sparse:
            self._arrays["X.indptr"].append(X.indptr[1:].astype(np.int64) + self._n_stored)
            self._n_stored += len(X.data)
            self._arrays["X.data"].append(X.data)
            self._arrays["X.indices"].append(X.indices)
        else:
            self._arrays["X"].append(X)
        self._arrays["y"].append(np.full(len(chunk.qid), np.nan) if y is None else y)
        for name in self._names:
            if name != "query_weight":
                self._arrays[name].append(chunk.extras[name])
        if chunk.rows is not None:
            self._arrays["rows"].append(chunk.rows)
        self._n_rows += len(chunk.qid)

    def finish(
        self,
        feature_names: tuple[str, ...] | None,
        feature_base: int,
        categories: Mapping[str, tuple[str, ...]] | None = None,
        normalise: str | None = None,
    ) -> Contents:
        """Write what is known only at the end; return the description."""
        if not self._n_rows:
            raise InputError("expected at least one row, got none")
        stored: dict[str, Stored] = {IDS.get(name, name): array.finish() for name, array in self._arrays.items()}
        if self._n_stored >= LARGE:
            stored["X.indices"] = self._widen("X.indices", stored["X.indices"])
        indptr = np.array([*self._starts, self._n_rows], np.int64)
        stored["indptr"] = write_array(self._folder, "indptr", indptr)
        stored["query_ids"] = write_array(self._folder, "query_ids", self._query_ids())
        if self._weights:
            weight = checks.weights(self._weights, len(self._ids), "query_weight", "query")
            stored["query_weight"] = write_array(self._folder, "query_weight", weight)
        return Contents(
            shape=(self._n_rows, self._n_features),
            queries=len(self._ids),
            dtype=str(np.dtype(self._dtype)),
            sparse=self._sparse,
            label="number" if self._judged else None,
            qid="text" if self._text_ids else "integer",
            blocks=tuple(block_borders(indptr).tolist()),
            arrays=stored,
            feature_names=feature_names,
            feature_base=feature_base,
            categories=categories,
            normalise=normalise,
        )

    def close(self) -> None:
        """Close all files, finished or not."""
        for array in self._arrays.values():
            array.close()

    # ---- one chunk --------------------------------------------------------------------------------------------

    def _checked(self, chunk: Chunk) -> tuple[Any, Any]:
        X = chunk.X
        if self._dtype is not None and X.dtype != self._dtype:
            with np.errstate(over="ignore"):  # values too large for float32 become infinite, which is an error
                X = X.astype(self._dtype)
        X = checks.features(X)
        for name in (*NUMBERS, "query_weight"):
            if name in chunk.extras:
                values = checks.numbers(chunk.extras[name], len(chunk.qid), name, "weight")
                if name != "gains" and (values < 0).any():
                    raise InputError(f"{name}: expected weights >= 0, got {values.min():g}")
        return X, None if chunk.y is None else checks.labels(chunk.y, X.shape[0])

    def _begin(self, X: Any, chunk: Chunk) -> None:
        self._dtype, self._n_features, self._sparse = X.dtype, X.shape[1], sparse.issparse(X)
        self._judged, self._names = chunk.y is not None, tuple(chunk.extras)
        if not self._n_features:
            raise InputError("expected at least one feature, got none")
        kinds: dict[str, Any] = {"X": X.dtype}
        if self._sparse:
            kinds = {"X.data": X.dtype, "X.indices": np.int32, "X.indptr": np.int64}
        kinds |= dict.fromkeys(("y", *(name for name in self._names if name != "query_weight")), np.float64)
        if chunk.rows is not None:
            kinds["rows"] = np.int64
        for name, kind in kinds.items():
            row = (self._n_features,) if name == "X" else ()
            is_id = name in IDS
            array = GrowingIds(self._folder, IDS[name]) if is_id else GrowingArray(self._folder, name, kind, row)
            self._arrays[name] = array
        if self._sparse:
            self._arrays["X.indptr"].append(np.zeros(1, np.int64))

    def _check_like_before(self, X: Any, chunk: Chunk) -> None:
        if sparse.issparse(X) != self._sparse or (X.shape[1] != self._n_features and not self._sparse):
            raise InputError(f"expected {self._n_features} features in every part, got {X.shape[1]}")
        self._n_features = max(self._n_features, X.shape[1])  # parts of sparse text are as wide as their last feature
        if (chunk.y is not None) != self._judged or set(chunk.extras) != set(self._names):
            raise InputError("expected labels, document ids and weights in every part or in none")
        if X.dtype != self._dtype:
            raise OptionError(f"expected {self._dtype} in every part, got {X.dtype}; choose one: --float32, dtype=…")

    def _add_queries(self, chunk: Chunk) -> None:
        ids = plain_ids(chunk.qid, len(chunk.qid), "qid")
        if ids.dtype == object and not self._text_ids:
            self._ids = list(map(str, self._ids))
            self._seen, self._text_ids = set(self._ids), True
        if self._text_ids:
            ids = as_texts(ids)
        starts = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
        heads = ids[starts].tolist()
        again = bool(self._ids) and heads[0] == self._ids[-1]  # the last query continues
        fresh = heads[again:]
        if len(set(fresh)) != len(fresh) or not self._seen.isdisjoint(fresh):
            raise ScatteredQueriesError
        if "query_weight" in self._names:
            self._add_weights(chunk.extras["query_weight"], starts, again, heads)
        self._seen.update(fresh)
        self._ids += fresh
        self._starts += (starts[again:] + self._n_rows).tolist()

    def _add_weights(self, by_row: NDArray[Any], starts: NDArray[Any], again: bool, heads: list[Any]) -> None:
        weights = by_row[starts]
        differs = by_row != np.repeat(weights, np.diff(np.append(starts, len(by_row))))
        if differs.any() or (again and weights[0] != self._weights[-1]):
            query = int(np.searchsorted(starts, np.argmax(differs), side="right")) - 1  # the first, if none differs
            raise InputError(f"query_weight: expected one value in a query, got several in query {heads[query]!r}")
        self._weights += weights[again:].tolist()

    # ---- the end ----------------------------------------------------------------------------------------------

    def _query_ids(self) -> NDArray[Any]:
        if not self._text_ids:
            return np.array(self._ids, np.int64)
        texts = [text.encode() for text in self._ids]
        return np.array(texts, f"S{max(1, max(map(len, texts)))}")

    def _widen(self, name: str, stored: Stored) -> Stored:
        """Write an array of 32-bit integers again with 64 bits."""
        path = self._folder / f"{name}.npy"
        narrow = np.load(path, mmap_mode="r")
        path.unlink()
        wide = GrowingArray(self._folder, name, np.int64)
        for start in range(0, stored.shape[0], 1 << 24):
            wide.append(narrow[start : start + (1 << 24)])
        return wide.finish()
