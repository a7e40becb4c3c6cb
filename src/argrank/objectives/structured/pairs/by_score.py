"""The greatest w · phi on the pairs map is that of the ranking by score: what the tight bound subtracts."""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._jit import query_kernel
from argrank.data.dataset import Dataset
from argrank.objectives.objective import Kernels, Prepared
from argrank.objectives.structured.hinge import StructuredHinge


@query_kernel
def sorted_pairs(scores: Any, order: Any, gains: Any, constants: Any, gradient: Any) -> float:
    """Add up weight (s_worse - s_better) over the pairs that the scores invert, O(n log L)."""
    n = len(scores)
    n_levels, mean = 0, 0.0
    for row in range(n):
        gradient[row] = 0.0
        mean += scores[row] / n
        n_levels = max(n_levels, int(gains[row]) + 1)
    if n_levels < 2:
        return 0.0
    size, below = np.zeros(n_levels, np.int64), np.zeros(n_levels + 1, np.int64)
    for row in range(n):
        size[int(gains[row])] += 1
    n_pairs = 0
    for level in range(n_levels):
        n_pairs += size[level] * below[level]
        below[level + 1] = below[level] + size[level]
    weight = 2.0 / n_pairs if constants[0] == 1.0 else 2.0
    count = np.zeros(
        n_levels + 1, np.int64
    )  # a tree of partial sums over levels (Fenwick 1994) of the passed documents
    value = 0.0
    for place in range(n):
        row = order[place]
        level = int(gains[row])
        lower, node = 0, level
        while node > 0:
            lower += count[node]
            node -= node & -node
        same_or_lower, node = 0, level + 1
        while node > 0:
            same_or_lower += count[node]
            node -= node & -node
        upper_left = n - below[level + 1] - (place - same_or_lower)
        gradient[row] = weight * (upper_left - lower)
        node = level + 1
        while node <= n_levels:
            count[node] += 1
            node += node & -node
        value += gradient[row] * (scores[row] - mean)
    return max(value, 0.0)


def prepare(hinge: StructuredHinge, data: Dataset) -> Prepared:
    """Prepare level numbers."""
    return Kernels(data.indptr, hinge.levels(data), np.array([hinge.mean_of_pairs]), sorted_pairs)
