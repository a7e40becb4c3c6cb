"""The numbers behind the figures, for both the page's SVG and matplotlib."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.evaluation.comparison import Comparison
from argrank.evaluation.evaluate import evaluate
from argrank.measures.conventions import Convention

MOST_BARS = 24


def measure_curves(
    scores: Mapping[str, Any],
    data: Any,
    measure: str,
    cutoffs: Sequence[int],
    convention: str | Convention,
) -> dict[str, Floats]:
    """Return for every system its mean of a measure at each cut-off; scores and data as in ``ar.evaluate``."""
    names = [f"{measure}@{k}" for k in cutoffs]
    return {
        system: np.array(list(evaluate(one, data, names, convention=convention).means.values()))
        for system, one in scores.items()
    }


def sorted_differences(comparison: Comparison, measure: str, a: str, b: str) -> tuple[NDArray[np.intp], Floats]:
    """Return the queries on which both are defined, by falling difference a - b, and those differences."""
    differences = comparison.differences(measure, a, b)
    order = np.argsort(-differences, kind="stable")
    order = order[~np.isnan(differences[order])]
    return order, differences[order]


def label_counts(data: Dataset) -> tuple[list[str], list[int]]:
    """Return labels and how many documents have each; ranges of labels where there are many."""
    values, counts = np.unique(data.y, return_counts=True)
    if len(values) <= MOST_BARS:
        return [f"{value:g}" for value in values], counts.tolist()
    return _ranges(data.y)


def length_counts(data: Dataset) -> tuple[list[str], list[int]]:
    """Return list lengths (or ranges of them) and how many queries have each."""
    sizes = data.sizes
    least, most = int(sizes.min()), int(sizes.max())
    if most - least < MOST_BARS:
        return [str(n) for n in range(least, most + 1)], np.bincount(sizes - least).tolist()
    return _ranges(sizes, whole=True)


def _ranges(values: NDArray[Any], whole: bool = False) -> tuple[list[str], list[int]]:
    if whole:
        width = -(-(int(values.max()) - int(values.min()) + 1) // MOST_BARS)
        edges = np.arange(int(values.min()), int(values.max()) + width + 1, width)
        names = [f"{low}-{low + width - 1}" if width > 1 else str(low) for low in edges[:-1]]
    else:
        edges = np.histogram_bin_edges(values, MOST_BARS)
        names = [f"{low:.3g}-{high:.3g}" for low, high in itertools.pairwise(edges)]
    return names, np.histogram(values, edges)[0].tolist()
