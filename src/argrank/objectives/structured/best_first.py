"""Best-first search over the numbers of documents placed of each level, for two oracles of measures cut at k.

Inside a level the most violated ranking is sorted by score, and past rank k it is sorted altogether. So the state after
p ranks is the number of documents placed of each level. States are visited best first, by their value plus a bound on
what the rest can add: the lowest gains first, and no cost of leaving the ranking by score. That bound never rises along
a path, so the first full state is the best (A*, Hart et al. 1968). The pairs map and the positions map differ only in
the cost of placing a document next; both kernels are in this file because a kernel's helpers must be.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._jit import helper, query_kernel
from argrank._types import Floats, Integers


class Levels(NamedTuple):
    """The levels of a query from the lowest up."""

    gain: Any
    size: Any
    cap: Any  # documents that can be among the first k
    discount_sum: Any  # of the first ranks


class Search(NamedTuple):
    """The states by number, a heap of those to visit, and the state that is being visited."""

    before: Any  # [l, r, m]: states that come before, when level l may still take r documents and takes m
    value: Any
    taken: Any  # the level of the last document placed
    closed: Any
    counts: Any  # documents placed of each level; written when a state is first reached
    heap_key: Any
    heap: Any
    state: Any
    left: Any  # what may still be placed from each level on


class Tops(NamedTuple):
    """The top k documents of each level: score, sum of scores, and the documents of other levels that score higher."""

    score: Any
    total: Any
    higher: Any  # how many, by level
    excess: Any  # by how much in all


class Places(NamedTuple):
    """The documents by descending score: score, level, number inside the level; and the top documents' places."""

    score: Any
    level: Any
    index: Any
    of_top: Any


@query_kernel
def graded_ndcg(scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats) -> float:
    """Find the most violated ranking among C(k+L, L) states at most; constants: scaled, then D(0 … k - 1).

    This is NDCG@k of graded labels on the pairs map. Against the ranking by score, placing document i at rank p inverts
    the pairs with all documents of other levels that score higher and are not yet placed, and gains D(p). With k = 10
    and five levels the best is found after one to twelve of a hundred states, without a cut-off after up to half.
    """
    n = len(scores)
    mean = 0.0
    for row in range(n):
        gradient[row] = 0.0
        mean += scores[row] / n
    level_gain = np.unique(gains)
    n_levels = len(level_gain)
    if n_levels < 2 or level_gain[n_levels - 1] <= 0.0:
        return 0.0
    level = np.searchsorted(level_gain, gains)
    discounts = constants[1:]
    k = min(len(discounts), n)
    levels = Levels(level_gain, np.zeros(n_levels, np.int64), np.empty(n_levels, np.int64), np.zeros(k + 1))
    measure_levels(level, discounts, levels)
    weight = 2.0 / count_pairs(levels.size) if constants[0] == 1.0 else 2.0
    seen = np.zeros(n_levels, np.int64)
    tops = Tops(
        score=np.empty((n_levels, k)),
        total=np.zeros((n_levels, k + 1)),
        higher=np.empty((n_levels, k, n_levels), np.int64),
        excess=np.empty((n_levels, k)),
    )
    look_at_top(scores, order, level, mean, seen, np.zeros(n_levels), tops)

    before = np.zeros((n_levels, k + 1, k + 2), np.int64)
    n_states = number_states(levels.cap, np.ones(k + 1, np.int64), before)
    search = Search(
        before=before,
        value=np.full(n_states, -np.inf),
        taken=np.empty(n_states, np.int32),
        closed=np.zeros(n_states, np.bool_),
        counts=np.empty((n_states, n_levels), np.int32),
        heap_key=np.empty(n_states * n_levels + 1),
        heap=np.empty(n_states * n_levels + 1, np.int64),
        state=np.zeros(n_levels, np.int64),
        left=np.empty(n_levels, np.int64),
    )
    final = least_inverted(search, levels, tops, weight, discounts, k)

    rank_of = np.empty((n_levels, k), np.int64)
    loss = add_ideal(go_back(search, final, levels.gain, discounts, rank_of), levels, discounts, k)
    ranking = np.empty(n, np.int64)
    list_by_rank(order, level, search.counts[final], rank_of, seen, ranking)
    return write_coefficients(scores, mean, level, ranking, weight, levels.size, seen, loss, gradient)


