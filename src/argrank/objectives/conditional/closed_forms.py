"""Closed forms: objectives that are sums over pairs of documents and need no enumeration of rankings.

Over all y in {-1, +1}^pairs the pairs are independent: Pr(y_ij = +1) = sigmoid(d) with d = 2 (s_i - s_j), i better than
j. So the normaliser is a product and the expected AUC loss a mean (LogRank, Figure 1, section 2). The kernels go over
all pairs and store none. ``gains`` are level numbers; the first of the ``constants`` is 1 where phi is divided by the
number of pairs.

For each pair they need exp(-d), which is a product of one exponential per document if all scores are within a few
hundred of each other (``near``). Sums of logarithms are computed as the logarithm of a product.
"""

from __future__ import annotations

import numpy as np

from argrank._jit import helper, query_kernel
from argrank._types import Floats, Integers


@helper
def find_lower_levels(gains: Floats, rows: Integers, after: Integers, gradient: Floats) -> int:
    """Fill in the first place of a lower level for every place of ``rows``, which go by falling level.

    Sets the gradient to 0 and returns the number of pairs.
    """
    n = len(rows)
    pairs, end = 0, n
    for place in range(n - 1, -1, -1):
        if place + 1 < n and gains[rows[place]] != gains[rows[place + 1]]:
            end = place + 1
        after[place] = end
        pairs += n - end
        gradient[place] = 0.0
    return pairs


@query_kernel
def softplus_sum(scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats) -> float:
    """Sum over pairs of softplus(margin / pairs - d) - less * softplus(-d).

    ``constants`` = scaled, margin, less, exponentiate: L1 has margin 0, ConvexLoss margin rho; with less = 1 it is the
    log of the expectation of exp(rho loss), and with exponentiate = 1 that expectation itself.
    """
    n = len(scores)
    rows = np.argsort(-gains, kind="mergesort")
    after = np.empty(n, np.int64)
    pairs = find_lower_levels(gains, rows, after, gradient)
    if pairs == 0:
        return float(constants[3])
    factor = 2.0 / pairs if constants[0] > 0 else 2.0
    margin, less = constants[1] / pairs, constants[2]
    middle, reach = scores.mean(), factor * np.ptp(scores)
    near = reach + abs(margin) < 300.0
    together = max(1, int(600.0 / (reach + abs(margin) + 1.0)))  # factors of a product that cannot overflow
    better, worse, u = np.empty(n), np.empty(n), np.zeros(n)
    for place in range(n):
        centred = factor * (scores[rows[place]] - middle)
        better[place] = np.exp(-centred) if near else centred
        worse[place] = np.exp(centred) if near else centred
    lift = np.exp(margin)
    total = 0.0
    for i in range(n):
        product, waiting, slope_sum = 1.0, 0, 0.0
        for j in range(after[i], n):
            if near:
                e = better[i] * worse[j]
            else:
                d = better[i] - worse[j]
                total += max(margin - d - 600.0, 0.0) - less * max(-d - 600.0, 0.0)
                e = np.exp(min(-d, 600.0))
            raised = e * lift
            slope = raised / (1.0 + raised)
            if less > 0.0:
                product *= (1.0 + raised) / (1.0 + e)
                slope -= e / (1.0 + e)
            else:
                product *= 1.0 + raised
            slope_sum += slope
            u[j] += slope
            waiting += 1
            if waiting == together:
                total += np.log(product)
                product, waiting = 1.0, 0
        total += np.log(product)
        u[i] -= slope_sum
    times = factor
    if constants[3] > 0.0:
        total = np.exp(total)
        times *= total
    for place in range(n):
        gradient[rows[place]] = times * u[place]
    return total


@query_kernel
def log_mean_sigmoid(scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats) -> float:
    """Log of the mean over pairs of sigmoid(direction * d), times a factor, plus an offset; 0 without pairs.

    ``constants`` = scaled, direction, times, offset. Direction +1 and times -1: minus the log of the expected AUC;
    direction -1: the log of the expected AUC loss. All sigmoids are taken relative to the greatest, or to 1.
    """
    n, pairs, best, end = len(scores), 0, -np.inf, len(scores)
    direction = constants[1]
    rows = np.argsort(-gains, kind="mergesort")
    after = np.empty(n, np.int64)  # first place of a lower level
    lead, lead_below = -np.inf, -np.inf  # greatest -direction * score from a place on, and of lower levels
    for place in range(n - 1, -1, -1):
        if place + 1 < n and gains[rows[place]] != gains[rows[place + 1]]:
            end, lead_below = place + 1, lead
        after[place] = end
        pairs += n - end
        best = max(best, direction * scores[rows[place]] + lead_below)
        lead = max(lead, -direction * scores[rows[place]])
        gradient[place] = 0.0
    if pairs == 0:
        return 0.0
    factor = 2.0 / pairs if constants[0] > 0 else 2.0
    middle, near = scores.mean(), factor * np.ptp(scores) < 300.0
    top = 0.0 if near else min(factor * best, 0.0)
    lowest = np.exp(top)
    better, worse, u = np.empty(n), np.empty(n), np.zeros(n)
    for place in range(n):
        centred = factor * direction * (scores[rows[place]] - middle)
        better[place] = np.exp(-centred) if near else centred
        worse[place] = np.exp(centred) if near else centred
    total = 0.0
    for i in range(n):
        slope_sum = 0.0
        for j in range(after[i], n):
            if near:
                e = better[i] * worse[j]
                term = 1.0 / (1.0 + e)
                slope = term * term * e
            else:
                d = better[i] - worse[j]
                term = 1.0 / (lowest + np.exp(min(top - d, 700.0)))
                slope = term / (1.0 + np.exp(min(d, 700.0)))
            total += term
            slope_sum += slope
            u[j] -= slope
        u[i] += slope_sum
    for place in range(n):
        gradient[rows[place]] = u[place] * constants[2] * factor * direction / total
    return float(constants[2] * (np.log(total) + top - np.log(pairs)) + constants[3])


@query_kernel
def mean_sigmoid(scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats) -> float:
    """Rho times the mean over pairs of sigmoid(-d), the expected AUC loss, plus, where asked, L1.

    ``constants`` = scaled, rho, 1 to add the sum of softplus(-d).
    """
    n = len(scores)
    rows = np.argsort(-gains, kind="mergesort")
    after = np.empty(n, np.int64)
    pairs = find_lower_levels(gains, rows, after, gradient)
    if pairs == 0:
        return 0.0
    factor = 2.0 / pairs if constants[0] > 0 else 2.0
    share, with_sum = constants[1] / pairs, constants[2]
    total = 0.0
    for i in range(n):
        one = rows[i]
        for j in range(after[i], n):
            other = rows[j]
            d = factor * (scores[one] - scores[other])
            small = np.exp(-abs(d))
            wrong = (small if d > 0 else 1.0) / (1.0 + small)
            right = (1.0 if d > 0 else small) / (1.0 + small)
            total += share * wrong
            if with_sum > 0.0:
                total += max(-d, 0.0) + np.log1p(small)
            slope = factor * wrong * (share * right + with_sum)
            gradient[one] -= slope
            gradient[other] += slope
    return total
