"""NDCG@k of graded labels on the pairs map: the best way through the numbers of documents placed of each level."""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._jit import helper, query_kernel
from argrank._types import Integers
from argrank.data.dataset import Dataset
from argrank.errors import OptionError
from argrank.objectives.structured.hinge import StructuredHinge
from argrank.objectives.structured.routing import MAX_STATES, count_states


@helper
def number_states(cap: Any, k: int, before: Any, following: Any) -> Any:
    """Number the states in lexicographic order and return how many there are.

    ``before[l, r, m]`` states come before, when level l may still take r documents and takes m; ``following`` counts
    the states of the levels after l, by what is left for them.
    """
    for one in range(len(cap) - 1, -1, -1):
        for room in range(k + 1):
            for m in range(min(cap[one], room) + 1):
                before[one, room, m + 1] = before[one, room, m] + following[room - m]
        for room in range(k, -1, -1):
            following[room] = before[one, room, min(cap[one], room) + 1]
    return following[k]


@helper
def look_at_top(
    scores: Any, order: Any, level: Any, mean: float, top: Any, top_sum: Any, higher: Any, excess: Any,
    seen: Any, seen_sum: Any,
) -> None:  # fmt: skip
    """Describe the top k documents of each level.

    Fills in their scores, their sums, how many documents of each other level score higher, and by how much in all.
    """
    n_levels, k = top.shape
    for place in range(len(scores)):
        row = order[place]
        one, score = level[row], scores[row] - mean
        i = seen[one]
        if i < k:
            top[one, i], top_sum[one, i + 1] = score, top_sum[one, i] + score
            total = 0.0
            for other in range(n_levels):
                higher[one, i, other] = seen[other]
                if other != one:
                    total += seen_sum[other] - seen[other] * score
            excess[one, i] = total
        seen[one] += 1
        seen_sum[one] += score