@query_kernel
def position_counts(scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats) -> float:
    """Find max over rankings of sum of c_r s - a_r b over the ranks r; fill in c at every document's rank.

    This is the positions map. Constants: k, the number of ranks n, c(0 … n - 1), a(0 … k - 1); a is 0 from rank k on,
    and c never rises. Against the rest sorted by score, placing document i at rank p moves the documents that score
    higher, and are not yet placed, down by one rank each.
    """
    n = len(scores)
    k = min(int(constants[0]), n)
    decay, discounts = constants[2 : 2 + int(constants[1])], constants[2 + int(constants[1]) :]
    level_gain = np.unique(gains)
    n_levels = len(level_gain)
    level = np.searchsorted(level_gain, gains)
    levels = Levels(level_gain, np.zeros(n_levels, np.int64), np.empty(n_levels, np.int64), np.zeros(k + 1))
    measure_levels(level, discounts, levels)
    places = Places(np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64), np.empty((n_levels, k), np.int64))
    seen = np.zeros(n_levels, np.int64)
    total = look_at_places(scores, order, level, decay, seen, places)

    before = np.zeros((n_levels, k + 1, k + 2), np.int64)
    n_states = number_states(levels.cap, np.ones(k + 1, np.int64), before)
    search = Search(
        before=before,
        value=np.full(n_states, -np.inf),
        taken=np.empty(n_states, np.int32),
        closed=np.zeros(n_states, np.bool_),
        counts=np.empty((n_states, n_levels), np.int32),
        heap_key=np.empty(n_states * n_levels + 1),
        heap=np.empty(n_states * n_levels + 1, np.int64),
        state=np.zeros(n_levels, np.int64),
        left=np.empty(n_levels, np.int64),
    )
    final = best_placement(search, levels, places, total, decay, discounts, k)

    best = float(search.value[final])
    rank_of = np.empty((n_levels, k), np.int64)
    go_back(search, final, levels.gain, discounts, rank_of)
    write_decay(order, search.counts, final, places, rank_of, decay, gradient)
    return best


@helper
def measure_levels(level: Integers, discounts: Floats, levels: Levels) -> None:
    """Fill in the sizes of the levels and the sums of the first discounts."""
    k = len(levels.discount_sum) - 1
    for row in range(len(level)):
        levels.size[level[row]] += 1
    for one in range(len(levels.size)):
        levels.cap[one] = min(levels.size[one], k)
    for rank in range(k):
        levels.discount_sum[rank + 1] = levels.discount_sum[rank] + discounts[rank]


@helper
def number_states(cap: Integers, following: Integers, before: Integers) -> Any:
    """Number the states in lexicographic order; return how many there are.

    ``following``, ones at first, holds the number of states of the levels after l, by what is left for them.
    """
    k = len(following) - 1
    for one in range(len(cap) - 1, -1, -1):
        for room in range(k + 1):
            for m in range(min(cap[one], room) + 1):
                before[one, room, m + 1] = before[one, room, m] + following[room - m]
        for room in range(k, -1, -1):
            following[room] = before[one, room, min(cap[one], room) + 1]
    return following[k]


@helper
def begin(search: Search, value: float) -> int:
    """Put the state in which nothing is placed on the heap; return the size of the heap."""
    search.value[0] = value
    for one in range(len(search.state)):
        search.counts[0, one] = 0
    return push(search, 0, value, 0)


@helper
def visit_next(search: Search, waiting: int, k: int) -> Any:
    """Close the most promising open state and make it the present one.

    Returns it, how many documents are placed and the size of the heap, which never runs empty before a full state.
    """
    number, waiting = pop(search, waiting)
    while search.closed[number]:
        number, waiting = pop(search, waiting)
    search.closed[number] = True
    placed = 0
    for one in range(len(search.state)):
        search.state[one] = search.counts[number, one]
        search.left[one] = k - placed
        placed += search.state[one]
    return number, placed, waiting


