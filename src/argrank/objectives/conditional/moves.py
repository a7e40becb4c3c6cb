"""The random walk over valid rankings: every move flips one pair of different level.

A ranking is a sequence of runs of documents of one level; the order inside a run is irrelevant. A pair can be flipped,
and the result is again a ranking, exactly if its documents stand in neighbouring runs. LogRank's sampler (Figure 2)
draws pairs until it finds such a pair and accepts it; here the pair is drawn directly from the same distribution. All
pairs of two neighbouring runs have the same chance, so a border is drawn by (pairs) x (chance), then a document of each
run. Some border always exists and no chance is 0, so the walk never gets stuck; every move is reversible and every
ranking has a move towards the best one, so all valid rankings can be reached.

A walk is stored as its moves. The upper document of a flipped pair has one worse document more above it or one better
document less below it, and the lower one the opposite: along a walk half of ``w · dphi`` changes by the upper
document's score less the lower one's, and so do all sums over a ranking's coefficients.
"""

from __future__ import annotations

import numpy as np

from argrank._jit import helper, kernel
from argrank._types import Filled, FilledMatrix, Floats, Integers, Matrix


@kernel()
def stand(levels: Integers, totals: Integers, orders: Matrix[np.int64], coefficients: FilledMatrix[np.int64]) -> None:
    """Fill in half of dphi's coefficients of given rankings: worse documents above minus better documents below.

    ``levels`` has the level number of every document, ``totals`` how many documents every level has.
    """
    n_levels = len(totals)
    seen = np.zeros(n_levels, np.int64)
    for state in range(len(orders)):
        seen[:] = 0
        for rank in range(len(levels)):
            own = levels[orders[state, rank]]
            balance = 0
            for level in range(own):
                balance += seen[level]
            for level in range(own + 1, n_levels):
                balance -= totals[level] - seen[level]
            coefficients[state, orders[state, rank]] = balance
            seen[own] += 1


@helper
def find_runs(levels: Integers, order: Integers, run_level: Integers, run_size: Integers) -> int:
    """Fill in the runs of a ranking and return their number."""
    n_runs = 0
    for rank in range(len(order)):
        level = levels[order[rank]]
        if n_runs == 0 or level != run_level[n_runs - 1]:
            run_level[n_runs], run_size[n_runs] = level, 0
            n_runs += 1
        run_size[n_runs - 1] += 1
    return n_runs


@helper
def weigh_borders(
    run_level: Integers, run_size: Integers, n_runs: int, totals: Integers, seen: Integers, weights: Floats
) -> float:
    """Fill in the weight of every border between two runs, and return the sum.

    The upper run's level p, the lower one's q: likelier if documents of q are already above and documents of p below,
    as the flip then changes little.
    """
    seen[:] = 0
    total = 0.0
    for run in range(n_runs):
        level, size = run_level[run], run_size[run]
        if run > 0:
            upper = run_level[run - 1]
            chance = 1.0 + seen[level] + totals[upper] - seen[upper]
            chance /= 1.0 + totals[upper] + totals[level]
            weights[run - 1] = run_size[run - 1] * size * chance
            total += weights[run - 1]
        seen[level] += size
    return total


@helper
def split_runs(run_level: Integers, run_size: Integers, n_runs: int, border: int) -> int:
    """Swap one document between the runs at a border, and return the new number of runs.

    Of A…A B…B becomes A… B A …B: what is left of the two runs, and between them two runs of one document, which join
    their neighbours where nothing is left and the neighbour has their level.
    """
    upper, lower = run_level[border], run_level[border + 1]
    above, below = run_size[border] - 1, run_size[border + 1] - 1
    joins_above = above == 0 and border > 0 and run_level[border - 1] == lower
    joins_below = below == 0 and border + 2 < n_runs and run_level[border + 2] == upper
    if joins_above:
        run_size[border - 1] += 1
    if joins_below:
        run_size[border + 2] += 1
    grown = int(above > 0) + int(not joins_above) + int(not joins_below) + int(below > 0) - 2
    if grown > 0:
        for run in range(n_runs - 1, border + 1, -1):
            run_level[run + grown], run_size[run + grown] = run_level[run], run_size[run]
    elif grown < 0:
        for run in range(border + 2, n_runs):
            run_level[run + grown], run_size[run + grown] = run_level[run], run_size[run]
    here = border
    if above > 0:
        run_level[here], run_size[here] = upper, above
        here += 1
    if not joins_above:
        run_level[here], run_size[here] = lower, 1
        here += 1
    if not joins_below:
        run_level[here], run_size[here] = upper, 1
        here += 1
    if below > 0:
        run_level[here], run_size[here] = lower, below
    return n_runs + grown


