"""The greatest w · phi on the pairs map is that of the ranking by score: what the tight bound subtracts."""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._jit import query_kernel
from argrank.data.dataset import Dataset
from argrank.objectives._base import Kernels, Prepared
from argrank.objectives.structured.problem import Problem


@query_kernel
def sorted_pairs(scores: Any, order: Any, gains: Any, constants: Any, gradient: Any) -> float:
    """Add up weight (s_worse - s_better) over the pairs that the scores put in the wrong order; gains are levels."""
    n = len(scores)
    n_levels, mean = 0, 0.0
    for row in range(n):
        gradient[row] = 0.0
        mean += scores[row] / n
        n_levels = max(n_levels, int(gains[row]) + 1)
    if n_levels < 2:
        return 0.0
    size, count = np.zeros(n_levels, np.int64), np.zeros(n_levels, np.int64)
    for row in range(n):
        size[int(gains[row])] += 1
    n_pairs, lower_size = 0, 0
    for level in range(n_levels):
        n_pairs += size[level] * lower_size
        lower_size += size[level]
    weight = 2.0 / n_pairs if constants[0] == 1.0 else 2.0
    value = 0.0
    for place in range(n):
        row = order[place]
        level = int(gains[row])
        for lower in range(level):
            gradient[row] -= weight * count[lower]
        for upper in range(level + 1, n_levels):
            gradient[row] += weight * (size[upper] - count[upper])
        count[level] += 1
        value += gradient[row] * (scores[row] - mean)
    return max(value, 0.0)


def prepare(problem: Problem, data: Dataset) -> Prepared:
    """Prepare level numbers."""
    return Kernels(data.indptr, problem.levels(data), np.array([problem.scaled]), sorted_pairs)