@helper
def offer(
    search: Search,
    levels: Levels,
    number: int,
    one: int,
    placed: int,
    k: int,
    cost: float,
    discount: float,
    waiting: int,
) -> int:
    """Place the next document of a level; put the state on the heap if no better path to it is known.

    Returns the size of the heap.
    """
    before, state, left = search.before, search.state, search.left
    value = search.value[number] - cost - levels.gain[one] * discount
    successor = before[one, left[one], state[one] + 1]
    for other in range(one):
        successor += before[other, left[other], state[other]]
    for other in range(one + 1, len(state)):
        successor += before[other, left[other] - 1, state[other]]
    if search.closed[successor] or value <= search.value[successor]:
        return waiting
    search.value[successor], search.taken[successor] = value, one
    hope, rank = value, placed + 1  # the rest at its best: the lowest gains first
    for other in range(len(state)):
        count = state[other] + (other == one)
        search.counts[successor, other] = count
        more = min(levels.size[other] - count, k - rank)
        hope -= levels.gain[other] * (levels.discount_sum[rank + more] - levels.discount_sum[rank])
        rank += more
    return push(search, waiting, hope, successor)


@helper
def push(search: Search, waiting: int, key: float, number: int) -> int:
    """Put a state on the heap; return the size of the heap."""
    heap_key, heap = search.heap_key, search.heap
    spot = waiting
    while spot > 0 and heap_key[(spot - 1) // 2] < key:
        heap_key[spot], heap[spot] = heap_key[(spot - 1) // 2], heap[(spot - 1) // 2]
        spot = (spot - 1) // 2
    heap_key[spot], heap[spot] = key, number
    return waiting + 1


@helper
def pop(search: Search, waiting: int) -> Any:
    """Take the most promising state off the heap; return it and the size of the heap."""
    heap_key, heap = search.heap_key, search.heap
    number = heap[0]
    waiting -= 1
    key, moved, spot = heap_key[waiting], heap[waiting], 0
    while 2 * spot + 1 < waiting:  # the last of the heap sinks from the first place
        child = 2 * spot + 1
        if child + 1 < waiting and heap_key[child + 1] > heap_key[child]:
            child += 1
        if heap_key[child] <= key:
            break
        heap_key[spot], heap[spot] = heap_key[child], heap[child]
        spot = child
    heap_key[spot], heap[spot] = key, moved
    return number, waiting


@helper
def go_back(search: Search, final: int, gain: Floats, discounts: Floats, rank_of: Integers) -> float:
    """Go back from the final state to the beginning, writing down the ranks of the placed documents.

    Ranks are written by level and number inside the level. Returns minus the measure.
    """
    n_levels, k = rank_of.shape
    state = search.state
    loss = 0.0
    for placed in range(k - 1, -1, -1):
        one = search.taken[final]
        loss -= gain[one] * discounts[placed]
        state[one] -= 1
        rank_of[one, state[one]] = placed
        final, room = 0, k
        for other in range(n_levels):
            final += search.before[other, room, state[other]]
            room -= state[other]
    return loss


# ---- the pairs map --------------------------------------------------------------------------------------------------


@helper
def count_pairs(size: Integers) -> int:
    """Return the number of pairs of documents of different levels."""
    n_pairs, lower_size = 0, 0
    for one in range(len(size)):
        n_pairs += size[one] * lower_size
        lower_size += size[one]
    return n_pairs


@helper
def look_at_top(
    scores: Floats, order: Integers, level: Integers, mean: float, seen: Integers, seen_sum: Floats, tops: Tops
) -> None:
    """Describe the top k documents of each level."""
    n_levels, k = tops.score.shape
    for place in range(len(scores)):
        row = order[place]
        one, score = level[row], scores[row] - mean
        i = seen[one]
        if i < k:
            tops.score[one, i], tops.total[one, i + 1] = score, tops.total[one, i] + score
            excess = 0.0
            for other in range(n_levels):
                tops.higher[one, i, other] = seen[other]
                if other != one:
                    excess += seen_sum[other] - seen[other] * score
            tops.excess[one, i] = excess
        seen[one] += 1
        seen_sum[one] += score


@helper
def least_inverted(search: Search, levels: Levels, tops: Tops, weight: float, discounts: Floats, k: int) -> Any:
    """Return the full state of the greatest value on the pairs map."""
    waiting = begin(search, 0.0)
    while True:
        number, placed, waiting = visit_next(search, waiting, k)
        if placed == k:
            return number
        for one in range(len(levels.cap)):
            if search.state[one] < levels.cap[one]:
                cost = weight * inverted_by(search.state, one, tops)
                waiting = offer(search, levels, number, one, placed, k, cost, discounts[placed], waiting)


@helper
def inverted_by(state: Integers, one: int, tops: Tops) -> Any:
    """Return by how much the pairs differ in score that the next document of a level inverts."""
    score, inverted = tops.score[one, state[one]], tops.excess[one, state[one]]
    for other in range(len(state)):
        if other != one:  # those already placed invert nothing
            m = min(state[other], tops.higher[one, state[one], other])
            inverted -= tops.total[other, m] - m * score
    return inverted


@helper
def add_ideal(value: float, levels: Levels, discounts: Floats, k: int) -> float:
    """Add the measure of the ideal ranking."""
    ranked, used = len(levels.size) - 1, 0
    for placed in range(k):
        while used == levels.size[ranked]:
            ranked, used = ranked - 1, 0
        value += levels.gain[ranked] * discounts[placed]
        used += 1
    return value


@helper
def list_by_rank(
    order: Integers, level: Integers, chosen: NDArray[np.int32], rank_of: Integers, seen: Integers, ranking: Integers
) -> None:
    """List the documents by rank: those placed, then the others by score."""
    for one in range(len(seen)):
        seen[one] = 0
    next_rank = rank_of.shape[1]
    for place in range(len(order)):
        row = order[place]
        one = level[row]
        if seen[one] < chosen[one]:
            ranking[rank_of[one, seen[one]]] = row
        else:
            ranking[next_rank] = row
            next_rank += 1
        seen[one] += 1


@helper
def write_coefficients(
    scores: Floats,
    mean: float,
    level: Integers,
    ranking: Integers,
    weight: float,
    size: Integers,
    seen: Integers,
    loss: float,
    gradient: Floats,
) -> float:
    """Fill the gradient, which counts the documents of other levels above; return the loss with the scores' part."""
    n_levels = len(size)
    for one in range(n_levels):
        seen[one] = 0
    for place in range(len(ranking)):
        row = ranking[place]
        one = level[row]
        excess = 0  # higher levels below over lower levels above
        for other in range(one):
            excess -= seen[other]
        for other in range(one + 1, n_levels):
            excess += size[other] - seen[other]
        gradient[row] = weight * excess
        seen[one] += 1
        loss += gradient[row] * (scores[row] - mean)
    return loss


# ---- the positions map ----------------------------------------------------------------------------------------------


@helper
def look_at_places(
    scores: Floats, order: Integers, level: Integers, decay: Floats, seen: Integers, places: Places
) -> float:
    """Describe the documents in the order of their scores; return the value of that order without the gains."""
    k = places.of_top.shape[1]
    total = 0.0
    for place in range(len(scores)):
        row = order[place]
        one = level[row]
        if seen[one] < k:
            places.of_top[one, seen[one]] = place
        places.score[place], places.level[place], places.index[place] = scores[row], one, seen[one]
        total += decay[place] * scores[row]
        seen[one] += 1
    return total


@helper
def best_placement(
    search: Search, levels: Levels, places: Places, total: float, decay: Floats, discounts: Floats, k: int
) -> Any:
    """Return the full state of the greatest value on the positions map."""
    waiting = begin(search, total)
    while True:
        number, placed, waiting = visit_next(search, waiting, k)
        if placed == k:
            return number
        for one in range(len(levels.cap)):
            if search.state[one] < levels.cap[one]:
                cost = moved_down_by(search.state, one, placed, places, decay)
                waiting = offer(search, levels, number, one, placed, k, cost, discounts[placed], waiting)


@helper
def moved_down_by(state: Integers, one: int, placed: int, places: Places, decay: Floats) -> float:
    """Return what is lost when the next document of a level passes those that score higher and are not placed."""
    own = places.of_top[one, state[one]]
    lost, rank = 0.0, placed
    for place in range(own):
        if places.index[place] >= state[places.level[place]]:
            lost += (decay[rank] - decay[rank + 1]) * (places.score[place] - places.score[own])
            rank += 1
    return lost


@helper
def write_decay(
    order: Integers,
    counts: NDArray[np.int32],
    final: int,
    places: Places,
    rank_of: Integers,
    decay: Floats,
    gradient: Floats,
) -> None:
    """Fill in the decay at every document's rank: those placed, then the others by score."""
    next_rank = rank_of.shape[1]
    for place in range(len(order)):
        one = places.level[place]
        if places.index[place] < counts[final, one]:
            gradient[order[place]] = decay[rank_of[one, places.index[place]]]
        else:
            gradient[order[place]] = decay[next_rank]
            next_rank += 1
