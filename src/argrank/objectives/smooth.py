"""SmoothGrad: a measure a · b whose ranks are held softly by the documents that score nearly as high."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._jit import query_kernel
from argrank.data.dataset import Dataset
from argrank.measures.names import measure as parse_measure
from argrank.objectives._smooth_measure import AboveMinus, SmoothMeasure
from argrank.objectives.objective import Kernels, Prepared, refuse_row_weights
from argrank.objectives.smooth_precision import smooth_average_precision
from argrank.objectives.structured.positions.product import ProductProblem
from argrank.objectives.structured.problem import Problem, resolve


@query_kernel
def smooth_product(scores: Any, order: Any, gains: Any, constants: Any, gradient: Any) -> float:
    """Find minus the smooth measure, -sum of a_r e_r, and its gradient.

    Constants: 1/sigma², a(0), a(1), … to the last rank that counts. Rank r is held by document i with the weight p_ir
    proportional to h_ir = exp(-(s_i - s_o(r))² / (2 sigma²)), o(r) being the document at rank r, and is worth the mean
    gain e_r = sum of b_i p_ir. The document at the rank itself has h = 1, so no sum of h is below 1. O(n k).
    """
    n = len(scores)
    inverse = constants[0]
    for row in range(n):
        gradient[row] = 0.0
    value = 0.0
    weight = np.empty(n)
    for r in range(min(n, len(constants) - 1)):
        at = order[r]
        centre, total, mean = scores[at], 0.0, 0.0
        for row in range(n):
            away = scores[row] - centre
            weight[row] = np.exp(-0.5 * inverse * away * away)
            total += weight[row]
            mean += weight[row] * gains[row]
        mean /= total
        value += constants[1 + r] * mean
        factor = constants[1 + r] * inverse / total
        moved = 0.0
        for row in range(n):
            part = factor * weight[row] * (gains[row] - mean) * (scores[row] - centre)
            gradient[row] += part
            moved += part
        gradient[at] -= moved
    return -value


@dataclass(frozen=True)
class SmoothGrad(SmoothMeasure):
    """What the smooth measure lacks of the greatest value (ORM section 5, with the factor a_j that the paper omits).

    ``loss = max a · b - sum over ranks j of a_j sum over documents i of b_i h_ij / sum of h_ij``, h as in the paper.
    For sigma towards 0 it is the loss of the ranking by score. It is not convex, with kinks where the ranking changes.
    Average precision, which is no product, has a smooth form from the same h (Chapelle and Wu 2010, SmoothRank).

    Parameters
    ----------
    measure, k, discount, gain, relevant_at, a, b
        The measure, as in ``orm``; also "map".
    sigma : float
        Width of the smoothing, in units of the score.
    """

    name: ClassVar[str] = "smooth-grad"

    @property
    def problem(self) -> Problem:
        """The parameters, resolved."""
        if self.a is None and self.b is None and parse_measure(self.measure).spelling == "AP":
            return resolve(name=self.name, measure=self.measure, default_k=None, **self._given)
        return super().problem

    def prepare(self, data: Dataset) -> Prepared:
        """Prepare gains, worth of the ranks and the greatest values."""
        problem = self.problem
        if isinstance(problem, ProductProblem):
            return self._product(problem, data, smooth_product, self.sigma**-2)
        refuse_row_weights(data, self.name)
        relevance = problem.relevance(data)
        constants = np.array([self.sigma**-2, problem.k or data.sizes.max()], np.float64)
        any_relevant = np.maximum.reduceat(relevance, data.indptr[:-1])
        return AboveMinus(Kernels(data.indptr, relevance, constants, smooth_average_precision), any_relevant)
