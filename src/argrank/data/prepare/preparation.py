"""Preparation: convert raw columns to numbers for a linear ranker. Fitted on training rows, stored with the model.

Raw columns keep their positions; derived columns come after them. A missing value becomes the column's median (or 0),
with a derived column that marks missing values; a text column becomes 0, with a derived 0/1 column for each of its most
frequent texts. Rare, unseen and missing texts are 0 in all of these, so they are treated alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from argrank._types import Floats, Integers
from argrank.data.categories import Categories, places
from argrank.data.checks import has_missing
from argrank.data.dataset import Dataset
from argrank.data.mapped import refuse_copy
from argrank.errors import ModelError, shown

MOST_TEXTS = 100  # most derived columns of one text column
LEAST_ROWS = 5  # fewest rows of a text that gets a column, unless it is the most frequent
MISSING = -1  # the code of a column that marks missing values

#: Values of the parameter ``prepare`` of rankers.
Prepare = Literal["auto", "always", "one-hot", "zero"] | None
PREPARATIONS = ("auto", "always", "one-hot", "zero")


@dataclass(frozen=True, eq=False)
class Preparation:
    """The conversion of raw columns, as arrays.

    Attributes
    ----------
    fill : array, one for each raw column
        The replacement of a missing value; NaN if it stays missing. 0 for text columns that get derived columns.
    texts : array of numbers of raw columns
        The text columns that get derived columns; they become 0 themselves.
    source : array, one for each derived column
        The raw column it is derived from.
    code : array, one for each derived column
        The code of the text that it marks (its index in the model's ``categories``), or -1 if it marks missing values.
        Its values are 0 and 1.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.Dataset([[1.0], [float("nan")], [5.0]], [0, 1, 0], qid="single", feature_names=["price"])
    >>> preparation = Preparation.fit(data)
    >>> preparation.transform(data).feature_names, preparation.apply(data.X).tolist()
    (('price', 'price is missing'), [[1.0, 0.0], [3.0, 1.0], [5.0, 0.0]])
    """

    fill: Floats
    texts: Integers
    source: Integers
    code: Integers

    @classmethod
    def fit(cls, data: Dataset, *, missing: str = "flag", texts: bool = True) -> Preparation:
        """Fit to training rows.

        Parameters
        ----------
        missing : "flag", "zero" or "keep"
            Replace missing values by the median and add a column that marks them, replace them by 0, or keep them.
        texts : bool
            Whether text columns get derived columns.
        """
        coded = np.array(places(data.categories, data.feature_names) if texts else [], np.int64)
        known = np.array(places(data.categories, data.feature_names), np.int64)
        fill = np.full(data.n_features, np.nan if missing == "keep" else 0.0)
        source, code = np.empty(0, np.int64), np.empty(0, np.int64)
        if missing == "flag":
            fill, lacking = _medians(data)
            source, code = lacking, np.full(len(lacking), MISSING)
        fill[np.setdiff1d(known, coded)] = np.nan  # texts that stay texts: missing is one of the values
        fill[coded] = 0.0
        found = [_frequent(data.X[:, column]) for column in coded.tolist()]
        source = np.concatenate((source, np.repeat(coded, [len(one) for one in found])))
        code = np.concatenate((code, *found))
        return cls(fill, coded, source.astype(np.int64), code.astype(np.int64))

    @property
    def n_raw(self) -> int:
        """Number of raw columns."""
        return len(self.fill)

    @property
    def width(self) -> int:
        """Number of columns after preparation."""
        return len(self.fill) + len(self.source)

    def apply(self, X: Any) -> Any:
        """Return the prepared columns of raw rows, with their dtype; a sparse matrix stays sparse."""
        if sparse.issparse(X):
            return self._apply_sparse(X)
        out = np.empty((X.shape[0], self.width), X.dtype)
        out[:, : self.n_raw] = X
        rows, columns = np.nonzero(np.isnan(X))
        out[rows, columns] = self.fill[columns]
        out[:, self.texts] = 0.0
        for place, (source, code) in enumerate(zip(self.source.tolist(), self.code.tolist(), strict=True), self.n_raw):
            column = X[:, source]
            out[:, place] = np.isnan(column) if code == MISSING else column == code
        return out

    def _apply_sparse(self, X: Any) -> Any:
        holes = np.isnan(X.data)
        filled = X.copy()
        filled.data[holes] = self.fill[X.indices[holes]]
        where = sparse.csr_matrix((holes.astype(X.dtype), X.indices, X.indptr), X.shape)
        where.eliminate_zeros()
        return sparse.hstack((filled, where[:, self.source]), format="csr", dtype=X.dtype)

    def transform(self, data: Dataset) -> Dataset:
        """Return prepared data, with the names of all columns."""
        refuse_copy(data.X, "X: missing values or texts", "fill them in before packing, or train trees")
        raw = data.feature_names or ()
        kept = {name: texts for name, texts in (data.categories or {}).items() if raw.index(name) not in self.texts}
        names = self.names(data.feature_names, data.categories)
        return data._but(X=self.apply(data.X), feature_names=names, categories=kept or None)

    def names(self, raw: tuple[str, ...] | None, categories: Categories) -> tuple[str, ...] | None:
        """Return the names of all columns: the raw ones, then "price is missing" and "brand=acme"; None without any."""
        if raw is None:
            return None
        names = list(raw)
        taken = set(names)
        for source, code in zip(self.source.tolist(), self.code.tolist(), strict=True):
            of = raw[source]
            name = f"{of} is missing" if code == MISSING else f"{of}={(categories or {})[of][code]}"
            while name in taken:
                name += "'"
            taken.add(name)
            names.append(name)
        return tuple(names)

    def to_raw(self, parts: Any) -> Any:
        """Sum values of prepared columns by the raw columns they are derived from."""
        if sparse.issparse(parts):
            owner = np.concatenate((np.arange(self.n_raw), self.source))
            adding = sparse.csr_matrix((np.ones(self.width), (np.arange(self.width), owner)))
            return sparse.csr_matrix(parts @ adding)
        total = np.array(parts[..., : self.n_raw])
        for place, source in enumerate(self.source.tolist(), self.n_raw):
            total[..., source] += parts[..., place]
        return total

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a model file; null where a value stays missing."""
        fill = [None if value != value else value for value in self.fill.tolist()]
        return {"fill": fill, **{name: getattr(self, name).tolist() for name in ("texts", "source", "code")}}

    @staticmethod
    def from_dict(values: Any, categories: Categories, names: tuple[str, ...] | None) -> Preparation:
        """Return what `to_dict` described; a ModelError says what is wrong with the values."""
        if not isinstance(values, Mapping) or not isinstance(values.get("fill"), list):
            raise ModelError(f"preparation: expected the replacements of missing values, got {shown(values)}")
        fill, n = values["fill"], len(values["fill"])
        if not n or not all(one is None or type(one) in (int, float) for one in fill):
            raise ModelError("preparation: expected a number or null for each column")
        sizes = [0] * n
        for name, place in zip(categories or (), places(categories, names), strict=True):
            sizes[place] = len((categories or {})[name])
        whole: dict[str, Integers] = {}
        for name in ("texts", "source", "code"):
            given = values.get(name)
            if not isinstance(given, list) or not all(type(one) is int and -1 <= one < 2**31 for one in given):
                raise ModelError(f"preparation: expected a list of whole numbers as {name}")
            whole[name] = np.array(given, np.int64)
        texts, source, code = whole["texts"], whole["source"], whole["code"]
        wide = ((texts >= 0) & (texts < n)).all() and ((source >= 0) & (source < n)).all()
        if not wide or len(source) != len(code) or (code >= np.array(sizes)[source]).any():
            raise ModelError("preparation: expected numbers of columns and of their texts")
        return Preparation(np.array([np.nan if one is None else one for one in fill], float), texts, source, code)


def preparation_for(data: Dataset, how: str, native: bool) -> Preparation | None:
    """Return the preparation that a ranker needs, None if it can use the columns as they are.

    ``native`` rankers handle missing values and texts themselves, and need a preparation only if the target engine does
    not: "one-hot" for engines without texts, "zero" for those that also treat missing values as 0.
    """
    engine = how in ("one-hot", "zero")
    if native and not engine:
        return None
    lacks = has_missing(data.X)
    if not (lacks or data.categories or how == "always"):
        return None
    return Preparation.fit(data, missing="zero" if how == "zero" else "keep" if native else "flag")


def _medians(data: Dataset) -> tuple[Floats, Integers]:
    """Return the median of every column's known values, and the columns of which some, not all, are missing."""
    if data.is_sparse:
        return _sparse_medians(data.X)
    median, lacking = np.zeros(data.n_features), []
    for column in range(data.n_features):
        values = data.X[:, column]
        known = values[~np.isnan(values)]
        if 0 < len(known) < len(values):
            lacking.append(column)
        median[column] = np.median(known) if len(known) else 0.0
    return median, np.array(lacking, np.int64)


def _sparse_medians(X: Any) -> tuple[Floats, Integers]:
    """The same of a sparse matrix, whose zeros that are not stored are values; 0 for complete columns."""
    lacking = np.unique(X.indices[np.isnan(X.data)]).astype(np.int64)
    median, columns, kept = np.zeros(X.shape[1]), X[:, lacking].tocsc(), np.zeros(len(lacking), bool)
    for place, column in enumerate(lacking.tolist()):
        stored = columns.data[columns.indptr[place] : columns.indptr[place + 1]]
        known = np.concatenate((stored[~np.isnan(stored)], np.zeros(X.shape[0] - len(stored))))
        kept[place] = len(known) > 0
        median[column] = np.median(known) if len(known) else 0.0
    return median, lacking[kept]


def _frequent(column: Floats) -> Integers:
    """Return the numbers of a column's most frequent texts, in their order."""
    codes, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST_TEXTS]
    kept = order[(counts[order] >= LEAST_ROWS) | (np.arange(len(order)) == 0)]
    return np.sort(codes[kept]).astype(np.int64)
