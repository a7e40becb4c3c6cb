"""The random walk over valid rankings: every move flips one pair of different level.

A ranking is a sequence of runs of documents of one level; order inside a run means nothing. A pair can be flipped, and
the result is again a ranking, exactly if its documents stand in neighbouring runs. LogRank's sampler (Figure 2) draws
pairs until it meets such a one and a coin falls; here the pair is drawn from that same distribution at once. All pairs
of two neighbouring runs have the same chance, so a border is drawn by (pairs) x (chance), then a document of each run.
Some border always exists and no chance is 0, so the walk is never stuck; every move can be taken back and some move
brings any ranking nearer to the best one, so all valid rankings are reached.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._jit import kernel, read_only


@kernel(
    lambda types: types.void(
        read_only(types, "int64"),
        read_only(types, "int64"),
        types.Array(types.int64, 2, "C", readonly=True),
        read_only(types, "int64"),
        read_only(types, "int64"),
        read_only(types),
        types.int64[:, ::1],
        types.int64[:, ::1],
    )
)
def walk(
    levels: Any, totals: Any, states: Any, restart: Any, moves: Any, uniform: Any, ranked: Any, coefficients: Any
) -> None:
    """Walk, and write down ``len(restart)`` rankings on the way.

    Parameters
    ----------
    levels, totals : level number of every document, and how many documents every level has
    states : rankings to start from
    restart : for every ranking that is kept, the state from which the walk starts anew, or -1 to go on
    moves : for every ranking that is kept, the moves made before
    uniform : three numbers from [0, 1) a move
    ranked : filled with the levels by rank
    coefficients : filled with half of dphi's: worse documents above minus better documents below
    """
    n, n_levels = len(levels), len(totals)
    order = np.empty(n, np.int64)
    seen = np.zeros(n_levels, np.int64)
    starts = np.empty(n + 1, np.int64)
    weights = np.empty(n)
    drawn = 0
    for sample in range(len(restart)):
        if restart[sample] >= 0:
            for rank in range(n):
                order[rank] = states[restart[sample], rank]
        for _ in range(moves[sample]):
            for level in range(n_levels):
                seen[level] = 0
            n_runs, total, start = 0, 0.0, 0
            while start < n:
                level = levels[order[start]]
                end = start + 1
                while end < n and levels[order[end]] == level:
                    end += 1
                if n_runs > 0:
                    # The upper run's level p, the lower one's q: likelier where documents of q already stand above
                    # and documents of p below, for the flip then changes little.
                    upper = levels[order[start - 1]]
                    chance = 1.0 + seen[level] + totals[upper] - seen[upper]
                    chance /= 1.0 + totals[upper] + totals[level]
                    weights[n_runs - 1] = (start - starts[n_runs - 1]) * (end - start) * chance
                    total += weights[n_runs - 1]
                starts[n_runs] = start
                seen[level] += end - start
                n_runs += 1
                start = end
            starts[n_runs] = n
            left = uniform[drawn] * total
            border = 0
            while border < n_runs - 2 and left >= weights[border]:
                left -= weights[border]
                border += 1
            top, middle, bottom = starts[border], starts[border + 1], starts[border + 2]
            one = min(middle - 1, top + int(uniform[drawn + 1] * (middle - top)))
            other = min(bottom - 1, middle + int(uniform[drawn + 2] * (bottom - middle)))
            first, second = order[one], order[other]
            order[one], order[other] = order[middle - 1], order[middle]
            order[middle - 1], order[middle] = second, first
            drawn += 3
        for level in range(n_levels):
            seen[level] = 0
        for rank in range(n):
            own = levels[order[rank]]
            ranked[sample, rank] = own
            balance = 0
            for level in range(own):
                balance += seen[level]
            for level in range(own + 1, n_levels):
                balance -= totals[level] - seen[level]
            coefficients[sample, order[rank]] = balance
            seen[own] += 1
