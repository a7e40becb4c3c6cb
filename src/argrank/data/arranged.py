"""Sort data by its content, so that random draws by row do not depend on the order of the input."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._memory import check_memory, max_memory
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.identical import Bits, fingerprints, mixed
from argrank.data.mapped import LazyRows, is_mapped, size_of
from argrank.data.subsets import fields_of_rows

LARGE = 1 << 28  # bytes of features above which rows are gathered when used, instead of copied once
BLOCK_VALUES = 1 << 19  # of features that are multiplied together


class ArrangedRows(LazyRows):
    """Rows of dense features in another order, gathered a few at a time."""

    def __init__(self, rows: Any, order: Integers) -> None:
        super().__init__(rows)
        self._order = order

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return len(self._order), int(self.rows.shape[1])

    @property
    def nbytes(self) -> int:
        """Bytes of the features."""
        return self.shape[0] * self.shape[1] * self.dtype.itemsize

    def __getitem__(self, chosen: Any) -> NDArray[Any]:
        """Return rows, or ``[:, columns]``, as an array."""
        if isinstance(chosen, tuple):
            return np.asarray(self.rows[:, chosen[1]][self._order[chosen[0]]])
        return np.asarray(self.rows[self._order[chosen]])

    def __matmul__(self, w: Floats) -> Floats:
        step = max(1, BLOCK_VALUES // self.shape[1])
        parts = [self[start : start + step].astype(np.float64) @ w for start in range(0, len(self), step)]
        return np.concatenate(parts)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        check_memory("X", self.nbytes, "take a part of the queries, or a ranker that reads rows in place")
        return np.asarray(self.rows[self._order], dtype).view(np.ndarray)


def arranged(data: Dataset, *, whole: bool = False) -> Dataset:
    """Return the data with its queries, and the rows within them, sorted by a hash of their contents.

    Features are compared first, as float32, so that the order is the same for float32 and float64, and for other labels
    or weights of the same documents. Large dense features are not copied but gathered by ``ArrangedRows``, unless
    ``whole`` asks for an array. Sparse features on disk that do not fit into memory keep their order.
    """
    if data.is_sparse and is_mapped(data.X) and size_of(data.X) > max_memory():
        return data
    keys = _keys(data)
    weight = np.zeros(data.n_queries) if data.query_weight is None else data.query_weight
    queries = np.lexsort([weight, *(np.add.reduceat(mixed(key), data.indptr[:-1]) for key in keys)])
    place = np.empty(data.n_queries, np.int64)
    place[queries] = np.arange(data.n_queries)
    rows = np.lexsort([*keys, place[data.query_of_row]])
    fields = fields_of_rows(data._but(X=np.empty((data.n_documents, 0))), rows, queries, data.sizes[queries])
    X: Any = ArrangedRows(data.X, rows)
    if data.is_sparse:
        X = data.X[rows]
    elif whole or X.nbytes <= LARGE:
        X = np.asarray(X)
    return Dataset._assemble(**fields | {"X": X, "normalised": data.normalised})


def _short_prints(X: Any) -> Bits:
    """Return the fingerprints of the rows in float32."""
    with np.errstate(over="ignore"):
        if sparse.issparse(X):
            return fingerprints(X.astype(np.float32))
        step = max(1, BLOCK_VALUES // max(1, X.shape[1]))
        parts = [fingerprints(X[start : start + step].astype(np.float32)) for start in range(0, len(X), step)]
    return np.concatenate(parts)


def _keys(data: Dataset) -> list[Bits]:
    """Return hashes of every row for a lexsort: the last one, of its features, decides first; the others break ties."""
    prints = _short_prints(data.X)
    labelled = mixed(prints ^ _bits(data.targets))
    whole = labelled if data.X.dtype == np.float32 else mixed(labelled ^ fingerprints(data.X))
    for weight in (data.sample_weight, data.examinations):
        if weight is not None:
            whole = mixed(whole ^ _bits(weight))
    return [whole, labelled, prints]


def _bits(values: Floats) -> Bits:
    """Return the mixed bits of numbers; 0.0 and -0.0 are equal."""
    return mixed((np.asarray(values, np.float64) + 0.0).view(np.uint64))