@query_kernel
def graded_ndcg(scores: Any, order: Any, gains: Any, constants: Any, gradient: Any) -> float:
    """Find the most violated ranking among C(k+L, L) states at most; constants: scaled, then D(0 … k - 1).

    Inside a level the worst ranking is sorted by score and past rank k it is sorted altogether, so the state after p
    ranks is the number of documents placed of each level. Against the ranking by score, placing document i next
    inverts the pairs with all documents of other levels that score higher and are not yet placed, and gains D(p).

    States are visited best first, by their value plus what the rest could bring if no pair were inverted: the lowest
    gains first. That bound never rises along a way, so the first full state is the best (A*, Hart et al. 1968). With
    k = 10 and five levels it is found after one to twelve of a hundred states, without a cut-off after up to half.
    """
    n = len(scores)
    mean = 0.0
    for row in range(n):
        gradient[row] = 0.0
        mean += scores[row] / n
    worth = np.unique(gains)
    n_levels = len(worth)
    if n_levels < 2 or worth[n_levels - 1] <= 0.0:
        return 0.0
    level = np.searchsorted(worth, gains)
    size = np.zeros(n_levels, np.int64)
    for row in range(n):
        size[level[row]] += 1
    n_pairs, lower_size = 0, 0
    for one in range(n_levels):
        n_pairs += size[one] * lower_size
        lower_size += size[one]
    weight = 2.0 / n_pairs if constants[0] == 1.0 else 2.0
    k = min(len(constants) - 1, n)
    cap = np.minimum(size, k)
    discount_sum = np.zeros(k + 1)
    for rank in range(k):
        discount_sum[rank + 1] = discount_sum[rank] + constants[1 + rank]

    top, top_sum = np.empty((n_levels, k)), np.zeros((n_levels, k + 1))
    higher, excess = np.empty((n_levels, k, n_levels), np.int64), np.empty((n_levels, k))
    seen, seen_sum = np.zeros(n_levels, np.int64), np.zeros(n_levels)
    look_at_top(scores, order, level, mean, top, top_sum, higher, excess, seen, seen_sum)
    before, following = np.zeros((n_levels, k + 1, k + 2), np.int64), np.ones(k + 1, np.int64)
    n_states = number_states(cap, k, before, following)
    value, taken, closed = np.full(n_states, -np.inf), np.empty(n_states, np.int32), np.zeros(n_states, np.bool_)
    counts = np.zeros((n_states, n_levels), np.int32)
    heap_key, heap = np.empty(n_states * n_levels + 1), np.empty(n_states * n_levels + 1, np.int64)
    state, left = np.zeros(n_levels, np.int64), np.empty(n_levels, np.int64)
    value[0], heap[0], heap_key[0] = 0.0, 0, 0.0
    waiting, final = 1, 0
    while waiting > 0:
        number = heap[0]  # the most promising state; the last of the heap sinks from its place
        waiting -= 1
        key, moved, spot = heap_key[waiting], heap[waiting], 0
        while 2 * spot + 1 < waiting:
            child = 2 * spot + 1
            if child + 1 < waiting and heap_key[child + 1] > heap_key[child]:
                child += 1
            if heap_key[child] <= key:
                break
            heap_key[spot], heap[spot] = heap_key[child], heap[child]
            spot = child
        heap_key[spot], heap[spot] = key, moved
        if closed[number]:
            continue
        closed[number] = True
        placed = 0
        for one in range(n_levels):
            state[one] = counts[number, one]
            left[one] = k - placed
            placed += state[one]
        if placed == k:
            final = number
            break
        for one in range(n_levels):
            if state[one] == cap[one]:
                continue
            score = top[one, state[one]]
            inverted = excess[one, state[one]]
            for other in range(n_levels):
                if other != one:  # those already placed invert nothing
                    m = min(state[other], higher[one, state[one], other])
                    inverted -= top_sum[other, m] - m * score
            worth_there = value[number] - weight * inverted - worth[one] * constants[1 + placed]
            successor = before[one, left[one], state[one] + 1]
            for other in range(n_levels):
                if other < one:
                    successor += before[other, left[other], state[other]]
                elif other > one:
                    successor += before[other, left[other] - 1, state[other]]
            if closed[successor] or worth_there <= value[successor]:
                continue
            value[successor], taken[successor] = worth_there, one
            hope, rank = worth_there, placed + 1  # the rest at its best: the lowest gains first
            for other in range(n_levels):
                counts[successor, other] = state[other] + (other == one)
                more = min(size[other] - counts[successor, other], k - rank)
                hope -= worth[other] * (discount_sum[rank + more] - discount_sum[rank])
                rank += more
            spot = waiting
            waiting += 1
            while spot > 0 and heap_key[(spot - 1) // 2] < hope:
                heap_key[spot], heap[spot] = heap_key[(spot - 1) // 2], heap[(spot - 1) // 2]
                spot = (spot - 1) // 2
            heap_key[spot], heap[spot] = hope, successor

    # Back to the beginning, writing down the ranks of the placed documents.
    chosen = np.zeros(n_levels, np.int64)
    for one in range(n_levels):
        chosen[one] = state[one] = counts[final, one]
    rank_of = np.empty((n_levels, k), np.int64)
    loss, ranked, used = 0.0, n_levels - 1, 0
    for placed in range(k - 1, -1, -1):
        one = taken[final]
        loss -= worth[one] * constants[1 + placed]
        state[one] -= 1
        rank_of[one, state[one]] = placed
        final, room = 0, k
        for other in range(n_levels):
            final += before[other, room, state[other]]
            room -= state[other]
    for placed in range(k):  # the ideal ranking
        while used == size[ranked]:
            ranked, used = ranked - 1, 0
        loss += worth[ranked] * constants[1 + placed]
        used += 1
    # Documents by rank: the placed ones, then the others by score. Coefficients count other levels above.
    ranking = np.empty(n, np.int64)
    seen = np.zeros(n_levels, np.int64)
    next_rank = k
    for place in range(n):
        row = order[place]
        one = level[row]
        if seen[one] < chosen[one]:
            ranking[rank_of[one, seen[one]]] = row
        else:
            ranking[next_rank] = row
            next_rank += 1
        seen[one] += 1
    seen[:] = 0
    for place in range(n):
        row = ranking[place]
        one = level[row]
        for other in range(one):
            gradient[row] -= weight * seen[other]
        for other in range(one + 1, n_levels):
            gradient[row] += weight * (size[other] - seen[other])
        seen[one] += 1
        loss += gradient[row] * (scores[row] - mean)
    return loss


def check_states(hinge: StructuredHinge, data: Dataset, sizes: Integers) -> None:
    """Refuse data with a graded query whose table would be too large; ``sizes`` are those of the levels."""
    n_states = count_states(sizes, int(data.sizes.max()) if hinge.k is None else hinge.k)
    n_states[(sizes > 0).sum(axis=1) <= 2] = 0  # those take another oracle
    worst = int(n_states.argmax())
    if n_states[worst] > MAX_STATES:
        raise OptionError(
            f"{hinge.name}: expected at most {MAX_STATES:,} states for the exact most violated ranking of graded "
            f"labels, got {n_states[worst]:,} (query {data.query_ids[worst]}: {(sizes[worst] > 0).sum()} levels, "
            f"k={hinge.k}); use a smaller k, fewer levels (gain='binary', a gain table), or dorm"
        )
