"""Where rows come from, one chunk at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from argrank.data.dataset import Dataset
from argrank.data.io.pack.chunks import Chunk
from argrank.errors import InputError

CHUNK_BYTES = 1 << 24


def dataset_chunks(data: Dataset, chunk_bytes: int = CHUNK_BYTES) -> Iterator[Chunk]:
    """Yield the stored rows of a Dataset, whose queries are whole and adjacent."""
    if data.preferences is not None:
        raise InputError("preferences: a pack has no place for them; give labels instead")
    n_bytes = data.X.data.nbytes + data.X.indices.nbytes if data.is_sparse else data.X.nbytes
    step = max(1, int(chunk_bytes / max(1, n_bytes / data.n_documents)))
    by_row: dict[str, Any] = {name: getattr(data, name) for name in ("document_ids", "sources", "sample_weight")}
    for start in range(0, data.n_documents, step):
        rows = slice(start, min(start + step, data.n_documents))
        query = np.searchsorted(data.indptr, np.arange(rows.start, rows.stop), side="right") - 1
        extras = {name: values[rows] for name, values in by_row.items() if values is not None}
        if data.query_weight is not None:
            extras["query_weight"] = data.query_weight[query]
        y = data.y[rows] if data.is_judged else None
        yield Chunk(data.X[rows], y, data.query_ids[query], extras, None if data.rows is None else data.rows[rows])
