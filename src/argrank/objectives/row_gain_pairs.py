"""The pairwise hinge for rows with gains: Propensity SVM-Rank without a list of pairs.

Every document i with gain b_i should rank above every other document j of its query, clicked or not (Joachims,
Swaminathan and Schnabel 2017):

    sum over ordered pairs (i, j), j != i, of b_i loss(s_i - s_j),    loss(m) = max(0, 1 - m)² or max(0, 1 - m).

It is linear in the gains, and therefore unbiased if they are; with |b_i - b_j| as the weight of a pair it would not be.
Sorted by score, the documents j that a border s_i - 1 reaches only grow in number while i moves down the ranking, so
that running sums give value, gradient and Hessian products in one pass in each direction: O(n log n) with the sort.
"""

from __future__ import annotations

import numpy as np

from argrank._jit import curvature_kernel, query_kernel
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.errors import InputError
from argrank.objectives.objective import Kernels


@query_kernel
def _hinge(scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats) -> float:
    """``constants[0]`` is 1 for the squared hinge, 0 for the plain one. A document forms no pair with itself."""
    n, squared = len(scores), constants[0] > 0.0
    loss = 0.0
    count, hinges, squares, border, reached = 0.0, 0.0, 0.0, scores[order[0]], 0
    for place in range(n):  # as the document that should lie above: its border s_i - 1 only falls
        row = order[place]
        fall = border - (scores[row] - 1.0)
        border = scores[row] - 1.0
        squares += fall * (2.0 * hinges + fall * count)
        hinges += fall * count
        while reached < n and scores[order[reached]] > border:
            hinge = scores[order[reached]] - border
            count += 1.0
            hinges += hinge
            squares += hinge * hinge
            reached += 1
        if squared:
            loss += gains[row] * (squares - 1.0)
            gradient[row] = -2.0 * gains[row] * (hinges - 1.0)
        else:
            loss += gains[row] * (hinges - 1.0)
            gradient[row] = -gains[row] * (count - 1.0)
    count, hinges, border, reached = 0.0, 0.0, scores[order[n - 1]], n - 1
    for place in range(n - 1, -1, -1):  # as the document that should lie below: its border s_j + 1 only rises
        row = order[place]
        hinges += (scores[row] + 1.0 - border) * count
        border = scores[row] + 1.0
        while reached >= 0 and scores[order[reached]] < border:
            gain = gains[order[reached]]
            count += gain
            hinges += gain * (border - scores[order[reached]])
            reached -= 1
        gradient[row] += 2.0 * (hinges - gains[row]) if squared else count - gains[row]
    return loss


@curvature_kernel
def _curvature(
    scores: Floats, order: Integers, gains: Floats, constants: Floats, direction: Floats, product: Floats
) -> None:
    """Sum ``2 b_i (v_i - v_j)`` over the active pairs of every document, as the first and as the second of a pair."""
    n = len(scores)
    total, reached = 0.0, 0
    for place in range(n):
        row = order[place]
        while reached < n and scores[row] - scores[order[reached]] < 1.0:
            total += direction[order[reached]]
            reached += 1
        product[row] = 2.0 * gains[row] * (reached * direction[row] - total)
    count, total, reached = 0.0, 0.0, n - 1
    for place in range(n - 1, -1, -1):
        row = order[place]
        while reached >= 0 and scores[order[reached]] - scores[row] < 1.0:
            gain = gains[order[reached]]
            count += gain
            total += gain * direction[order[reached]]
            reached -= 1
        product[row] += 2.0 * (count * direction[row] - total)


def hinge_of_gains(data: Dataset, gains: Floats, squared: bool, name: str) -> Kernels:
    """Prepare the loss of rows with gains."""
    constants = np.array([1.0 if squared else 0.0])
    return Kernels(data.indptr, gains_from_zero(data, gains, name), constants, _hinge, _curvature if squared else None)


def weight_of_pairs(data: Dataset, gains: Floats) -> Floats:
    """Return the sum of the weights of every query's ordered pairs."""
    return np.asarray((data.sizes - 1.0) * np.add.reduceat(gains, data.indptr[:-1]), np.float64)


def gains_from_zero(data: Dataset, gains: Floats, name: str) -> Floats:
    """Return gains as weights of a convex loss, or raise if some are negative."""
    if gains.min() < 0:
        row = int(gains.argmin())
        query = data.query_ids[int(np.searchsorted(data.indptr, row, side="right")) - 1]
        raise InputError(
            f"{name}: expected row gains from 0 up, got {gains[row]:g} in query {query}; clip them (from_clicks(…, "
            "clip=(0, None))), or use a ranker that optimises a measure, such as orm"
        )
    return np.ascontiguousarray(gains)
