"""Reciprocal rank on the pairs map: the paper's phi_po against phi_mrr (Figure 7)."""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._jit import helper, query_kernel
from argrank.data.dataset import Dataset
from argrank.objectives.objective import Kernels, Prepared
from argrank.objectives.structured.hinge import StructuredHinge


@query_kernel
def reciprocal_rank_pairs(scores: Any, order: Any, gains: Any, constants: Any, gradient: Any) -> float:
    """Find the worst rank r of the first good in O(n) after the sort; constants: scaled, k.

    Where the first good is at rank r < k, it has r bads above it and every other good has those that score higher, and
    at least r; the loss is 1 - 1/(1+r). Where it is at k or beyond, every good has at least k. As r rises, a growing
    number of goods have just r bads above them: prefix sums give each r in O(1).
    """
    n_good, mean = look_at_gains(scores, gains, gradient)
    n_bad = len(scores) - n_good
    if n_good == 0 or n_bad == 0:
        return 0.0
    weight = 2.0 / (n_good * n_bad) if constants[0] == 1.0 else 2.0
    k = int(constants[1])
    good, good_sum, bad_sum = np.empty(n_good), np.empty(n_good + 1), np.empty(n_bad + 1)
    above = np.empty(n_good, np.int64)  # bads that score higher than a good
    separate(scores, order, gains, mean, good, above, good_sum, bad_sum)
    tail = np.empty(n_good + 1)  # sums over the goods from g on, each below the bads that score higher
    tail[n_good] = 0.0
    for g in range(n_good - 1, -1, -1):
        tail[g] = tail[g + 1] + weight * (bad_sum[above[g]] - above[g] * good[g])
    best, worst = worst_rank(good, above, good_sum, bad_sum, tail, weight, k)
    for g in range(n_good):
        above[g] = max(above[g], worst)
    if worst < k:
        above[0] = worst
    write_coefficients(order, gains, above, weight, gradient)
    return float(best)


@helper
def look_at_gains(scores: Any, gains: Any, gradient: Any) -> Any:
    """Return the number of good documents and the mean score; clear the gradient."""
    n_good, mean = 0, 0.0
    for row in range(len(scores)):
        gradient[row] = 0.0
        mean += scores[row] / len(scores)
        n_good += gains[row] > 0.0
    return n_good, mean


@helper
def separate(
    scores: Any, order: Any, gains: Any, mean: float, good: Any, above: Any, good_sum: Any, bad_sum: Any
) -> None:
    """Fill in the goods' scores, the bads above each and the sums of both levels' scores, by descending score."""
    good_sum[0] = bad_sum[0] = 0.0
    g = b = 0
    for place in range(len(scores)):
        row = order[place]
        score = scores[row] - mean
        if gains[row] > 0.0:
            good[g], above[g] = score, b
            good_sum[g + 1] = good_sum[g] + score
            g += 1
        else:
            bad_sum[b + 1] = bad_sum[b] + score
            b += 1


@helper
def worst_rank(good: Any, above: Any, good_sum: Any, bad_sum: Any, tail: Any, weight: float, k: int) -> Any:
    """Return the greatest value and the rank of the first good that gives it."""
    n_good = len(good)
    best, worst = -np.inf, 0
    border = 1  # goods 1 … border - 1 have fewer than r higher bads
    for r in range(min(k, len(bad_sum) - 1) + 1):
        while border < n_good and above[border] < r:
            border += 1
        if r < k:
            value = 1.0 - 1.0 / (1.0 + r) + tail[border]
            value += weight * (border * bad_sum[r] - r * good_sum[border])
        else:
            value = 1.0
            for g in range(n_good):
                m = max(above[g], k)
                value += weight * (bad_sum[m] - m * good[g])
        if value > best:
            best, worst = value, r
    return best, worst


@helper
def write_coefficients(order: Any, gains: Any, above: Any, weight: float, gradient: Any) -> None:
    """Fill the gradient of the ranking given by the bads above every good."""
    n_good = len(above)
    g = b = below = 0
    for place in range(len(order)):
        row = order[place]
        if gains[row] > 0.0:
            gradient[row] = -weight * above[g]
            g += 1
        else:
            while below < n_good and above[below] <= b:
                below += 1
            gradient[row] = weight * (n_good - below)
            b += 1


def prepare(hinge: StructuredHinge, data: Dataset) -> Prepared:
    """Prepare; no cut-off is one that no list reaches."""
    longest = float(data.longest)
    k = longest if hinge.k is None else min(float(hinge.k), longest)
    return Kernels(data.indptr, hinge.relevance(data), np.array([hinge.mean_of_pairs, k]), reciprocal_rank_pairs)
