"""Measures of the top of the list, of two levels on the pairs map: NDCG@k (and DCG@k, P@k, WTA), and reciprocal rank.

NDCG@k takes a triangle of k²/2 cells and a tail. Reciprocal rank is the paper's phi_po against phi_mrr (Figure 7).
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from argrank._jit import LazyKernel, helper, query_kernel
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.errors import OptionError
from argrank.measures.structure import level_sizes
from argrank.objectives.objective import Kernels, Prepared
from argrank.objectives.structured.best_first import graded_ndcg
from argrank.objectives.structured.hinge import MAX_STATES, Builder, StructuredHinge, choose, count_states
from argrank.objectives.structured.pairs import suffixes

SHORT_CUT_OFF = 64  # cut-offs up to here use the triangle even for shorter lists, where it is as fast


@query_kernel
def ndcg_triangle(scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats) -> float:
    """Find the most violated ranking of one query in O(n + k²) after the sort; constants: scaled, then D(0 … k-1).

    Inside a level the worst ranking is sorted by score, so it is given by the number b of bads above each good g. A
    good in the top k gains D(g + b): the best way to put the goods 0 … g there is a running maximum over the cells
    (g, b) with g + b < k. If g0 goods stay in the top k, the others gain nothing wherever they are, as long as k - g0
    bads are above them: each is below all bads that score higher than itself, and at least k - g0.
    """
    n = len(scores)
    low, high, mean, n_good = look_at_gains(scores, gains, gradient)
    if n_good == 0 or high <= 0.0:
        return 0.0
    n_bad, k = n - n_good, len(constants) - 1
    weight = 2.0 / (n_good * n_bad) if constants[0] == 1.0 else 2.0
    gain, discounts = high - low, constants[1:]
    good, bad_sum, good_sum = np.empty(n_good), np.empty(n_bad + 1), np.empty(n_good + 1)
    above = np.empty(n_good, np.int64)  # bads that score higher than a good: where its score alone would put it
    separate(scores, order, gains, low, mean, good, above, bad_sum, good_sum)
    tail = np.empty(n_good + 1)  # sums over the goods from g on, each below the bads that score higher
    add_up_tails(good, above, bad_sum, weight, tail)

    rows = min(k, n_good)
    width = min(k - 1, n_bad) + 1
    best = np.empty((rows, width))  # of good g at or before cell b
    where = np.empty((rows, width), np.int64)  # the b of that best
    fill_triangle(good, bad_sum, weight, gain, discounts, best, where)
    champion, inside = choose_inside(best, above, tail, bad_sum, good_sum, weight, k)
    ideal = 0.0
    for g in range(rows):
        ideal += gain * discounts[g]

    if inside > 0:
        b = where[inside - 1, min(k - inside, n_bad)]
        for g in range(inside - 1, -1, -1):
            b = where[g, b]
            above[g] = b
    for g in range(inside, n_good):
        above[g] = max(above[g], k - inside)
    write_coefficients(order, gains, low, above, weight, gradient)
    return float(champion + ideal)


@helper
def look_at_gains(scores: Floats, gains: Floats, gradient: Floats) -> Any:
    """Return the lowest and the highest gain, the mean score and the number of good documents; clear the gradient."""
    n = len(scores)
    low, high, mean = gains[0], gains[0], 0.0
    for row in range(n):
        gradient[row] = 0.0
        mean += scores[row] / n
        low, high = min(low, gains[row]), max(high, gains[row])
    n_good = 0
    for row in range(n):
        n_good += gains[row] > low
    return low, high, mean, n_good


@helper
def separate(
    scores: Floats,
    order: Integers,
    gains: Floats,
    low: float,
    mean: float,
    good: Floats,
    above: Integers,
    bad_sum: Floats,
    good_sum: Floats,
) -> None:
    """Fill in the goods' scores, the bads above each and the sums of both levels' scores, by descending score."""
    bad_sum[0] = good_sum[0] = 0.0
    g = b = 0
    for place in range(len(scores)):
        row = order[place]
        score = scores[row] - mean
        if gains[row] > low:
            good[g], above[g] = score, b
            good_sum[g + 1] = good_sum[g] + score
            g += 1
        else:
            bad_sum[b + 1] = bad_sum[b] + score
            b += 1


@helper
def add_up_tails(good: Floats, above: Integers, bad_sum: Floats, weight: float, tail: Floats) -> None:
    """Fill in the sums over the goods from g on, each below the bads that score higher."""
    tail[len(good)] = 0.0
    for g in range(len(good) - 1, -1, -1):
        tail[g] = tail[g + 1] + weight * (bad_sum[above[g]] - above[g] * good[g])


@helper
def fill_triangle(
    good: Floats, bad_sum: Floats, weight: float, gain: float, discounts: Floats, best: Floats, where: Integers
) -> None:
    """Fill in the best value of the goods 0 … g with at most b bads above good g, and the b where it is reached."""
    k, n_bad = len(discounts), len(bad_sum) - 1
    for g in range(len(best)):
        for b in range(min(k - 1 - g, n_bad) + 1):
            value = weight * (bad_sum[b] - b * good[g]) - gain * discounts[g + b]
            if g > 0:
                value += best[g - 1, b]
            if b == 0 or value > best[g, b - 1]:
                best[g, b], where[g, b] = value, b
            else:
                best[g, b], where[g, b] = best[g, b - 1], where[g, b - 1]


@helper
def choose_inside(
    best: Floats, above: Integers, tail: Floats, bad_sum: Floats, good_sum: Floats, weight: float, k: int
) -> Any:
    """Return the greatest value and the number of goods in the top k that gives it."""
    n_good, n_bad = len(above), len(bad_sum) - 1
    champion, inside = -np.inf, 0
    border = n_good  # goods from here on have at least k - g0 higher bads
    for g0 in range(len(best) + 1):
        least = k - g0
        if g0 < n_good and least > n_bad:
            continue
        value = 0.0
        if g0 > 0:
            value = best[g0 - 1, min(least, n_bad)]
        while border > 0 and above[border - 1] >= least:
            border -= 1
        if g0 < n_good:
            start = max(border, g0)
            value += tail[start]
            value += weight * ((start - g0) * bad_sum[least] - least * (good_sum[start] - good_sum[g0]))
        if value > champion:
            champion, inside = value, g0
    return champion, inside


@helper
def write_coefficients(
    order: Integers, gains: Floats, low: float, above: Integers, weight: float, gradient: Floats
) -> None:
    """Fill the gradient of the ranking given by the bads above every good."""
    n_good = len(above)
    g = b = below = 0
    for place in range(len(order)):
        row = order[place]
        if gains[row] > low:
            gradient[row] = -weight * above[g]
            g += 1
        else:
            while below < n_good and above[below] <= b:
                below += 1
            gradient[row] = weight * (n_good - below)
            b += 1


@query_kernel
def reciprocal_rank_pairs(scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats) -> float:
    """Find the worst rank r of the first good in O(n) after the sort; constants: scaled, k.

    Where the first good is at rank r < k, it has r bads above it and every other good has those that score higher, and
    at least r; the loss is 1 - 1/(1+r). Where it is at k or beyond, every good has at least k. As r rises, a growing
    number of goods have just r bads above them: prefix sums give each r in O(1).
    """
    low, _, mean, n_good = look_at_gains(scores, gains, gradient)
    if n_good == 0:
        return 0.0
    n_bad = len(scores) - n_good
    weight = 2.0 / (n_good * n_bad) if constants[0] == 1.0 else 2.0
    k = int(constants[1])
    good, good_sum, bad_sum = np.empty(n_good), np.empty(n_good + 1), np.empty(n_bad + 1)
    above = np.empty(n_good, np.int64)  # bads that score higher than a good
    separate(scores, order, gains, low, mean, good, above, bad_sum, good_sum)
    tail = np.empty(n_good + 1)  # sums over the goods from g on, each below the bads that score higher
    add_up_tails(good, above, bad_sum, weight, tail)
    best, worst = worst_rank(good, above, good_sum, bad_sum, tail, weight, k)
    for g in range(n_good):
        above[g] = max(above[g], worst)
    if worst < k:
        above[0] = worst
    write_coefficients(order, gains, low, above, weight, gradient)
    return float(best)


@helper
def worst_rank(
    good: Floats, above: Integers, good_sum: Floats, bad_sum: Floats, tail: Floats, weight: float, k: int
) -> Any:
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


def prepare(hinge: StructuredHinge, data: Dataset) -> Prepared:
    """Use the triangle for two levels, or without a cut-off divide and conquer; for graded queries the search."""
    gains = hinge.gains(data)
    sizes = level_sizes(hinge.levels(data), data.indptr)
    n_levels = (sizes > 0).sum(axis=1)
    k, longest = hinge.k, data.longest
    no_cut = np.full(data.n_queries, True) if k is None else (data.sizes <= k) & (k > SHORT_CUT_OFF)
    route = np.where(n_levels > 2, 2, np.where(no_cut, 1, 0))
    check_states(hinge, data, sizes)
    depth = longest if k is None else min(k, longest)
    constants = np.concatenate(([hinge.mean_of_pairs], hinge.discounts(depth)))

    def by(kernel: LazyKernel) -> Builder:
        return lambda indptr, own: Kernels(indptr, own, constants, kernel)

    builders = (by(ndcg_triangle), functools.partial(suffixes.prepare_ndcg, hinge), by(graded_ndcg))
    return choose(builders, route, data.indptr, gains)


def check_states(hinge: StructuredHinge, data: Dataset, sizes: Integers) -> None:
    """Raise for a graded query with too many states; ``sizes`` are those of the levels."""
    n_states = count_states(sizes, data.longest if hinge.k is None else hinge.k)
    n_states[(sizes > 0).sum(axis=1) <= 2] = 0  # those use another oracle
    worst = int(n_states.argmax())
    if n_states[worst] > MAX_STATES:
        raise OptionError(
            f"{hinge.name}: expected at most {MAX_STATES:,} states for the exact most violated ranking of graded "
            f"labels, got {n_states[worst]:,} (query {data.query_ids[worst]}: {(sizes[worst] > 0).sum()} levels, "
            f"k={hinge.k}); use a smaller k, fewer levels (gain='binary', a gain table), or dorm"
        )


def prepare_reciprocal_rank(hinge: StructuredHinge, data: Dataset) -> Prepared:
    """Prepare; without a cut-off, one longer than any list is used."""
    longest = float(data.longest)
    k = longest if hinge.k is None else min(float(hinge.k), longest)
    return Kernels(data.indptr, hinge.relevance(data), np.array([hinge.mean_of_pairs, k]), reciprocal_rank_pairs)
