"""Average precision with ranks that are held softly (SmoothRank): no product a · b, but made of the same e_r."""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._jit import query_kernel


@query_kernel
def smooth_average_precision(scores: Any, order: Any, gains: Any, constants: Any, gradient: Any) -> float:
    """Find minus the smooth average precision and its gradient.

    Constants: 1/sigma², the cut-off. Gains are 1 for relevant documents and 0 for others, R their number. With e_r the
    mean gain of those who hold rank r, as in ``smooth_product``, AP = (1/R) sum over r of e_r (e_1 + … + e_r) / r: at
    r a relevant document is met with weight e_r, and the precision is the mean e down to it. O(n k), every weight
    computed twice.
    """
    n, inverse = len(scores), constants[0]
    k = min(n, int(constants[1]))
    n_relevant = 0.0
    for row in range(n):
        gradient[row] = 0.0
        n_relevant += gains[row]
    if n_relevant == 0.0:
        return 0.0
    mean, total = np.zeros(k), np.zeros(k)
    for r in range(k):
        centre = scores[order[r]]
        for row in range(n):
            away = scores[row] - centre
            weight = np.exp(-0.5 * inverse * away * away)
            total[r] += weight
            mean[r] += weight * gains[row]
        mean[r] /= total[r]
    value, above = 0.0, 0.0
    slope = np.empty(k)  # by e_r: as the document met at r, and as one of those above the ranks from r on
    for r in range(k):
        above += mean[r]
        value += mean[r] * above / (r + 1)
        slope[r] = above / (r + 1)
    below = 0.0
    for r in range(k - 1, -1, -1):
        below += mean[r] / (r + 1)
        slope[r] += below
    for r in range(k):
        at = order[r]
        centre, factor = scores[at], slope[r] / n_relevant * inverse / total[r]
        moved = 0.0
        for row in range(n):
            away = scores[row] - centre
            part = factor * np.exp(-0.5 * inverse * away * away) * (gains[row] - mean[r]) * away
            gradient[row] += part
            moved += part
        gradient[at] -= moved
    return -value / n_relevant
