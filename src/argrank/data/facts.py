"""The description of a Dataset, as text and in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from argrank._tables import counted
from argrank.data.subsets import BY_ROW

if TYPE_CHECKING:
    from argrank.data.dataset import Dataset

EXTRAS = ("feature_names", *BY_ROW, "query_weight", "query_texts", "preferences")


def facts_of(data: Dataset) -> list[tuple[str, str]]:
    """Return its size, its labels, and which of the extras it has."""
    sizes, X = data.sizes, data._any_features
    kind = f"CSR with {X.nnz / max(1, np.prod(X.shape)):.1%} filled, " if data.is_sparse else ""
    facts = [
        (
            "size",
            f"{counted(data.n_queries, 'query', 'queries')}, {counted(data.n_documents, 'document', 'documents')} "
            f"({sizes.min()} to {sizes.max()} a query), {counted(data.n_features, 'feature', 'features')}, "
            f"{kind}{X.dtype}",
        )
    ]
    if data.gains is not None:
        facts.append(("gains", f"row gains {data.gains.min():.4g} to {data.gains.max():.4g}"))
    elif not data.is_judged:
        facts.append(("labels", "no labels"))
    else:
        values, counts = np.unique(data.y, return_counts=True)
        if len(values) <= 10:
            listing = ", ".join(f"{value:g}: {count:,}" for value, count in zip(values, counts, strict=True))
        else:
            listing = f"{values[0]:g} to {values[-1]:g}, {len(values):,} different"
        facts.append(("labels", f"labels {listing}"))
    present = [name.replace("_", " ") for name in EXTRAS if name in data.not_touched or getattr(data, name) is not None]
    if present:
        facts.append(("also", "with " + ", ".join(present)))
    return facts
