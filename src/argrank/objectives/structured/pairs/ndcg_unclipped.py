"""NDCG of two levels over the whole list on the pairs map: divide and conquer over the bad documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._jit import query_kernel
from argrank._types import Floats, Integers
from argrank.objectives.objective import Kernels, Prepared
from argrank.objectives.structured.hinge import StructuredHinge
from argrank.objectives.structured.pairs.staircase import tabulate


@query_kernel
def ndcg_unclipped(scores: Any, order: Any, gains: Any, constants: Any, gradient: Any) -> float:
    """Find the most violated ranking in O(n log n); constants: scaled, number of cases, then D(0 … n - 1).

    Putting bad b above good g costs v(g, b) = gain (D(g+b) - D(g+b+1)) + weight (s_b - s_g). Where D is convex it
    never rises with b, so every bad takes its own best suffix of goods, from good i on, and i never falls with b. The
    sum over the suffix telescopes; what depends on i is gain D(i + b) + weight (sum of the goods before i - i s_b).

    LETOR's discount is convex but for D(0) = D(1), which breaks the rule in the cell (0, 0) alone: two cases, good 0
    above all bads (no cell of good 0), or bad 0 above all goods (cell (0, 0) is in).
    """
    n = len(scores)
    low, high, mean = gains[0], gains[0], 0.0
    for row in range(n):
        gradient[row] = 0.0
        mean += scores[row] / n
        low, high = min(low, gains[row]), max(high, gains[row])
    n_good = 0
    for row in range(n):
        n_good += gains[row] > low
    n_bad = n - n_good
    if n_good == 0 or high <= 0.0:
        return 0.0
    weight = 2.0 / (n_good * n_bad) if constants[0] == 1.0 else 2.0
    n_cases, gain = int(constants[1]), high - low
    good_sum, bad = np.empty(n_good + 1), np.empty(n_bad)
    good_sum[0] = 0.0
    g = b = 0
    for place in range(n):
        row = order[place]
        score = scores[row] - mean
        if gains[row] > low:
            good_sum[g + 1] = good_sum[g] + score
            g += 1
        else:
            bad[b] = score
            b += 1

    first_below = np.empty(n_bad, np.int64)  # the first good below each bad, in the best case
    trial = np.empty(n_bad, np.int64)
    stack = np.empty((64, 4), np.int64)  # halves still to do: bads [from, to), goods from … to (both included)
    champion = -np.inf
    for case in range(n_cases):
        begin, least = 0, 0
        if n_cases == 2 and case == 0:
            least = 1  # good 0 above all bads
        elif n_cases == 2:
            begin, trial[0] = 1, 0  # bad 0 above all goods
        waiting = 0
        if begin < n_bad:
            stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = begin, n_bad, least, n_good
            waiting = 1
        while waiting > 0:
            waiting -= 1
            bad_from, bad_to = stack[waiting, 0], stack[waiting, 1]
            good_from, good_to = stack[waiting, 2], stack[waiting, 3]
            b = (bad_from + bad_to) // 2
            score = bad[b]
            chosen, best = good_to, -np.inf
            for i in range(good_to, good_from - 1, -1):  # ties: as few goods as possible, so the choices are ordered
                value = weight * (good_sum[i] - i * score) + gain * constants[2 + i + b]
                if value > best:
                    chosen, best = i, value
            trial[b] = chosen
            if bad_from < b:
                if good_from == chosen:
                    trial[bad_from:b] = chosen
                else:
                    stack[waiting, 0], stack[waiting, 1] = bad_from, b
                    stack[waiting, 2], stack[waiting, 3] = good_from, chosen
                    waiting += 1
            if b + 1 < bad_to:
                if good_to == chosen:
                    trial[b + 1 : bad_to] = chosen
                else:
                    stack[waiting, 0], stack[waiting, 1] = b + 1, bad_to
                    stack[waiting, 2], stack[waiting, 3] = chosen, good_to
                    waiting += 1
        value = 0.0
        for b in range(n_bad):
            i = trial[b]
            value += gain * (constants[2 + i + b] - constants[2 + n_good + b]) if i < n_good else 0.0
            value += weight * ((n_good - i) * bad[b] - (good_sum[n_good] - good_sum[i]))
        if value > champion:
            champion = value
            first_below[:] = trial

    loss = 0.0
    g = b = above = 0
    for place in range(n):
        row = order[place]
        if gains[row] > low:
            while above < n_bad and first_below[above] <= g:
                above += 1
            loss += gain * (constants[2 + g] - constants[2 + g + above])
            gradient[row] = -weight * above
            g += 1
        else:
            gradient[row] = weight * (n_good - first_below[b])
            b += 1
        loss += gradient[row] * (scores[row] - mean)
    return max(loss, 0.0)


def prepare(hinge: StructuredHinge, indptr: Integers, gains: Floats) -> Prepared:
    """Look at the discounts: convex, convex but for the first step (two cases), or anything else (full table)."""
    discounts = hinge.discounts(int(np.diff(indptr).max()))
    steps = np.diff(-discounts)
    rises = np.diff(steps) > 1e-15
    if rises[1:].any():
        return tabulate(hinge, indptr, gains)
    n_cases = 2.0 if rises.any() else 1.0
    return Kernels(indptr, gains, np.concatenate(([hinge.mean_of_pairs, n_cases], discounts)), ndcg_unclipped)
