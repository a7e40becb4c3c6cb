"""The Plackett–Luce point: where in an interval the target order of the documents is most likely.

DirectRank, section 2.3. With scores f = score + t * slope, the log likelihood of an order is the sum over its first k
places j of ``f_j - log sum over l >= j of exp f_l``, concave in t; its derivative is the sum of
``slope_j - mean slope of the documents from j on, weighted by exp f``. Bisection on the sign of the derivative.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from argrank._jit import kernel
from argrank._types import Filled, Floats, Integers

MARGIN = 0.01  # share of the interval excluded at each end, where documents cross
HALVINGS = 20


@kernel()
def order_likelihood(
    scores: Floats,
    slopes: Floats,
    weight: Floats,
    indptr: Integers,
    depth: int,
    time: float,
    result: Filled[np.float64],
) -> None:
    """Fill the log likelihood of the rows' order within queries, down to ``depth`` places, and its derivative."""
    result[:] = 0.0
    for query in range(len(indptr) - 1):
        if weight[query] == 0.0:
            continue
        first, last = indptr[query], indptr[query + 1]
        greatest, mass, moment, value, slope = -np.inf, 0.0, 0.0, 0.0, 0.0
        for i in range(last - 1, first - 1, -1):  # sums over "from here on" grow from the back
            f = scores[i] + time * slopes[i]
            if f > greatest:
                shrink = np.exp(greatest - f)
                mass, moment, greatest = mass * shrink + 1.0, moment * shrink + slopes[i], f
            else:
                share = np.exp(f - greatest)
                mass += share
                moment += share * slopes[i]
            if i - first < depth:
                value += f - greatest - np.log(mass)
                slope += slopes[i] - moment / mass
        result[0] += weight[query] * value
        result[1] += weight[query] * slope


def wanted_order(labels: Floats, scores: Floats, query: Integers) -> NDArray[np.intp]:
    """Return the order of the rows with greater labels first in every query; ties by score, then by row."""
    return np.lexsort((-scores, -labels, query))


def most_likely(slope: Callable[[float], float], low: float, high: float) -> float:
    """Return the maximiser of a concave function on an interval, given its derivative, slightly off the ends."""
    low, high = low + MARGIN * (high - low), high - MARGIN * (high - low)
    if slope(low) <= 0.0:
        return low
    if slope(high) >= 0.0:
        return high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if slope(middle) > 0.0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)