@kernel()
def walk(
    levels: Integers,
    totals: Integers,
    states: Matrix[np.int64],
    restart: Integers,
    moves: Integers,
    uniform: Floats,
    ranked: FilledMatrix[np.int64],
    flips: FilledMatrix[np.int64],
) -> None:
    """Walk, and record ``len(restart)`` rankings on the way.

    Parameters
    ----------
    levels, totals : level number of every document, and how many documents every level has
    states : rankings to start from
    restart : for every ranking that is kept, the state from which the walk restarts, or -1 to continue
    moves : for every ranking that is kept, the moves made before
    uniform : three numbers from [0, 1) a move
    ranked : filled with the levels by rank, as many ranks as it has columns
    flips : filled with the upper and the lower document of every move
    """
    n, depth = len(levels), ranked.shape[1]
    order = np.empty(n, np.int64)
    seen = np.zeros(len(totals), np.int64)
    run_level, run_size = np.empty(n + 2, np.int64), np.empty(n + 2, np.int64)
    weights = np.empty(n + 2)
    drawn, n_runs = 0, 0
    for sample in range(len(restart)):
        if restart[sample] >= 0:
            order[:] = states[restart[sample]]
            n_runs = find_runs(levels, order, run_level, run_size)
        for _ in range(moves[sample]):
            left = uniform[3 * drawn] * weigh_borders(run_level, run_size, n_runs, totals, seen, weights)
            border, top = 0, 0
            while border < n_runs - 2 and left >= weights[border]:
                left -= weights[border]
                top += run_size[border]
                border += 1
            middle = top + run_size[border]
            bottom = middle + run_size[border + 1]
            one = min(middle - 1, top + int(uniform[3 * drawn + 1] * (middle - top)))
            other = min(bottom - 1, middle + int(uniform[3 * drawn + 2] * (bottom - middle)))
            first, second = order[one], order[other]
            order[one], order[other] = order[middle - 1], order[middle]
            order[middle - 1], order[middle] = second, first
            flips[drawn, 0], flips[drawn, 1] = first, second
            n_runs = split_runs(run_level, run_size, n_runs, border)
            drawn += 1
        for rank in range(depth):
            ranked[sample, rank] = levels[order[rank]]


@kernel()
def first_met(
    hashes: Integers,
    origin: Integers,
    moves: Integers,
    flips: Matrix[np.int64],
    kept: Filled[np.int64],
    starts: Filled[np.int64],
    counts: Filled[np.int64],
    path: FilledMatrix[np.int64],
) -> int:
    """Fill in which rankings of walks are new, and the moves that lead to them; return their number.

    ``starts`` and ``counts`` are ``origin`` and ``moves`` of the rankings in ``kept``, ``path`` their flips: those that
    lead to a ranking that is left out belong to the next one of its walk.
    """
    size = 4
    while size < 2 * len(hashes):
        size *= 2
    table = np.full(size, -1)
    found, written, done, begin, start = 0, 0, 0, 0, 0
    for ranking in range(len(hashes)):
        if origin[ranking] >= 0:
            begin, start = done, origin[ranking]
        done += moves[ranking]
        slot = hashes[ranking] & (size - 1)
        while table[slot] >= 0 and hashes[table[slot]] != hashes[ranking]:
            slot = (slot + 1) & (size - 1)
        if table[slot] < 0:
            table[slot], kept[found], starts[found], counts[found] = ranking, ranking, start, done - begin
            for move in range(begin, done):
                path[written, 0], path[written, 1] = flips[move, 0], flips[move, 1]
                written += 1
            begin, start = done, -1
            found += 1
    return found
