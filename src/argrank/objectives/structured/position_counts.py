"""Positions map, measure cut at k: a table over how many documents of each level are in the top k, and a tail."""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._jit import query_kernel


@query_kernel
def position_counts(scores: Any, order: Any, gains: Any, constants: Any, gradient: Any) -> float:
    """Find max over rankings of sum of c_r s - a_r b over the ranks r; fill in c at every document's rank.

    Constants: k, the number of ranks n, c(0 … n - 1), a(0 … k - 1); a is 0 from rank k on, and c never rises, so inside
    a level the best ranking is sorted by score, and past rank k it is sorted altogether. The state after p ranks is the
    number of documents placed of each level. The tail is read off sums of s c over stretches of the ranking by score,
    moved up by r removed documents: tail[r, t] sums the first t documents. O(k n + states (L + k)).
    """
    n = len(scores)
    k = min(int(constants[0]), n)
    decay, worth_at = constants[2 : 2 + int(constants[1])], constants[2 + int(constants[1]) :]
    worth = np.unique(gains)
    n_levels = len(worth)
    level = np.searchsorted(worth, gains)
    size = np.zeros(n_levels, np.int64)
    for row in range(n):
        size[level[row]] += 1
    cap = np.minimum(size, k)
    top, place_of = np.empty((n_levels, k)), np.empty((n_levels, k), np.int64)
    seen = np.zeros(n_levels, np.int64)
    for place in range(n):
        row = order[place]
        one = level[row]
        if seen[one] < k:
            top[one, seen[one]], place_of[one, seen[one]] = scores[row], place
        seen[one] += 1

    has_tail = k < n and (decay[k] != 0.0 or decay[n - 1] != 0.0)
    tail = np.zeros((k + 1 if has_tail else 1, n + 1))
    if has_tail:
        for r in range(k + 1):
            for t in range(n):
                here = 0.0
                if r <= t < n - k + r:
                    here = scores[order[t]] * decay[k + t - r]
                tail[r, t + 1] = tail[r, t] + here
    removed = np.empty(k + 1, np.int64)

    # before[l, r, m]: states that come before, when level l may still take r documents and takes m.
    following = np.ones(k + 1, np.int64)  # states of the levels after l, by what is left for them
    before = np.zeros((n_levels, k + 2, k + 2), np.int64)
    for one in range(n_levels - 1, -1, -1):
        for room in range(k + 1):
            for m in range(min(cap[one], room) + 1):
                before[one, room, m + 1] = before[one, room, m] + following[room - m]
        for room in range(k, -1, -1):
            following[room] = before[one, room, min(cap[one], room) + 1]
    n_states = following[k]

    value, taken = np.empty(n_states), np.empty(n_states, np.int8)
    state, left = np.zeros(n_levels, np.int64), np.empty(n_levels + 1, np.int64)
    left[:] = k
    value[0] = 0.0
    champion, final = -np.inf, 0
    for number in range(1, n_states):
        one = n_levels - 1  # the next state in lexicographic order
        while state[one] == min(cap[one], left[one]):
            state[one] = 0
            one -= 1
        state[one] += 1
        for later in range(one, n_levels):
            left[later + 1] = left[later] - state[later]
        placed = k - left[n_levels]
        best, choice, shifted = -np.inf, 0, 0
        ahead = number  # number of the state less what its levels from `one` on contribute
        for one in range(n_levels - 1, -1, -1):
            ahead -= before[one, left[one], state[one]]
            if state[one] > 0:
                i = state[one] - 1
                previous = ahead + before[one, left[one], i] + shifted
                trial = value[previous] + decay[placed - 1] * top[one, i] - worth_at[placed - 1] * worth[one]
                if trial > best:
                    best, choice = trial, one
            shifted += before[one, left[one] + 1, state[one]]
        value[number], taken[number] = best, choice
        if placed < k:
            continue
        if has_tail:
            filled = 0
            for one in range(n_levels):
                for i in range(state[one]):
                    spot = filled
                    while spot > 0 and removed[spot - 1] > place_of[one, i]:
                        removed[spot] = removed[spot - 1]
                        spot -= 1
                    removed[spot] = place_of[one, i]
                    filled += 1
            removed[k] = n
            start = 0
            for r in range(k + 1):
                best += tail[r, removed[r]] - tail[r, start]
                start = removed[r] + 1
        if best > champion:
            champion, final = best, number

    # Back to the beginning: the number of the state is decoded level by level, then walked down.
    rest = final
    left[0] = k
    for one in range(n_levels):
        m = 0
        while m < min(cap[one], left[one]) and before[one, left[one], m + 1] <= rest:
            m += 1
        rest -= before[one, left[one], m]
        state[one] = m
        left[one + 1] = left[one] - m
    chosen = state.copy()
    rank = np.empty((n_levels, k), np.int64)  # of the placed documents
    for placed in range(k - 1, -1, -1):
        number, available = 0, k
        for one in range(n_levels):
            number += before[one, available, state[one]]
            available -= state[one]
        one = taken[number]
        state[one] -= 1
        rank[one, state[one]] = placed
    seen[:] = 0
    next_rank = k
    for place in range(n):
        row = order[place]
        one = level[row]
        if seen[one] < chosen[one]:
            gradient[row] = decay[rank[one, seen[one]]]
        else:
            gradient[row] = decay[next_rank]
            next_rank += 1
        seen[one] += 1
    return champion
