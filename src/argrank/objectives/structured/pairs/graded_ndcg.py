"""NDCG@k of graded labels on the pairs map: the best way through the numbers of documents placed of each level."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from argrank._jit import helper, query_kernel
from argrank._types import Integers
from argrank.data.dataset import Dataset
from argrank.errors import OptionError
from argrank.objectives.structured.hinge import StructuredHinge
from argrank.objectives.structured.routing import MAX_STATES, count_states


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
    counts: Any
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
        np.empty((n_levels, k)), np.zeros((n_levels, k + 1)), np.empty((n_levels, k, n_levels), np.int64),
        np.empty((n_levels, k)),
    )  # fmt: skip
    look_at_top(scores, order, level, mean, seen, np.zeros(n_levels), tops)

    before = np.zeros((n_levels, k + 1, k + 2), np.int64)
    n_states = number_states(levels.cap, np.ones(k + 1, np.int64), before)
    search = Search(
        before, np.full(n_states, -np.inf), np.empty(n_states, np.int32), np.zeros(n_states, np.bool_),
        np.zeros((n_states, n_levels), np.int32), np.empty(n_states * n_levels + 1),
        np.empty(n_states * n_levels + 1, np.int64), np.zeros(n_levels, np.int64), np.empty(n_levels, np.int64),
    )  # fmt: skip
    final = best_state(search, levels, tops, weight, discounts, k)

    rank_of = np.empty((n_levels, k), np.int64)
    loss = add_ideal(go_back(search, final, levels.gain, discounts, rank_of), levels, discounts, k)
    ranking = np.empty(n, np.int64)
    list_by_rank(order, level, search.counts[final], rank_of, seen, ranking)
    return write_coefficients(scores, mean, level, ranking, weight, levels.size, seen, loss, gradient)


@helper
def measure_levels(level: Any, discounts: Any, levels: Any) -> None:
    """Fill in the sizes of the levels and the sums of the first discounts."""
    k = len(levels.discount_sum) - 1
    for row in range(len(level)):
        levels.size[level[row]] += 1
    for one in range(len(levels.size)):
        levels.cap[one] = min(levels.size[one], k)
    for rank in range(k):
        levels.discount_sum[rank + 1] = levels.discount_sum[rank] + discounts[rank]


@helper
def count_pairs(size: Any) -> int:
    """Return the number of pairs of documents of different levels."""
    n_pairs, lower_size = 0, 0
    for one in range(len(size)):
        n_pairs += size[one] * lower_size
        lower_size += size[one]
    return n_pairs


@helper
def look_at_top(scores: Any, order: Any, level: Any, mean: float, seen: Any, seen_sum: Any, tops: Any) -> None:
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
def number_states(cap: Any, following: Any, before: Any) -> Any:
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
def best_state(search: Any, levels: Any, tops: Any, weight: float, discounts: Any, k: int) -> Any:
    """Return the full state of the greatest value; the heap never runs empty before it is found."""
    search.value[0] = 0.0
    waiting = push(search, 0, 0.0, 0)
    while True:
        number, waiting = pop(search, waiting)
        if search.closed[number]:
            continue
        placed = visit(search, number, k)
        if placed == k:
            return number
        for one in range(len(levels.cap)):
            if search.state[one] < levels.cap[one]:
                cost = weight * inverted_by(search.state, one, tops)
                waiting = offer(search, levels, number, one, placed, k, cost, discounts[placed], waiting)


@helper
def push(search: Any, waiting: int, key: float, number: int) -> int:
    """Put a state on the heap; return the size of the heap."""
    heap_key, heap = search.heap_key, search.heap
    spot = waiting
    while spot > 0 and heap_key[(spot - 1) // 2] < key:
        heap_key[spot], heap[spot] = heap_key[(spot - 1) // 2], heap[(spot - 1) // 2]
        spot = (spot - 1) // 2
    heap_key[spot], heap[spot] = key, number
    return waiting + 1


@helper
def pop(search: Any, waiting: int) -> Any:
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
def visit(search: Any, number: int, k: int) -> int:
    """Close a state and make it the present one; return how many documents are placed."""
    search.closed[number] = True
    placed = 0
    for one in range(len(search.state)):
        search.state[one] = search.counts[number, one]
        search.left[one] = k - placed
        placed += search.state[one]
    return placed


@helper
def inverted_by(state: Any, one: int, tops: Any) -> Any:
    """Return by how much the pairs differ in score that the next document of a level inverts."""
    score, inverted = tops.score[one, state[one]], tops.excess[one, state[one]]
    for other in range(len(state)):
        if other != one:  # those already placed invert nothing
            m = min(state[other], tops.higher[one, state[one], other])
            inverted -= tops.total[other, m] - m * score
    return inverted


@helper
def offer(
    search: Any, levels: Any, number: int, one: int, placed: int, k: int, cost: float, discount: float, waiting: int
) -> int:
    """Place the next document of a level; put the state on the heap if no better way to it is known.

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
def go_back(search: Any, final: int, gain: Any, discounts: Any, rank_of: Any) -> float:
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


@helper
def add_ideal(value: float, levels: Any, discounts: Any, k: int) -> float:
    """Add the measure of the ideal ranking."""
    ranked, used = len(levels.size) - 1, 0
    for placed in range(k):
        while used == levels.size[ranked]:
            ranked, used = ranked - 1, 0
        value += levels.gain[ranked] * discounts[placed]
        used += 1
    return value


@helper
def list_by_rank(order: Any, level: Any, chosen: Any, rank_of: Any, seen: Any, ranking: Any) -> None:
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
    scores: Any, mean: float, level: Any, ranking: Any, weight: float, size: Any, seen: Any, loss: float, gradient: Any
) -> float:
    """Fill the gradient, which counts the documents of other levels above; return the loss with the scores' part."""
    n_levels = len(size)
    for one in range(n_levels):
        seen[one] = 0
    for place in range(len(ranking)):
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
