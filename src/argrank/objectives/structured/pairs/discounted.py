"""A discount-weighted pairs map: the loss-specific map suggested in the conclusion of the KDD 2008 paper.

    psi(y) = (2/Z) sum over pairs (bad above good in y) of D(j) (x_bad - x_good),   Z = P (D(0) + … + D(N - 1))

where j is the rank of the bad document among the bads: inversions by the top bads count most, as they do in NDCG. With
D = 1 it is phi_po. Since D never rises, worst rankings are still sorted inside the levels and the ranking by score
still has the greatest w · psi, so the full table serves every loss that it serves on the pairs map. The whole map is
this file and its lines in the registry; ``register`` adds one from outside in the same way.
"""

from __future__ import annotations

import numpy as np

from argrank._jit import query_kernel
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.measures.discounts import discounts
from argrank.objectives.objective import Kernels, Prepared
from argrank.objectives.structured.hinge import StructuredHinge
from argrank.objectives.structured.pairs.staircase import tabulate, two_levels


@query_kernel
def sorted_discounted_pairs(
    scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats
) -> float:
    """Add up the weighted pairs that the scores put in the wrong order; constants: scaled, then D."""
    n = len(scores)
    low, mean = gains[0], 0.0
    for row in range(n):
        gradient[row] = 0.0
        mean += scores[row] / n
        low = min(low, gains[row])
    n_good = 0
    for row in range(n):
        n_good += gains[row] > low
    if n_good == 0:
        return 0.0
    total = 0.0
    for b in range(n - n_good):
        total += constants[1 + b]
    weight = 2.0 / (n_good * total) if constants[0] == 1.0 else 2.0
    g, b = 0, 0
    above, value = 0.0, 0.0
    for place in range(n):
        row = order[place]
        if gains[row] > low:
            gradient[row] = -weight * above
            g += 1
        else:
            gradient[row] = weight * constants[1 + b] * (n_good - g)
            above += constants[1 + b]
            b += 1
        value += gradient[row] * (scores[row] - mean)
    return max(value, 0.0)


def prepare(hinge: StructuredHinge, data: Dataset) -> Prepared:
    """Prepare the full table with the bads weighted by the measure's discount, without its cut-off."""
    return tabulate(hinge, data.indptr, two_levels(hinge, data), _weights(hinge, data))


def prepare_reference(hinge: StructuredHinge, data: Dataset) -> Prepared:
    """Prepare what the tight bound subtracts: w · psi of the ranking by score."""
    constants = np.concatenate(([hinge.mean_of_pairs], _weights(hinge, data)))
    return Kernels(data.indptr, hinge.levels(data), constants, sorted_discounted_pairs)


def _weights(hinge: StructuredHinge, data: Dataset) -> Floats:
    return discounts(data.longest, hinge.rules.discount)
