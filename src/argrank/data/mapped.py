"""Features on disk, mapped into memory: how to recognise them, and what must not be done with them."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._memory import check_memory


def is_mapped(X: Any) -> bool:
    """Tell whether features, or a view of them, lie in a file that is mapped into memory."""
    X = getattr(X, "rows", X)  # of ScaledRows
    base = X.data if sparse.issparse(X) else X
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    return isinstance(base, np.memmap | mmap.mmap)


def size_of(X: Any) -> int:
    """Return the bytes of features."""
    return int(X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes)


def refuse_copy(X: Any, what: str, advice: str, share: float = 1.0) -> None:
    """Raise if a copy of features, or of a share of them, does not fit into memory."""
    check_memory(what, share * size_of(X), advice)


def row_view(X: Any, rows: slice) -> Any:
    """Return adjacent rows without a copy, also of CSR, of which SciPy's own slices are copies."""
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
    """Return the features of a Dataset for reading columns: those that a pack has by column, else as they are.

    Reading one column of a file stored by row is a pass over the whole file, so the file has to fit into memory.
    """
    if data.XT is not None:
        return data.XT.T
    if is_mapped(data.X) or sparse.issparse(data.X):
        refuse_copy(data.X, f"X: {who} reads columns", "pack the data by column, too (argrank pack --columns)")
    return data.X.tocsc() if sparse.issparse(data.X) else data.X
