"""AUC on the pairs map: every pair of documents of different level decides for itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._jit import query_kernel
from argrank.data.dataset import Dataset
from argrank.errors import OptionError
from argrank.objectives._base import Kernels, Prepared, require_labels
from argrank.objectives.structured.problem import Problem

MARGINS = ("unit", "labels")


@query_kernel
def independent_pairs(scores: Any, order: Any, gains: Any, constants: Any, gradient: Any) -> float:
    """Count the violated pairs of every document, O(n L) after the sort; gains are level numbers.

    A pair costs 1/M + weight (s_worse - s_better) or nothing: it counts where s_worse > s_better - 1/(M weight), with M
    the number of pairs. Two pointers walk down the ranking; since only counts are kept, the gradient is exact.
    """
    n = len(scores)
    n_levels = 0
    mean = 0.0
    for row in range(n):
        gradient[row] = 0.0
        mean += scores[row] / n
        n_levels = max(n_levels, int(gains[row]) + 1)
    if n_levels < 2:
        return 0.0
    size = np.zeros(n_levels, np.int64)
    for row in range(n):
        size[int(gains[row])] += 1
    n_pairs, lower_size = 0, 0
    for level in range(n_levels):
        n_pairs += size[level] * lower_size
        lower_size += size[level]
    weight = 2.0 / n_pairs if constants[0] == 1.0 else 2.0
    margin = 1.0 / (n_pairs * weight)
    count = np.zeros(n_levels, np.int64)
    violated, reached = 0, 0
    for place in range(n):  # better documents, from the best score down; the reached ones are within the margin
        better = order[place]
        level = int(gains[better])
        if level == 0:
            continue
        while reached < n and scores[order[reached]] > scores[better] - margin:
            count[int(gains[order[reached]])] += 1
            reached += 1
        total = 0
        for lower in range(level):
            total += count[lower]
        violated += total
        gradient[better] -= weight * total
    count[:] = 0
    reached = n - 1
    for place in range(n - 1, -1, -1):  # worse documents, from the worst score up; the same comparison, to the last bit
        worse = order[place]
        level = int(gains[worse])
        if level == n_levels - 1:
            continue
        while reached >= 0 and scores[worse] > scores[order[reached]] - margin:
            count[int(gains[order[reached]])] += 1
            reached -= 1
        total = 0
        for upper in range(level + 1, n_levels):
            total += count[upper]
        gradient[worse] += weight * total
    loss = violated / n_pairs
    for row in range(n):
        loss += gradient[row] * (scores[row] - mean)
    return max(loss, 0.0)


@query_kernel
def label_margins(scores: Any, order: Any, gains: Any, constants: Any, gradient: Any) -> float:
    """Rank by score less a share of the label: the exact worst ranking where a pair's loss is y_i - y_j, over M.

    A pair costs (y_i - y_j)/M + weight (s_j - s_i), positive just where j comes before i in the order of
    s - y / (M weight): all pairs are served by one ranking. O(n (log n + L)).
    """
    n = len(scores)
    mean = 0.0
    for row in range(n):
        gradient[row] = 0.0
        mean += scores[row] / n
    levels = np.unique(gains)
    n_levels = len(levels)
    if n_levels < 2:
        return 0.0
    level = np.searchsorted(levels, gains)
    size = np.zeros(n_levels, np.int64)
    for row in range(n):
        size[level[row]] += 1
    n_pairs, lower_size = 0, 0
    for one in range(n_levels):
        n_pairs += size[one] * lower_size
        lower_size += size[one]
    weight = 2.0 / n_pairs if constants[0] == 1.0 else 2.0
    ranking = np.argsort(gains / (n_pairs * weight) - scores, kind="mergesort")
    count = np.zeros(n_levels, np.int64)
    loss = 0.0
    for place in range(n):
        row = ranking[place]
        for other in range(n_levels):
            if other < level[row]:
                gradient[row] -= weight * count[other]
                loss += (gains[row] - levels[other]) * count[other] / n_pairs
            elif other > level[row]:
                gradient[row] += weight * (size[other] - count[other])
        count[level[row]] += 1
    for row in range(n):
        loss += gradient[row] * (scores[row] - mean)
    return max(loss, 0.0)


def prepare(problem: Problem, data: Dataset) -> Prepared:
    """Prepare level numbers, or the labels themselves where they are the margins."""
    constants = np.array([problem.scaled])
    if problem.margin == "labels":
        return Kernels(data.indptr, require_labels(data, problem.name), constants, label_margins)
    if problem.margin != "unit":
        raise OptionError(f"{problem.name}: expected margin to be one of {MARGINS}, got {problem.margin!r}")
    return Kernels(data.indptr, problem.levels(data), constants, independent_pairs)
