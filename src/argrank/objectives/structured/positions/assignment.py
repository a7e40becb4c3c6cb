"""The general case of the positions map: documents are assigned to ranks by shortest augmenting paths."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._jit import helper, query_kernel
from argrank._types import Floats, Integers

FEW = 64  # levels


@query_kernel
def position_assignment(scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats) -> float:
    """Find max over rankings of sum of c_r s - a_r b over the ranks r; fill in c at every document's rank.

    Constants: k, the number of ranks n, c(0 … n - 1), a(0 … k - 1); c >= 0 and a are 0 from rank k on (k = n allows
    any c). Documents of one level differ only in their scores, so only the k highest of each can be at the
    k ranks: an assignment problem of k x kL at most, solved by adding one rank after another along a shortest
    augmenting path with dual prices (Jonker and Volgenant 1987). O(k² kL).
    """
    n = len(scores)
    for row in range(n):
        gradient[row] = 0.0
    k = min(int(constants[0]), n)
    decay, discounts = constants[2 : 2 + int(constants[1])], constants[2 + int(constants[1]) :]
    level_gain, level = np.empty(n), np.empty(n, np.int64)
    n_levels = find_levels(gains, level_gain, level)
    if n_levels > FEW:
        level_gain = np.unique(gains)
        n_levels = len(level_gain)
        level[:] = np.searchsorted(level_gain, gains)
    seen = np.zeros(n_levels, np.int64)
    candidate, score, gain = np.empty(n, np.int64), np.empty(n), np.empty(n)
    m = 0
    for place in range(n):
        row = order[place]
        if seen[level[row]] < k:
            candidate[m], score[m], gain[m] = row, scores[row], gains[row]
            m += 1
        seen[level[row]] += 1

    rank_price, price = np.zeros(k), np.zeros(m)
    holder = np.full(m, -1)  # the rank at which a candidate is
    distance, done, path = np.empty(m), np.empty(m, np.bool_), np.empty(m, np.int64)
    for new_rank in range(k):
        distance[:] = np.inf
        done[:] = False
        reached, free = find_path(
            new_rank, decay, discounts, score, gain, rank_price, price, holder, distance, done, path
        )
        rank_price[new_rank] += reached
        for j in range(m):
            if done[j] and j != free:
                rank_price[holder[j]] += reached - distance[j]
                price[j] -= reached - distance[j]
        j = free
        while j >= 0:  # every candidate on the path takes over the rank of the one before it
            before = path[j]
            holder[j] = new_rank if before < 0 else holder[before]
            j = before
    value = 0.0
    for j in range(m):
        if holder[j] >= 0:
            r = holder[j]
            gradient[candidate[j]] = decay[r]
            value += decay[r] * scores[candidate[j]] - discounts[r] * gain[j]
    return value


@helper
def find_levels(gains: Floats, level_gain: Floats, level: Integers) -> int:
    """Number the levels as they appear; return how many there are, or give up with more than FEW.

    With few levels, a linear search is faster than sorting.
    """
    n_levels = 0
    for row in range(len(gains)):
        one = 0
        while one < n_levels and level_gain[one] != gains[row]:
            one += 1
        if one == n_levels:
            level_gain[one] = gains[row]
            n_levels += 1
            if n_levels > FEW:
                break
        level[row] = one
    return n_levels


@helper
def find_path(
    new_rank: int, decay: Floats, discounts: Floats, score: Floats, gain: Floats, rank_price: Floats, price: Floats,
    holder: Integers, distance: Floats, done: NDArray[np.bool_], path: Integers,
) -> Any:  # fmt: skip
    """Find the shortest path from a new rank to a free candidate; return its length and that candidate.

    Fills in which candidates are reached for certain, how far away they are, and through which other candidate.
    """
    r, reached, through = new_rank, 0.0, -1
    while r >= 0:
        c, a, rank_cost = decay[r], discounts[r], rank_price[r]
        nearest, least = -1, np.inf
        for j in range(len(price)):
            if done[j]:
                continue
            length = reached + a * gain[j] - c * score[j] - rank_cost - price[j]
            if length < distance[j]:
                distance[j], path[j] = length, through
            if distance[j] < least:
                nearest, least = j, distance[j]
        done[nearest] = True
        reached, through = least, nearest
        r = holder[nearest]
    return reached, through
