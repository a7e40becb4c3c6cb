"""LambdaRank: pairs weighed by what swapping them would change in NDCG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._jit import query_kernel
from argrank.data.dataset import Dataset
from argrank.errors import OptionError, shown
from argrank.measures.discounts import check_discount, discounts, ideal_dcg
from argrank.measures.gains import check_gain, gains_of
from argrank.objectives._base import Kernels, Objective, Prepared, refuse_row_weights, require_labels


@query_kernel
def _lambdas(scores: Any, order: Any, gains: Any, constants: Any, gradient: Any) -> float:
    """Sum over pairs of |change of NDCG by a swap| * softplus(-(s_i - s_j)).

    ``gains`` are over the best DCG; ``constants`` are the discounts of the ranks, 0 past the cut-off.
    """
    n = len(scores)
    total = 0.0
    for row in range(n):
        gradient[row] = 0.0
    for high in range(n):
        one = order[high]
        for low in range(high + 1, n):
            if constants[high] == constants[low]:
                continue
            other = order[low]
            if gains[one] == gains[other]:
                continue
            i, j = (one, other) if gains[one] > gains[other] else (other, one)
            change = (gains[i] - gains[j]) * (constants[high] - constants[low])
            d = scores[i] - scores[j]
            small = np.exp(-abs(d))
            total += change * (max(-d, 0.0) + np.log1p(small))
            push = change * (small if d > 0 else 1.0) / (1.0 + small)
            gradient[i] -= push
            gradient[j] += push
    return total


@dataclass(frozen=True)
class LambdaRank(Objective):
    """LambdaRank's forces (Burges et al. 2006) as the gradient of what they are, between changes of the ranking.

    With the weights |change of NDCG@k| held at the present ranking, the forces are the gradient of the weighted
    logistic loss. That jumps wherever two documents change places, so no function of the scores has these gradients
    everywhere and a line search has nothing to hold on to.

    Parameters
    ----------
    k : int or None
        Cut-off.
    gain, discount
        Those of NDCG.
    """

    name: ClassVar[str] = "lambdarank"
    convex: ClassVar[bool] = False

    k: int | None = 10
    gain: Any = "exp2"
    discount: Any = "log2"

    def __post_init__(self) -> None:
        check_gain(self.gain)
        check_discount(self.discount)
        if self.k is not None and (isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1):
            raise OptionError(f"{self.name}: expected k to be a whole number from 1 up or None, got {shown(self.k)}")

    def prepare(self, data: Dataset) -> Prepared:
        """Divide the gains by the best DCG of their query."""
        refuse_row_weights(data, self.name)
        labels = require_labels(data, self.name)
        best = ideal_dcg(labels, data.indptr, self.k, self.gain, self.discount, 1.0)
        shares = np.divide(1.0, best, out=np.zeros_like(best), where=best > 0)
        worth = discounts(int(data.sizes.max()), self.discount)
        if self.k is not None:
            worth[self.k :] = 0.0
        return Kernels(data.indptr, gains_of(labels, self.gain) * np.repeat(shares, data.sizes), worth, _lambdas)
