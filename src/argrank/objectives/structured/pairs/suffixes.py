"""NDCG of two levels over the whole list, and average precision, on the pairs map, by suffixes of goods.

What putting bad b above good g costs never rises with b. So every bad may take its own best suffix of goods, from good
i on, and these i never fall with b (Yue et al. 2007): the middle bad's choice halves the problem (Mohapatra et al.
2014), and all choices take O(n log n). A suffix sum telescopes for NDCG and has a closed form by harmonic numbers for
AP.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._jit import helper, query_kernel
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.objectives.objective import Kernels, Prepared
from argrank.objectives.structured.hinge import StructuredHinge
from argrank.objectives.structured.pairs import staircase


@query_kernel
def ndcg_unclipped(scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats) -> float:
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
    separate(scores, order, gains, low, mean, good_sum, bad)

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
        choose_suffixes(begin, least, good_sum, bad, weight, gain, discounts, False, stack, trial)
        value = value_of_suffixes(trial, good_sum, bad, weight, gain, discounts)
        if value > champion:
            champion = value
            first_below[:] = trial

    loss = write_coefficients(
        scores, order, gains, low, mean, first_below, n_good, weight, gain, discounts, False, gradient
    )
    return max(loss, 0.0)


@helper
def look_at_gains(scores: Floats, gains: Floats, gradient: Floats) -> Any:
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
    begin: int, least: int, good_sum: Floats, bad: Floats, weight: float, gain: float, table: Floats,
    of_precision: bool, stack: Integers, first: Integers,
) -> None:  # fmt: skip
    """Fill in the first good below each bad from ``begin`` on, by halving the bads; no good before ``least``.

    ``table`` holds the discounts of the ranks, or for average precision the harmonic numbers.
    """
    n_good, n_bad = len(good_sum) - 1, len(bad)
    waiting = 0
    if begin < n_bad:
        waiting = put(stack, 0, begin, n_bad, least, n_good)
    while waiting > 0:
        waiting -= 1
        bad_from, bad_to = stack[waiting, 0], stack[waiting, 1]
        good_from, good_to = stack[waiting, 2], stack[waiting, 3]
        b = (bad_from + bad_to) // 2
        score = bad[b]
        chosen, best = good_to, -np.inf
        for i in range(good_to, good_from - 1, -1):  # ties: as few goods as possible, so the choices are ordered
            value = weight * (good_sum[i] - i * score)
            value += -(table[i + b] + (b + 1.0) / (i + b + 1.0)) / n_good if of_precision else gain * table[i + b]
            if value > best:
                chosen, best = i, value
        waiting = share_out(stack, waiting, bad_from, b, bad_to, good_from, chosen, good_to, first)


@helper
def value_of_suffixes(
    first: Integers, good_sum: Floats, bad: Floats, weight: float, gain: float, discounts: Floats
) -> float:
    """Return the value of a ranking given by the first good below each bad."""
    n_good, value = len(good_sum) - 1, 0.0
    for b in range(len(bad)):
        i = first[b]
        value += gain * (discounts[i + b] - discounts[n_good + b]) if i < n_good else 0.0
        value += weight * ((n_good - i) * bad[b] - (good_sum[n_good] - good_sum[i]))
    return value


@query_kernel
def average_precision(scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats) -> float:
    """Find the most violated ranking in O(n log n); constants: scaled, then the harmonic numbers H(0 … n).

    Putting bad b above good g costs v(g, b) = (1/P) (g+1) / ((g+b+1)(g+b+2)) + weight (s_b - s_g), which never rises
    with b. So every bad may take its own best suffix of goods, from good i on, and these i never fall with b (Yue et
    al. 2007). The suffix sums have a closed form by harmonic numbers; what depends on i is

        weight (sum of the scores of goods before i - i s_b) - (H(i + b) + (b + 1) / (i + b + 1)) / P

    and since the best i rises with b, the middle bad's choice halves the problem (Mohapatra et al. 2014).
    """
    n = len(scores)
    low, _, mean, n_good = look_at_gains(scores, gains, gradient)
    if n_good == 0:
        return 0.0
    n_bad = n - n_good
    weight = 2.0 / (n_good * n_bad) if constants[0] == 1.0 else 2.0
    harmonic = constants[1:]
    good_sum, bad = np.empty(n_good + 1), np.empty(n_bad)
    separate(scores, order, gains, low, mean, good_sum, bad)

    first_below = np.empty(n_bad, np.int64)  # the first good below each bad
    stack = np.empty((64, 4), np.int64)  # halves still to do: bads [from, to), goods from … to (both included)
    choose_suffixes(0, 0, good_sum, bad, weight, 1.0, harmonic, True, stack, first_below)
    loss = write_coefficients(
        scores, order, gains, low, mean, first_below, n_good, weight, 1.0, harmonic, True, gradient
    )
    return max(loss, 0.0)


@helper
def separate(
    scores: Floats, order: Integers, gains: Floats, low: float, mean: float, good_sum: Floats, bad: Floats
) -> None:
    """Fill in the sums of the goods' scores and the scores of the bads, by descending score."""
    good_sum[0] = 0.0
    g = b = 0
    for place in range(len(scores)):
        row = order[place]
        score = scores[row] - mean
        if gains[row] > low:
            good_sum[g + 1] = good_sum[g] + score
            g += 1
        else:
            bad[b] = score
            b += 1


