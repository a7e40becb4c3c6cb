"""SoftRank: the expected measure when every score carries Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from argrank._jit import query_kernel
from argrank.data.dataset import Dataset
from argrank.objectives._smooth_measure import SmoothMeasure
from argrank.objectives.objective import Prepared
from argrank.objectives.structured.positions.product import ProductProblem


@query_kernel
def expected_product(scores: Any, order: Any, gains: Any, constants: Any, gradient: Any) -> float:
    """Find minus the expected measure and its gradient.

    Constants: 1/(2 sigma), a(0), a(1), … to the last rank that counts. For every document that is worth something,
    going through the others one by one gives the distribution of how many of them beat it, as far as ranks count;
    going back gives what the rank reached so far is still worth, and so the slope by every probability. O(n k) each.
    """
    n, inverse = len(scores), constants[0]
    k = min(n, len(constants) - 1)
    value = 0.0
    for row in range(n):
        gradient[row] = 0.0
    chance = np.empty((n + 1, k + 1))  # [i, r + 1]: that r of the first i others beat the document; [i, 0] stays 0
    chance[:, 0] = 0.0
    beaten, worth = np.empty(n), np.empty(k + 1)
    for document in range(n):
        if gains[document] == 0.0:
            continue
        chance[0, 1:] = 0.0
        chance[0, 1] = 1.0
        for other in range(n):
            beaten[other] = 0.0
            if other != document:
                beaten[other] = 0.5 * math.erfc(inverse * (scores[document] - scores[other]))
            for r in range(1, k + 1):
                chance[other + 1, r] = chance[other, r] + beaten[other] * (chance[other, r - 1] - chance[other, r])
        for r in range(k):
            worth[r] = constants[1 + r]
            value += gains[document] * worth[r] * chance[n, r + 1]
        worth[k] = 0.0
        for other in range(n - 1, -1, -1):
            slope = 0.0
            for r in range(k):
                change = worth[r + 1] - worth[r]
                slope += change * chance[other, r + 1]
                worth[r] += beaten[other] * change
            if other != document:
                away = inverse * (scores[document] - scores[other])
                part = gains[document] * slope * inverse / np.sqrt(np.pi) * np.exp(-away * away)
                gradient[document] += part
                gradient[other] -= part
    return -value


@dataclass(frozen=True)
class SoftRank(SmoothMeasure):
    """What the expected measure lacks of the greatest value (Taylor, Guiver, Robertson and Minka 2008).

    Scores are Gaussian with standard deviation sigma around those given. Document i beats j with probability
    Phi((s_i - s_j) / (sqrt(2) sigma)), and the rank of j is distributed as if all these contests were independent, as
    the paper has it. For sigma towards 0 the loss is that of the ranking by score. Smooth, not convex. O(n k) for
    every document that is worth something, k the last rank that counts.

    Parameters
    ----------
    measure, k, discount, gain, relevant_at, a, b
        The measure, as in ``orm``: the paper's is NDCG.
    sigma : float
        Standard deviation of the noise, in units of the score.
    """

    name: ClassVar[str] = "softrank"

    def prepare(self, data: Dataset) -> Prepared:
        """Prepare gains, worth of the ranks and the greatest values."""
        return self._product(cast(ProductProblem, self.problem), data, expected_product, 0.5 / self.sigma)
