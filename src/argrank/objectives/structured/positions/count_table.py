"""Positions map, measure cut at k: the best way through the numbers of documents placed of each level, and a tail."""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._jit import helper, query_kernel


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
def ranks_of_placed(before: Any, taken: Any, state: Any, final: int, rank_of: Any) -> None:
    """Go back from the final state to the beginning; fill in the ranks of the placed documents, by level and index."""
    n_levels, k = rank_of.shape
    for placed in range(k - 1, -1, -1):
        one = taken[final]
        state[one] -= 1
        rank_of[one, state[one]] = placed
        final, room = 0, k
        for other in range(n_levels):
            final += before[other, room, state[other]]
            room -= state[other]


@query_kernel
def position_counts(scores: Any, order: Any, gains: Any, constants: Any, gradient: Any) -> float:
    """Find max over rankings of sum of c_r s - a_r b over the ranks r; fill in c at every document's rank.

    Constants: k, the number of ranks n, c(0 … n - 1), a(0 … k - 1); a is 0 from rank k on, and c never rises, so inside
    a level the best ranking is sorted by score, and past rank k it is sorted altogether. The state after p ranks is the
    number of documents placed of each level. Against the rest sorted by score, placing document i at rank p moves the
    documents that score higher, and are not yet placed, down by one rank each.

    States are visited best first, by their value plus what the rest could bring: sorted by score, and by itself the
    lowest gains first. That bound never rises along a way, so the first full state is the best (A*, Hart et al. 1968).
    """
    n = len(scores)
    k = min(int(constants[0]), n)
    decay, discount = constants[2 : 2 + int(constants[1])], constants[2 + int(constants[1]) :]
    level_gain = np.unique(gains)
    n_levels = len(level_gain)
    level = np.searchsorted(level_gain, gains)
    size = np.zeros(n_levels, np.int64)
    for row in range(n):
        size[level[row]] += 1
    cap = np.minimum(size, k)
    discount_sum = np.zeros(k + 1)
    for rank in range(k):
        discount_sum[rank + 1] = discount_sum[rank] + discount[rank]

    score, level_at, index_at = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)  # by place in the order
    place_of = np.empty((n_levels, k), np.int64)  # of the top documents of each level
    seen = np.zeros(n_levels, np.int64)
    total = 0.0
    for place in range(n):
        row = order[place]
        one = level[row]
        if seen[one] < k:
            place_of[one, seen[one]] = place
        score[place], level_at[place], index_at[place] = scores[row], one, seen[one]
        total += decay[place] * scores[row]
        seen[one] += 1

    before, following = np.zeros((n_levels, k + 1, k + 2), np.int64), np.ones(k + 1, np.int64)
    n_states = number_states(cap, k, before, following)
    value, taken, closed = np.full(n_states, -np.inf), np.empty(n_states, np.int32), np.zeros(n_states, np.bool_)
    counts = np.zeros((n_states, n_levels), np.int32)
    heap_key, heap = np.empty(n_states * n_levels + 1), np.empty(n_states * n_levels + 1, np.int64)
    state, left = np.zeros(n_levels, np.int64), np.empty(n_levels, np.int64)
    value[0], heap[0], heap_key[0] = total, 0, total
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
            own = place_of[one, state[one]]
            lost, rank = 0.0, placed
            for place in range(own):
                if index_at[place] >= state[level_at[place]]:  # not yet placed: it gives way
                    lost += (decay[rank] - decay[rank + 1]) * (score[place] - score[own])
                    rank += 1
            value_there = value[number] - lost - level_gain[one] * discount[placed]
            successor = before[one, left[one], state[one] + 1]
            for other in range(n_levels):
                if other < one:
                    successor += before[other, left[other], state[other]]
                elif other > one:
                    successor += before[other, left[other] - 1, state[other]]
            if closed[successor] or value_there <= value[successor]:
                continue
            value[successor], taken[successor] = value_there, one
            hope, rank = value_there, placed + 1  # the rest at its best: the lowest gains first
            for other in range(n_levels):
                counts[successor, other] = state[other] + (other == one)
                more = min(size[other] - counts[successor, other], k - rank)
                hope -= level_gain[other] * (discount_sum[rank + more] - discount_sum[rank])
                rank += more
            spot = waiting
            waiting += 1
            while spot > 0 and heap_key[(spot - 1) // 2] < hope:
                heap_key[spot], heap[spot] = heap_key[(spot - 1) // 2], heap[(spot - 1) // 2]
                spot = (spot - 1) // 2
            heap_key[spot], heap[spot] = hope, successor

    # Back to the beginning, writing down the ranks of the placed documents.
    best = float(value[final])
    chosen = np.zeros(n_levels, np.int64)
    for one in range(n_levels):
        chosen[one] = state[one] = counts[final, one]
    rank_of = np.empty((n_levels, k), np.int64)
    ranks_of_placed(before, taken, state, final, rank_of)
    next_rank = k
    for place in range(n):
        row, one = order[place], level_at[place]
        if index_at[place] < chosen[one]:
            gradient[row] = decay[rank_of[one, index_at[place]]]
        else:
            gradient[row] = decay[next_rank]
            next_rank += 1
    return best
