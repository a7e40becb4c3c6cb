"""What a Dataset shows of itself, as text and in notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from argrank._tables import counted

if TYPE_CHECKING:
    from argrank.data.dataset import Dataset


def facts_of(data: Dataset, extras: Iterable[str]) -> list[tuple[str, str]]:
    """Return what a Dataset shows of itself: size, labels, and which of the extras it has."""
    sizes = data.sizes
    kind = f"CSR with {data.X.nnz / max(1, np.prod(data.X.shape)):.1%} filled, " if data.is_sparse else ""
    facts = [
        (
            "size",
            f"{counted(data.n_queries, 'query', 'queries')}, {counted(data.n_documents, 'document', 'documents')} "
            f"({sizes.min()} to {sizes.max()} a query), {counted(data.n_features, 'feature', 'features')}, "
            f"{kind}{data.X.dtype}",
        )
    ]
    if not data.is_judged:
        facts.append(("labels", "no labels"))
    else:
        values, counts = np.unique(data.y, return_counts=True)
        if len(values) <= 10:
            listing = ", ".join(f"{value:g}: {count:,}" for value, count in zip(values, counts, strict=True))
        else:
            listing = f"{values[0]:g} to {values[-1]:g}, {len(values):,} different"
        facts.append(("labels", f"labels {listing}"))
    present = [name.replace("_", " ") for name in extras if getattr(data, name) is not None]
    if present:
        facts.append(("also", "with " + ", ".join(present)))
    return facts
