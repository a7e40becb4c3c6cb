"""AUC on the pairs map, where all pairs of documents of different level are independent; the ranking by score.

The ranking by score has the greatest w · phi on the pairs map: it is what the tight bound subtracts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._jit import helper, query_kernel
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.objectives.objective import Kernels, Prepared, require_labels
from argrank.objectives.structured.hinge import StructuredHinge


@query_kernel
def independent_pairs(scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats) -> float:
    """Count the violated pairs of every document, O(n log L) after the sort; gains are level numbers.

    A pair costs 1/M + weight (s_worse - s_better) or nothing: it counts where s_worse > s_better - 1/(M weight), with M
    the number of pairs. Two pointers move along the ranking; a tree of partial sums (Fenwick 1994) counts the passed
    documents below or above a level. Only counts are kept, so the gradient is exact.
    """
    n = len(scores)
    n_levels = 0
    mean = 0.0
    score, level = np.empty(n), np.empty(n, np.int64)  # by rank
    for place in range(n):
        row = order[place]
        gradient[row] = 0.0
        score[place], level[place] = scores[row], int(gains[row])
        mean += scores[row] / n
        n_levels = max(n_levels, level[place] + 1)
    if n_levels < 2:
        return 0.0
    n_pairs = count_pairs(level, np.zeros(n_levels, np.int64))
    weight = 2.0 / n_pairs if constants[0] == 1.0 else 2.0
    margin = 1.0 / (n_pairs * weight)
    tree = np.zeros(n_levels + 1, np.int64)  # node i sums the levels (i - lowest bit of i) … i - 1
    violated = count_below_better(order, score, level, margin, weight, tree, gradient)
    tree[:] = 0
    count_above_worse(order, score, level, margin, weight, tree, gradient)
    loss = violated / n_pairs
    for row in range(n):
        loss += gradient[row] * (scores[row] - mean)
    return max(loss, 0.0)


@helper
def count_pairs(level: Integers, size: Integers) -> int:
    """Return the number of pairs of documents of different level; ``size``, zeros at first, is filled."""
    for place in range(len(level)):
        size[level[place]] += 1
    n_pairs, lower_size = 0, 0
    for one in range(len(size)):
        n_pairs += size[one] * lower_size
        lower_size += size[one]
    return n_pairs


@helper
def count_below_better(
    order: Integers, score: Floats, level: Integers, margin: float, weight: float, tree: Integers, gradient: Floats
) -> int:
    """Go over the better documents, from the best score down; the reached ones are within the margin.

    Fills in their coefficients and returns the number of violated pairs.
    """
    violated, reached = 0, 0
    for place in range(len(score)):
        if level[place] == 0:
            continue
        border = score[place] - margin
        while reached < len(score) and score[reached] > border:
            add_in(tree, level[reached] + 1, 1)
            reached += 1
        total = sum_up_to(tree, level[place])
        violated += total
        gradient[order[place]] = -weight * total
    return violated


@helper
def count_above_worse(
    order: Integers, score: Floats, level: Integers, margin: float, weight: float, tree: Integers, gradient: Floats
) -> None:
    """Go over the worse documents, from the worst score up, and add their coefficients.

    The margin is computed by the same expression as for the better ones, so that rounding is the same for both.
    """
    n_levels = len(tree) - 1
    reached = len(score) - 1
    for place in range(len(score) - 1, -1, -1):
        if level[place] == n_levels - 1:
            continue
        while reached >= 0 and score[place] > score[reached] - margin:
            add_in(tree, n_levels - level[reached], 1)
            reached -= 1
        gradient[order[place]] += weight * sum_up_to(tree, n_levels - 1 - level[place])


@helper
def add_in(tree: NDArray[Any], node: int, amount: float) -> None:
    """Add an amount to a node of a tree of partial sums."""
    while node < len(tree):
        tree[node] += amount
        node += node & -node


@helper
def sum_up_to(tree: NDArray[Any], node: int) -> Any:
    """Return the sum of a tree of partial sums up to a node."""
    total = tree[0]  # which is 0: no level has that node
    while node > 0:
        total += tree[node]
        node -= node & -node
    return total


@query_kernel
def pairs_of_two_levels(scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats) -> float:
    """Do what ``independent_pairs`` does for levels 0 and 1, in one pass over both, without unpredictable branches.

    A worse document that is within the margin of a better one is so for all better ones after it.
    """
    n = len(scores)
    better, worse = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)  # rows, by rank
    border, low = np.empty(n + 1), np.empty(n + 1)
    n_better, n_worse, mean = 0, 0, 0.0
    for place in range(n):
        row = order[place]
        gradient[row] = 0.0
        better[n_better], border[n_better] = row, scores[row]
        worse[n_worse], low[n_worse] = row, scores[row]
        is_better = int(gains[row] > 0)
        n_better += is_better
        n_worse += 1 - is_better
        mean += scores[row]
    mean /= n
    n_pairs = n_better * n_worse
    if n_pairs == 0:
        return 0.0
    weight = 2.0 / n_pairs if constants[0] == 1.0 else 2.0
    for place in range(n_better):
        border[place] -= 1.0 / (n_pairs * weight)
    violated, i, j = 0, 0, 0
    while i < n_better and j < n_worse:
        is_within = int(low[j] > border[i])
        gradient[better[i]], gradient[worse[j]] = -weight * j, weight * (n_better - i)  # final where it moves on
        violated += j * (1 - is_within)
        i += 1 - is_within
        j += is_within
    for place in range(j, n_worse):
        gradient[worse[place]] = 0.0
    for place in range(i, n_better):
        gradient[better[place]] = -weight * n_worse
    loss = (violated + (n_better - i) * n_worse) / n_pairs
    for row in range(n):
        loss += gradient[row] * (scores[row] - mean)
    return max(loss, 0.0)


@query_kernel
def label_margins(scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats) -> float:
    """Rank by score less a share of the label: the exact worst ranking where a pair's loss is y_i - y_j, over M.

    A pair costs (y_i - y_j)/M + weight (s_j - s_i), positive exactly if j comes before i in the order of s - y / (M
    weight): all pairs are served by one ranking. O(n log n).
    """
    n = len(scores)
    mean = 0.0
    for row in range(n):
        gradient[row] = 0.0
        mean += scores[row] / n
    labels = np.unique(gains)
    n_levels = len(labels)
    if n_levels < 2:
        return 0.0
    level = np.searchsorted(labels, gains)
    size = np.zeros(n_levels, np.int64)
    n_pairs = count_pairs(level, size)
    weight = 2.0 / n_pairs if constants[0] == 1.0 else 2.0
    ranking = np.argsort(gains / (n_pairs * weight) - scores, kind="mergesort")
    replace_by_higher(size)
    count, label_sum = np.zeros(n_levels + 1, np.int64), np.zeros(n_levels + 1)  # passed documents, and their labels
    loss = 0.0
    for place in range(n):
        row = ranking[place]
        one = level[row]
        gradient[row] = weight * count_inverted(count, one, place, size[one])
        loss += (gains[row] * sum_up_to(count, one) - sum_up_to(label_sum, one)) / n_pairs
        add_in(count, one + 1, 1)
        add_in(label_sum, one + 1, gains[row])
    for row in range(n):
        loss += gradient[row] * (scores[row] - mean)
    return max(loss, 0.0)


@query_kernel
def sorted_pairs(scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats) -> float:
    """Add up weight (s_worse - s_better) over the pairs that the scores invert, O(n log L)."""
    n = len(scores)
    n_levels, mean = 0, 0.0
    level = np.empty(n, np.int64)
    for row in range(n):
        gradient[row] = 0.0
        mean += scores[row] / n
        level[row] = int(gains[row])
        n_levels = max(n_levels, level[row] + 1)
    if n_levels < 2:
        return 0.0
    size = np.zeros(n_levels, np.int64)
    n_pairs = count_pairs(level, size)
    weight = 2.0 / n_pairs if constants[0] == 1.0 else 2.0
    replace_by_higher(size)
    count = np.zeros(n_levels + 1, np.int64)  # of the passed documents by level
    value = 0.0
    for place in range(n):
        row = order[place]
        one = level[row]
        gradient[row] = weight * count_inverted(count, one, place, size[one])
        add_in(count, one + 1, 1)
        value += gradient[row] * (scores[row] - mean)
    return max(value, 0.0)


@helper
def count_inverted(count: Integers, level: int, place: int, higher: int) -> Any:
    """Return how many better documents are below the one at a place, less how many worse ones are above it.

    ``count`` is a tree of the documents above by level; ``higher`` documents are of higher levels.
    """
    same_or_lower = sum_up_to(count, level + 1)
    return higher - (place - same_or_lower) - sum_up_to(count, level)


@helper
def replace_by_higher(size: Integers) -> None:
    """Turn the sizes of the levels into the numbers of documents of higher levels."""
    higher = 0
    for one in range(len(size) - 1, -1, -1):
        own = size[one]
        size[one] = higher
        higher += own


def prepare(hinge: StructuredHinge, data: Dataset) -> Prepared:
    """Prepare level numbers, or the labels themselves where they are the margins."""
    constants = np.array([hinge.mean_of_pairs])
    if hinge.margin == "labels":
        return Kernels(data.indptr, require_labels(data, hinge.name), constants, label_margins)
    return of_levels(data.indptr, hinge.levels(data), constants)


def of_levels(indptr: Integers, levels: Floats, constants: Floats) -> Kernels:
    """Return the loss of level numbers, by the faster kernel where there are no more than two."""
    kernel = independent_pairs if levels.max(initial=0.0) > 1 else pairs_of_two_levels
    return Kernels(indptr, levels, constants, kernel)


def prepare_reference(hinge: StructuredHinge, data: Dataset) -> Prepared:
    """Prepare level numbers for the ranking by score."""
    return Kernels(data.indptr, hinge.levels(data), np.array([hinge.mean_of_pairs]), sorted_pairs)
