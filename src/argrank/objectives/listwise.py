"""Listwise losses: ListNet's divergence of top-one probabilities, and RankCosine in its NDCG-consistent form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from argrank._jit import query_kernel
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.measures.discounts import discounts
from argrank.measures.gains import gains_of
from argrank.measures.structure import greatest
from argrank.objectives.objective import (
    Kernels,
    OfGains,
    Prepared,
    query_weights,
    refuse_row_weights,
    require_labels,
)
from argrank.objectives.row_gain_pairs import gains_from_zero


@query_kernel
def _cross_entropy(scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats) -> float:
    """Sum of p_label log(p_label / p_score), both softmax: the Kullback-Leibler divergence."""
    n = len(scores)
    top, top_gain = scores.max(), gains.max()
    total, total_gain = 0.0, 0.0
    for row in range(n):
        gradient[row] = np.exp(scores[row] - top)
        total += gradient[row]
        total_gain += np.exp(gains[row] - top_gain)
    loss = 0.0
    for row in range(n):
        wanted = np.exp(gains[row] - top_gain) / total_gain
        if wanted > 0.0:
            loss += wanted * (gains[row] - top_gain - np.log(total_gain) - scores[row] + top + np.log(total))
        gradient[row] = gradient[row] / total - wanted
    return loss


@dataclass(frozen=True, kw_only=True)
class TopOneCrossEntropy(OfGains):
    """Kullback-Leibler divergence of softmax(scores) from softmax(gains), top-one probabilities; convex.

    It is the cross entropy of Cao et al. (2007) less the entropy of softmax(gains), a constant. If rows have gains, the
    target probabilities are their shares, and a query is weighted by the sum of its gains.
    """

    name: ClassVar[str] = "top-one divergence"
    smooth: ClassVar[bool] = True

    def prepare(self, data: Dataset) -> Prepared:
        """Take the gains."""
        refuse_row_weights(data, self.name)
        if data.gains is not None:
            return Kernels(data.indptr, self._logarithms(data, data.gains), np.empty(0), _cross_entropy, ranks=False)
        gains = np.ascontiguousarray(gains_of(require_labels(data, self.name), self.gain))
        return Kernels(data.indptr, gains, np.empty(0), _cross_entropy, ranks=False)

    def query_shares(self, data: Dataset) -> Floats:
        """Return the share of every query: by its weight, and by the sum of its gains if rows have gains."""
        if data.gains is None:
            return super().query_shares(data)
        weights = query_weights(data) * np.add.reduceat(data.gains, data.indptr[:-1])
        return weights / max(float(weights.sum()), 1e-300)

    def _logarithms(self, data: Dataset, gains: Floats) -> Floats:
        """Return the logarithms of the gains, whose softmax are their shares; 0 in queries without any gain."""
        gains = gains_from_zero(data, gains, self.name)
        none = np.repeat(np.add.reduceat(gains, data.indptr[:-1]) == 0.0, data.sizes)
        with np.errstate(divide="ignore"):
            return np.where(none, 0.0, np.log(gains))


@query_kernel
def _cosine(scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats) -> float:
    """Half of |g| - g · s / sqrt(1 + |s|²), with s centred; the gains g come centred."""
    n = len(scores)
    mean = scores.mean()
    square, along, length = 1.0, 0.0, 0.0
    for row in range(n):
        centred = scores[row] - mean
        square += centred * centred
        along += gains[row] * centred
        length += gains[row] * gains[row]
    norm = np.sqrt(square)
    for row in range(n):
        gradient[row] = 0.5 * (along / square * (scores[row] - mean) - gains[row]) / norm
    return float(0.5 * (np.sqrt(length) - along / norm))


@dataclass(frozen=True, kw_only=True)
class CosineLoss(OfGains):
    """One minus the cosine of gains and scores, halved (Qin et al. 2008), in the form consistent with NDCG.

    Gains are divided by the query's best DCG, not by their own length, which is what makes the loss consistent
    (Ravikumar, Tewari and Yang 2011). Gains and scores are centred, as a constant moves no document, and |s| is
    replaced by sqrt(1 + |s|²), which is smooth at 0 and makes the scale of w matter to ``|w|²/C``. Not convex.
    """

    name: ClassVar[str] = "cosine loss"
    convex: ClassVar[bool] = False
    smooth: ClassVar[bool] = True

    def prepare(self, data: Dataset) -> Prepared:
        """Divide the gains by the best DCG of their query and centre them."""
        refuse_row_weights(data, self.name)
        labels = require_labels(data, self.name)
        gains = gains_of(labels, self.gain)
        best = greatest(gains, discounts(data.longest), data.indptr)
        gains = gains * np.repeat(np.divide(1.0, best, out=np.zeros_like(best), where=best > 0), data.sizes)
        means = np.add.reduceat(gains, data.indptr[:-1]) / data.sizes
        return Kernels(data.indptr, gains - np.repeat(means, data.sizes), np.empty(0), _cosine, ranks=False)
