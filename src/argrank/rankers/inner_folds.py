"""Cross-validation over queries inside a fit: what climbs or grows is tried on queries left out first."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from argrank.data.dataset import Dataset
from argrank.data.mapped import refuse_copy

FEWEST = 5  # queries of a fold; with fewer a gain would be chance


def has_enough(data: Dataset, folds: int) -> bool:
    """Tell whether there are enough queries for this number of folds."""
    return data.n_queries >= FEWEST * folds


def left_out(
    data: Dataset, folds: int, rng: np.random.Generator
) -> Iterator[tuple[Dataset, Dataset, NDArray[np.bool_]]]:
    """Yield for every fold the data to fit, the data left out, and which queries the latter are."""
    refuse_copy(data.X, "folds: cross-validation", "folds=0 or an eval_set", 1 - 1 / folds)
    fold_of = rng.permutation(data.n_queries) % folds
    for fold in range(folds):
        yield data.select(fold_of != fold), data.select(fold_of == fold), fold_of == fold
