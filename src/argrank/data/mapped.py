"""Memory-mapped features: recognise them, and avoid copies of them."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._memory import check_memory


class LazyRows:
    """Rows of features that are transformed on access: scaled, or in another order."""

    ndim = 2

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        n_rows, n_features = self.rows.shape
        return n_rows, n_features

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the features."""
        dtype: np.dtype[Any] = self.rows.dtype
        return dtype

    def __len__(self) -> int:
        return self.shape[0]


def is_mapped(X: Any) -> bool:
    """Tell whether features, or the array they are a view of, are memory-mapped."""
    X = X.rows if isinstance(X, LazyRows) else X
    return _map_of(X.data if sparse.issparse(X) else X) is not None


def _map_of(array: Any) -> mmap.mmap | None:
    while isinstance(array, np.ndarray):
        array = array.base
    return array if isinstance(array, mmap.mmap) else None


def give_back(X: Any) -> None:
    """Release the memory of mapped features; the system reads them again when they are used.

    They stay in the system's page cache as long as there is room, but no longer count as memory of this process.
    """
    X = X.rows if isinstance(X, LazyRows) else X
    for array in (X.data, X.indices) if sparse.issparse(X) else (X,):
        mapped = _map_of(array)
        if mapped is None or not array.nbytes or not hasattr(mmap, "MADV_DONTNEED"):
            continue
        start = array.ctypes.data - np.frombuffer(mapped, np.uint8).ctypes.data
        first = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE
        last = (start + array.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
        if last > first:
            mapped.madvise(mmap.MADV_DONTNEED, first, last - first)


def size_of(X: Any) -> int:
    """Return the bytes of features."""
    return int(X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes)


def refuse_copy(X: Any, what: str, advice: str, share: float = 1.0) -> None:
    """Raise if a copy of features, or of a share of them, does not fit into memory."""
    check_memory(what, share * size_of(X), advice)


def row_view(X: Any, rows: slice) -> Any:
    """Return adjacent rows without a copy, also for CSR, whose slices SciPy copies."""
    if not sparse.issparse(X):
        return X[rows]
    return csr_view(X.data, X.indices, X.indptr[rows.start : rows.stop + 1], X.shape[1])


def csr_view(data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], n_features: int) -> Any:
    """Return the rows of an indptr as a canonical CSR matrix that shares memory; SciPy would copy views."""
    stored = slice(int(indptr[0]), int(indptr[-1]))
    view = sparse.csr_matrix((len(indptr) - 1, n_features), dtype=data.dtype)
    view.data, view.indices = data[stored], indices[stored]
    view.indptr = (indptr - indptr[0]).astype(indices.dtype)
    view.has_sorted_indices = view.has_canonical_format = True
    return view


def by_column(data: Any, who: str) -> Any:
    """Return the features of a Dataset for reading columns: the pack's copy by column if it has one, else X.

    Reading one column of a file stored by row is a pass over the whole file, so the file has to fit into memory.
    """
    if data.XT is not None:
        return data.XT.T
    if is_mapped(data.X) or sparse.issparse(data.X):
        refuse_copy(data.X, f"X: {who} reads columns", "also pack the data by column (argrank pack --columns)")
    return data.X.tocsc() if sparse.issparse(data.X) else data.X


class Untouched(NamedTuple):
    """Rows of an array on disk, and a check that raises if their bytes are damaged."""

    values: Any
    check: Callable[[int, int], None]
    start: int
    end: int
    by_column: bool = False

    def touched(self) -> Any:
        """Check the bytes and return the values."""
        self.check(self.start, self.end)
        return self.values

    def part(self, rows: slice) -> Untouched:
        """Return some adjacent rows, still unchecked."""
        if self.by_column:  # stored by column: a row of the data spans all rows of the file
            return self._replace(values=self.values[:, rows])
        view = row_view(self.values, rows)
        return self._replace(values=view, start=self.start + rows.start, end=self.start + rows.stop)


class Later(NamedTuple):
    """Values of rows that are computed on first use, such as the texts of a file's ids."""

    make: Callable[[], Any]

    def touched(self) -> Any:
        """Return the values."""
        return self.make()

    def part(self, rows: slice) -> Later:
        """Return some adjacent rows, still not computed."""
        return Later(lambda: self.make()[rows])


class OnTouch:
    """A field of a Dataset that may be Untouched; after the first access it is an ordinary attribute."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, data: Any, owner: type) -> Any:
        found = None if data is None else data.__dict__.get("untouched", {}).get(self._name)
        if found is None:
            return None
        values = data.__dict__[self._name] = found.touched()
        return values
