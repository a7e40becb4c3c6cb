"""Average precision on the pairs map: divide and conquer over the bad documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._jit import query_kernel
from argrank.data.dataset import Dataset
from argrank.objectives.objective import Kernels, Prepared
from argrank.objectives.structured.hinge import StructuredHinge
from argrank.objectives.structured.pairs import staircase


@query_kernel
def average_precision(scores: Any, order: Any, gains: Any, constants: Any, gradient: Any) -> float:
    """Find the most violated ranking in O(n log n); constants: scaled, then the harmonic numbers H(0 … n).

    Putting bad b above good g costs v(g, b) = (1/P) (g+1) / ((g+b+1)(g+b+2)) + weight (s_b - s_g), which never rises
    with b. So every bad may take its own best suffix of goods, from good i on, and these i never fall with b (Yue et
    al. 2007). The suffix sums have a closed form by harmonic numbers; what depends on i is

        weight (sum of the scores of goods before i - i s_b) - (H(i + b) + (b + 1) / (i + b + 1)) / P

    and since the best i rises with b, the middle bad's choice halves the problem (Mohapatra et al. 2014).
    """
    n = len(scores)
    n_good, mean = 0, 0.0
    for row in range(n):
        gradient[row] = 0.0
        mean += scores[row] / n
        n_good += gains[row] > 0.0
    n_bad = n - n_good
    if n_good == 0 or n_bad == 0:
        return 0.0
    weight = 2.0 / (n_good * n_bad) if constants[0] == 1.0 else 2.0
    good_sum, bad = np.empty(n_good + 1), np.empty(n_bad)
    good_sum[0] = 0.0
    g = b = 0
    for place in range(n):
        row = order[place]
        score = scores[row] - mean
        if gains[row] > 0.0:
            good_sum[g + 1] = good_sum[g] + score
            g += 1
        else:
            bad[b] = score
            b += 1

    first_below = np.empty(n_bad, np.int64)  # the first good below each bad
    stack = np.empty((64, 4), np.int64)  # halves still to do: bads [from, to), goods from … to (both included)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, n_bad, 0, n_good
    waiting = 1
    while waiting > 0:
        waiting -= 1
        bad_from, bad_to = stack[waiting, 0], stack[waiting, 1]
        good_from, good_to = stack[waiting, 2], stack[waiting, 3]
        b = (bad_from + bad_to) // 2
        score = bad[b]
        chosen, best = good_to, -np.inf
        for i in range(good_to, good_from - 1, -1):  # ties: as few goods as possible, which keeps the choices ordered
            value = weight * (good_sum[i] - i * score) - (constants[1 + i + b] + (b + 1.0) / (i + b + 1.0)) / n_good
            if value > best:
                chosen, best = i, value
        first_below[b] = chosen
        if bad_from < b:
            if good_from == chosen:
                first_below[bad_from:b] = chosen
            else:
                stack[waiting, 0], stack[waiting, 1], stack[waiting, 2], stack[waiting, 3] = (
                    bad_from,
                    b,
                    good_from,
                    chosen,
                )
                waiting += 1
        if b + 1 < bad_to:
            if good_to == chosen:
                first_below[b + 1 : bad_to] = chosen
            else:
                stack[waiting, 0], stack[waiting, 1], stack[waiting, 2], stack[waiting, 3] = (
                    b + 1,
                    bad_to,
                    chosen,
                    good_to,
                )
                waiting += 1

    loss = 1.0
    g = b = above = 0
    for place in range(n):
        row = order[place]
        if gains[row] > 0.0:
            while above < n_bad and first_below[above] <= g:
                above += 1
            loss -= (g + 1.0) / ((g + above + 1.0) * n_good)
            gradient[row] = -weight * above
            g += 1
        else:
            gradient[row] = weight * (n_good - first_below[b])
            b += 1
        loss += gradient[row] * (scores[row] - mean)
    return max(loss, 0.0)


def prepare(hinge: StructuredHinge, data: Dataset) -> Prepared:
    """Prepare the harmonic numbers; AP@k breaks the order of the choices, so it takes the full table."""
    if hinge.k is not None and hinge.k < data.longest:
        return staircase.prepare(hinge, data)
    harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1.0, data.longest + 1.0))))
    constants = np.concatenate(([hinge.mean_of_pairs], harmonic))
    return Kernels(data.indptr, hinge.relevance(data), constants, average_precision)