@helper
def share_out(
    stack: Integers,
    waiting: int,
    bad_from: int,
    b: int,
    bad_to: int,
    good_from: int,
    chosen: int,
    good_to: int,
    first: Integers,
) -> int:
    """Give bad b its suffix, and put the bads on both sides of it on the stack; return the size of the stack.

    Bads before b choose from ``good_from … chosen``, those behind it from ``chosen … good_to``: where only one good is
    left they need no search.
    """
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
    return waiting


@helper
def put(stack: Integers, waiting: int, bad_from: int, bad_to: int, good_from: int, good_to: int) -> int:
    """Put one half on the stack; return the size of the stack."""
    stack[waiting, 0], stack[waiting, 1], stack[waiting, 2], stack[waiting, 3] = bad_from, bad_to, good_from, good_to
    return waiting + 1


@helper
def write_coefficients(
    scores: Floats, order: Integers, gains: Floats, low: float, mean: float, first: Integers, n_good: int,
    weight: float, gain: float, table: Floats, of_precision: bool, gradient: Floats,
) -> float:  # fmt: skip
    """Fill in the gradient of the ranking given by the first good below each bad; return its hinge."""
    loss = 1.0 if of_precision else 0.0
    g = b = above = 0
    for place in range(len(order)):
        row = order[place]
        if gains[row] > low:
            while above < len(first) and first[above] <= g:
                above += 1
            if of_precision:
                loss -= (g + 1.0) / ((g + above + 1.0) * n_good)
            else:
                loss += gain * (table[g] - table[g + above])
            gradient[row] = -weight * above
            g += 1
        else:
            gradient[row] = weight * (n_good - first[b])
            b += 1
        loss += gradient[row] * (scores[row] - mean)
    return loss


def prepare_ndcg(hinge: StructuredHinge, indptr: Integers, gains: Floats) -> Prepared:
    """Choose by the discounts: convex, convex after the first step (two cases), or anything else (full table)."""
    discounts = hinge.discounts(int(np.diff(indptr).max()))
    steps = np.diff(-discounts)
    rises = np.diff(steps) > 1e-15
    if rises[1:].any():
        return staircase.tabulate(hinge, indptr, gains)
    n_cases = 2.0 if rises.any() else 1.0
    return Kernels(indptr, gains, np.concatenate(([hinge.mean_of_pairs, n_cases], discounts)), ndcg_unclipped)


def prepare_average_precision(hinge: StructuredHinge, data: Dataset) -> Prepared:
    """Prepare the harmonic numbers; with AP@k the choices are not ordered, so it uses the full table."""
    if hinge.k is not None and hinge.k < data.longest:
        return staircase.prepare(hinge, data)
    harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1.0, data.longest + 1.0))))
    constants = np.concatenate(([hinge.mean_of_pairs], harmonic))
    return Kernels(data.indptr, hinge.relevance(data), constants, average_precision)
