"""NDCG@k of graded labels on the pairs map: a table over how many documents of each level are in the top k."""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._jit import query_kernel
from argrank.data.dataset import Dataset
from argrank.errors import OptionError
from argrank.objectives._base import Integers
from argrank.objectives.structured.counts import MAX_STATES, count_states
from argrank.objectives.structured.problem import Problem


@query_kernel
def graded_ndcg(scores: Any, order: Any, gains: Any, constants: Any, gradient: Any) -> float:
    """Find the most violated ranking over C(k+L, L) states at most; constants: scaled, then D(0 … k - 1).

    Inside a level the worst ranking is sorted by score and past rank k it is sorted altogether, so the state after p
    ranks is the number of documents placed of each level. Against the ranking by score, placing document i next
    inverts the pairs with all documents of other levels that score higher and are not yet placed; a placed one gains
    D(p). The best way to each state is found from the states before it, in lexicographic order.
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

    # The top documents of each level, and how much higher-scoring documents of other levels exceed them.
    top, excess = np.empty((n_levels, k)), np.empty((n_levels, k))
    seen, seen_sum = np.zeros(n_levels, np.int64), np.zeros(n_levels)
    for place in range(n):
        row = order[place]
        one, score = level[row], scores[row] - mean
        if seen[one] < k:
            top[one, seen[one]] = score
            total = 0.0
            for other in range(n_levels):
                if other != one:
                    total += seen_sum[other] - seen[other] * score
            excess[one, seen[one]] = total
        seen[one] += 1
        seen_sum[one] += score
    # Of that, what the first m documents of another level account for.
    part = np.zeros((n_levels, k, n_levels, k + 1))
    for one in range(n_levels):
        for i in range(cap[one]):
            for other in range(n_levels):
                for m in range(cap[other]):
                    higher = max(top[other, m] - top[one, i], 0.0) if other != one else 0.0
                    part[one, i, other, m + 1] = part[one, i, other, m] + higher

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
            here = before[one, left[one], state[one]]
            ahead -= here
            if state[one] > 0:
                i = state[one] - 1
                previous = ahead + before[one, left[one], i] + shifted
                inverted = excess[one, i]
                for other in range(n_levels):
                    inverted -= part[one, i, other, state[other]]
                trial = value[previous] - weight * inverted - worth[one] * constants[placed]
                if trial > best:
                    best, choice = trial, one
            shifted += before[one, left[one] + 1, state[one]]
        value[number], taken[number] = best, choice
        if placed == k and best > champion:
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
    ideal = 0.0
    ranked = n_levels - 1
    used = 0
    for placed in range(k):
        while used == size[ranked]:
            ranked, used = ranked - 1, 0
        ideal += worth[ranked] * constants[1 + placed]
        used += 1
    loss = ideal
    for placed in range(k - 1, -1, -1):
        number, available = 0, k
        for one in range(n_levels):
            number += before[one, available, state[one]]
            available -= state[one]
        one = taken[number]
        state[one] -= 1
        rank[one, state[one]] = placed
        loss -= worth[one] * constants[1 + placed]

    # Documents by rank: the placed ones, then the others by score. Coefficients count other levels above.
    ranking = np.empty(n, np.int64)
    seen[:] = 0
    next_rank = k
    for place in range(n):
        row = order[place]
        one = level[row]
        if seen[one] < chosen[one]:
            ranking[rank[one, seen[one]]] = row
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


def check_states(problem: Problem, data: Dataset, sizes: Integers) -> None:
    """Refuse data with a graded query whose table would be too large; ``sizes`` are those of the levels."""
    n_states = count_states(sizes, int(data.sizes.max()) if problem.k is None else problem.k)
    n_states[(sizes > 0).sum(axis=1) <= 2] = 0  # those take another oracle
    worst = int(n_states.argmax())
    if n_states[worst] > MAX_STATES:
        raise OptionError(
            f"{problem.name}: expected at most {MAX_STATES:,} states for the exact most violated ranking of graded "
            f"labels, got {n_states[worst]:,} (query {data.query_ids[worst]}: {(sizes[worst] > 0).sum()} levels, "
            f"k={problem.k}); use a smaller k, fewer levels (gain='binary', a gain table), or dorm"
        )
