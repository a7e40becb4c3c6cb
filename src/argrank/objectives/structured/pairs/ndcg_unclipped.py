"""NDCG of two levels over the whole list on the pairs map: divide and conquer over the bad documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._jit import helper, query_kernel
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

    LETOR's discount is convex except for D(0) = D(1), which breaks the rule in the cell (0, 0) alone: two cases, good 0
    above all bads (no cell of good 0), or bad 0 above all goods (cell (0, 0) is in).
    """
    n = len(scores)
    low, high, mean, n_good = look_at_gains(scores, gains, gradient)
    if n_good == 0 or high <= 0.0:
        return 0.0
    n_bad, gain = n - n_good, high - low
    weight = 2.0 / (n_good * n_bad) if constants[0] == 1.0 else 2.0
    n_cases, discounts = int(constants[1]), constants[2:]
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
        choose_suffixes(begin, least, good_sum, bad, weight, gain, discounts, stack, trial)
        value = value_of_suffixes(trial, good_sum, bad, weight, gain, discounts)
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
            loss += gain * (discounts[g] - discounts[g + above])
            gradient[row] = -weight * above
            g += 1
        else:
            gradient[row] = weight * (n_good - first_below[b])
            b += 1
        loss += gradient[row] * (scores[row] - mean)
    return max(loss, 0.0)


@helper
def look_at_gains(scores: Any, gains: Any, gradient: Any) -> Any:
    """Return the lowest and the highest gain, the mean score and the number of good documents; clear the gradient."""
    n = len(scores)
    low, high, mean = gains[0], gains[0], 0.0
    for row in range(n):
        gradient[row] = 0.0
        mean += scores[row] / n
        low, high = min(low, gains[row]), max(high, gains[row])
    n_good = 0
    for row in range(n):
        n_good += gains[row] > low
    return low, high, mean, n_good


@helper
def choose_suffixes(
    begin: int, least: int, good_sum: Any, bad: Any, weight: float, gain: float, discounts: Any, stack: Any, first: Any
) -> None:
    """Fill in the first good below each bad from ``begin`` on, by halving the bads; no good before ``least``."""
    n_bad = len(bad)
    waiting = 0
    if begin < n_bad:
        waiting = put(stack, 0, begin, n_bad, least, len(good_sum) - 1)
    while waiting > 0:
        waiting -= 1
        bad_from, bad_to = stack[waiting, 0], stack[waiting, 1]
        good_from, good_to = stack[waiting, 2], stack[waiting, 3]
        b = (bad_from + bad_to) // 2
        score = bad[b]
        chosen, best = good_to, -np.inf
        for i in range(good_to, good_from - 1, -1):  # ties: as few goods as possible, so the choices are ordered
            value = weight * (good_sum[i] - i * score) + gain * discounts[i + b]
            if value > best:
                chosen, best = i, value
        first[b] = chosen
        if bad_from < b:
            if good_from == chosen:
                for other in range(bad_from, b):
                    first[other] = chosen
            else:
                waiting = put(stack, waiting, bad_from, b, good_from, chosen)
        if b + 1 < bad_to:
            if good_to == chosen:
                for other in range(b + 1, bad_to):
                    first[other] = chosen
            else:
                waiting = put(stack, waiting, b + 1, bad_to, chosen, good_to)


@helper
def put(stack: Any, waiting: int, bad_from: int, bad_to: int, good_from: int, good_to: int) -> int:
    """Put one half on the stack; return the size of the stack."""
    stack[waiting, 0], stack[waiting, 1], stack[waiting, 2], stack[waiting, 3] = bad_from, bad_to, good_from, good_to
    return waiting + 1


@helper
def value_of_suffixes(first: Any, good_sum: Any, bad: Any, weight: float, gain: float, discounts: Any) -> float:
    """Return the value of a ranking given by the first good below each bad."""
    n_good, value = len(good_sum) - 1, 0.0
    for b in range(len(bad)):
        i = first[b]
        value += gain * (discounts[i + b] - discounts[n_good + b]) if i < n_good else 0.0
        value += weight * ((n_good - i) * bad[b] - (good_sum[n_good] - good_sum[i]))
    return value


def prepare(hinge: StructuredHinge, indptr: Integers, gains: Floats) -> Prepared:
    """Look at the discounts: convex, convex after the first step (two cases), or anything else (full table)."""
    discounts = hinge.discounts(int(np.diff(indptr).max()))
    steps = np.diff(-discounts)
    rises = np.diff(steps) > 1e-15
    if rises[1:].any():
        return tabulate(hinge, indptr, gains)
    n_cases = 2.0 if rises.any() else 1.0
    return Kernels(indptr, gains, np.concatenate(([hinge.mean_of_pairs, n_cases], discounts)), ndcg_unclipped)
