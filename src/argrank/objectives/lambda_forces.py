"""LambdaRank: pairs weighed by what swapping them would change in NDCG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.errors import OptionError, shown
from argrank.measures.discounts import check_discount, discounts, ideal_dcg
from argrank.measures.gains import check_gain, gains_of
from argrank.objectives.lambdas import GAIN, lambda_gradients
from argrank.objectives.objective import Objective, Prepared, refuse_row_weights, require_labels


@dataclass(frozen=True)
class LambdaRank(Objective):
    """LambdaRank's forces (Burges et al. 2006) as the gradient of what they are, between changes of the ranking.

    With the weights |change of NDCG@k| held at the present ranking, the forces are the gradient of the weighted
    logistic loss. That jumps wherever two documents change places, so no function of the scores has these gradients
    everywhere and a line search has nothing to hold on to. The weights of documents of equal score are means over
    their orders. The kernel is LambdaMART's (``lambdas.py``), without its normalisation.

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
        """Find the best DCG of every query."""
        refuse_row_weights(data, self.name)
        labels = require_labels(data, self.name)
        best = ideal_dcg(labels, data.indptr, self.k, self.gain, self.discount, 1.0)
        scale = np.divide(1.0, best, out=np.zeros_like(best), where=best > 0)
        worth = discounts(int(data.sizes.max()), self.discount)
        if self.k is not None:
            worth[self.k :] = 0.0
        return PreparedForces(data.indptr, np.ascontiguousarray(gains_of(labels, self.gain)), scale, worth)


class PreparedForces(Prepared):
    """LambdaRank's forces made ready for one Dataset."""

    ranks = True

    def __init__(self, indptr: Integers, gains: Floats, scale: Floats, by_rank: Floats) -> None:
        self.indptr, self._gains, self._scale, self._discounts = indptr, gains, scale, by_rank
        self._truncation = int(np.count_nonzero(by_rank))  # past the cut-off no swap changes anything

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Return the weighted logistic losses of a block of queries and fill in the forces."""
        indptr, losses = self.indptr[first : last + 1], np.empty(last - first)
        gains = self._gains[indptr[0] : indptr[-1]]
        lambda_gradients(
            scores, order, gains, self._scale[first:last], indptr, self._discounts, GAIN, self._truncation, 1.0, 0,
            gradient, np.empty(len(scores)), losses,
        )  # fmt: skip
        return losses
