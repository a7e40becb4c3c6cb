"""The data of the query explorer: the best documents of every query, their ranks, and contributions of features."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._tables import plain
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.evaluation.comparison import Comparison
from argrank.trials.system import System

DEPTH = 20  # ranks shown of every query
CHUNK = 256  # queries whose contributions are computed at a time
MOST_CONTRIBUTIONS = 2_000_000  # most numbers embedded to explain scores, for all systems together: about 20 MB


def explorer_data(data: Dataset, systems: Sequence[System], best: System, comparison: Comparison) -> dict[str, Any]:
    """Return the plain data of the explorer, for ``embedded_json``; ``best`` and the strongest other come first."""
    ranks = [ranks_of(system.scores, data) for system in systems]
    kept = np.flatnonzero(np.min(ranks, axis=0) < DEPTH)
    sizes = np.bincount(data.query_of_row[kept], minlength=data.n_queries)
    indptr = np.concatenate(([0], np.cumsum(sizes)))
    n_explained = _n_explained(data, systems, sizes)
    caller = kept if data.rows is None else data.rows[kept]
    ids = None if data.document_ids is None else [_text(one) for one in data.document_ids[kept].tolist()]
    first = comparison.measures[0]
    by_value = sorted(
        range(len(systems)), key=lambda i: (systems[i] is not best, -comparison.means[systems[i].name][first])
    )
    return {
        "depth": DEPTH,
        "pair": [by_value[0], by_value[min(1, len(systems) - 1)]],
        "measures": list(comparison.measures),
        "features": list(data.feature_names or map(str, np.arange(data.n_features) + data.feature_base)),
        "queries": {
            "ids": [_text(qid) for qid in data.query_ids.tolist()],
            "texts": None if data.query_texts is None else [_text(one) for one in data.query_texts.tolist()],
            "sizes": packed(data.sizes, "uint32"),
            "indptr": packed(indptr, "uint32"),
            "explained": n_explained,
            "segments": None if comparison.segment_of is None else [_text(one) for one in comparison.segment_of],
        },
        "documents": {
            "rows": packed(caller, "uint32"),
            "ids": ids,
            "titles": None if data.titles is None else [_text(one) for one in data.titles[kept].tolist()],
            "labels": packed(data.y[kept], "float32"),
            "max_label": float(data.y.max()),
        },
        "systems": [
            {
                "name": plain(system.name),
                "ranks": packed(own[kept], "uint32"),
                "scores": packed(system.scores[kept], "float64"),
                "values": [packed(comparison.values[system.name][name], "float32") for name in comparison.measures],
                "contributions": _contributions(data, system, kept, indptr, n_explained),
                "silence": "" if system.models else "Only its scores are known, not the model behind them.",
            }
            for system, own in zip(systems, ranks, strict=True)
        ],
    }


def ranks_of(scores: Floats, data: Dataset) -> Integers:
    """Return every stored row's rank in its query, from 0; equal scores keep the order of the rows."""
    query = data.query_of_row
    order = np.lexsort((-scores, query))  # stable
    ranks = np.empty(data.n_documents, np.int64)
    ranks[order] = np.arange(data.n_documents) - data.indptr[query]
    return ranks


def _n_explained(data: Dataset, systems: Sequence[System], sizes: NDArray[Any]) -> int:
    """Return how many queries, from the first, can be explained before the page becomes too heavy."""
    width = data.X.nnz / data.n_documents if data.is_sparse else data.n_features
    n_models = sum(bool(system.models) for system in systems)
    return int(np.searchsorted(np.cumsum(sizes) * width * n_models, MOST_CONTRIBUTIONS, side="right"))


def _contributions(
    data: Dataset, system: System, kept: NDArray[Any], indptr: NDArray[Any], n_explained: int
) -> dict[str, Any] | None:
    """Return CSR rows of the documents kept in the first queries: zeros are left out."""
    rows: list[Any] = [None] * n_explained
    for model, queries in system.models:
        wanted = queries[queries < n_explained]
        for start in range(0, len(wanted), CHUNK):
            some = wanted[start : start + CHUNK]
            part = data.select(some)
            found = model.explain(part)
            if found is None:
                return None
            for place, query in enumerate(some.tolist()):
                own = kept[indptr[query] : indptr[query + 1]] - data.indptr[query] + part.indptr[place]
                rows[query] = sparse.csr_matrix(found[own])
    if not n_explained or any(one is None for one in rows):
        return None
    matrix = sparse.vstack(rows, format="csr")
    matrix.eliminate_zeros()
    return {
        "indptr": packed(matrix.indptr, "uint32"),
        "indices": packed(matrix.indices, "uint16" if data.n_features <= 1 << 16 else "uint32"),
        "values": packed(matrix.data, "float32"),
    }


def _text(value: Any) -> str:
    return "" if value is None else plain(str(value))


def packed(values: Any, dtype: str) -> dict[str, str]:
    """Return numbers in the form that the page's script unpacks: the bytes of a little-endian array as base64."""
    array = np.ascontiguousarray(values, dtype=np.dtype(dtype).newbyteorder("<"))
    return {"type": dtype, "base64": base64.b64encode(array.tobytes()).decode("ascii")}
