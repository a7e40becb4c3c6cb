"""Smoothed measures: soft assignments of documents to ranks by their scores, or scores with Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from argrank._declared import Positive
from argrank._jit import LazyKernel, query_kernel
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.errors import OptionError
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure
from argrank.measures.structure import Structure, greatest
from argrank.objectives.objective import (
    Kernels,
    Objective,
    Prepared,
    Shifted,
    refuse_row_weights,
    require_labels,
    row_gains,
)
from argrank.objectives.structured.hinge import refuse_several_relevant


@query_kernel
def smooth_product(scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats) -> float:
    """Find minus the smooth measure, -sum of a_r e_r, and its gradient.

    Constants: 1/sigma², a(0), a(1), … to the last rank that counts. Rank r is held by document i with the weight p_ir
    proportional to h_ir = exp(-(s_i - s_o(r))² / (2 sigma²)), o(r) being the document at rank r, and gains the mean
    e_r = sum of b_i p_ir. The document at the rank itself has h = 1, so no sum of h is below 1. O(n k).
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


@query_kernel
def smooth_average_precision(
    scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats
) -> float:
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


@query_kernel
def expected_product(scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats) -> float:
    """Find minus the expected measure and its gradient.

    Constants: 1/(2 sigma), a(0), a(1), … to the last rank that counts. For every document with a gain,
    going through the others one by one gives the distribution of how many of them beat it, as far as ranks count;
    going back gives the expected discount from each partial rank, and so the slope with respect to every probability.
    O(n k) each.
    """
    n, inverse = len(scores), constants[0]
    k = min(n, len(constants) - 1)
    value = 0.0
    for row in range(n):
        gradient[row] = 0.0
    chance = np.empty((n + 1, k + 1))  # [i, r + 1]: that r of the first i others beat the document; [i, 0] stays 0
    chance[:, 0] = 0.0
    beaten, promised = np.empty(n), np.empty(k + 1)
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
            promised[r] = constants[1 + r]
            value += gains[document] * promised[r] * chance[n, r + 1]
        promised[k] = 0.0
        for other in range(n - 1, -1, -1):
            slope = 0.0
            for r in range(k):
                change = promised[r + 1] - promised[r]
                slope += change * chance[other, r + 1]
                promised[r] += beaten[other] * change
            if other != document:
                away = inverse * (scores[document] - scores[other])
                part = gains[document] * slope * inverse / np.sqrt(np.pi) * np.exp(-away * away)
                gradient[document] += part
                gradient[other] -= part
    return -value


@dataclass(frozen=True, kw_only=True)
class SmoothedMeasure(Objective):
    """The greatest value minus the smoothed measure (ORM section 5, with the factor a_j that the paper omits).

    ``loss = max a · b - sum over ranks j of a_j sum over documents i of b_i h_ij / sum of h_ij``, h as in the paper.
    For sigma towards 0 it is the loss of the ranking by score. It is not convex, with kinks where the ranking changes.
    Average precision, which is not a product, has a smooth form from the same h (Chapelle and Wu 2010, SmoothRank).
    """

    name: ClassVar[str] = "smooth-grad"
    convex: ClassVar[bool] = False
    smooth: ClassVar[bool] = True

    measure: Measure
    convention: Convention
    sigma: Positive

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1e-150 < self.sigma < 1e150:  # its square has to be a number
            raise OptionError(f"sigma: expected a number between 1e-150 and 1e150, got {self.sigma!r}")
        if not self._is_precision:
            product_of(self.measure, self.convention, self.name)

    @property
    def _is_precision(self) -> bool:
        structure = self.measure.structure(self.convention)
        return structure is not None and structure.kind == "precision"

    def prepare(self, data: Dataset) -> Prepared:
        """Prepare gains, discounts of the ranks and the greatest values."""
        if not self._is_precision:
            product = product_of(self.measure, self.convention, self.name)
            return prepare_product(product, data, self.name, smooth_product, self.sigma**-2)
        refuse_row_weights(data, self.name)
        relevance = self.measure.levels(require_labels(data, self.name), self.convention)
        constants = np.array([self.sigma**-2, self.measure.cutoff or data.longest], np.float64)
        any_relevant = np.maximum.reduceat(relevance, data.indptr[:-1])
        return Shifted(Kernels(data.indptr, relevance, constants, smooth_average_precision), any_relevant)


@dataclass(frozen=True, kw_only=True)
class ExpectedMeasure(Objective):
    """The greatest value minus the expected measure (SoftRank: Taylor, Guiver, Robertson and Minka 2008).

    Scores are Gaussian with standard deviation sigma around those given. Document i beats j with probability
    Phi((s_i - s_j) / (sqrt(2) sigma)), and the rank of j is distributed as if all these contests were independent, as
    in the paper. For sigma towards 0 the loss is that of the ranking by score. Smooth, not convex. O(n k) for every
    document with a gain, k the last rank that counts.
    """

    name: ClassVar[str] = "softrank"
    convex: ClassVar[bool] = False
    smooth: ClassVar[bool] = True

    measure: Measure
    convention: Convention
    sigma: Positive

    def __post_init__(self) -> None:
        super().__post_init__()
        product_of(self.measure, self.convention, self.name)

    def prepare(self, data: Dataset) -> Prepared:
        """Prepare gains, discounts of the ranks and the greatest values."""
        product = product_of(self.measure, self.convention, self.name)
        return prepare_product(product, data, self.name, expected_product, 0.5 / self.sigma)


def product_of(measure: Measure, convention: Convention, name: str) -> Structure:
    """Return a measure as a product a · b, or raise where it is not one."""
    product = measure.as_product(convention)
    if product is None:
        raise OptionError(f"{name}: expected a measure of the form a · b, such as ndcg@10, got {measure}")
    return product


def prepare_product(product: Structure, data: Dataset, name: str, kernel: LazyKernel, constant: float) -> Prepared:
    """Prepare gains, greatest values, and the constants of a kernel: one of its own, then the discounts."""
    refuse_row_weights(data, name)
    refuse_several_relevant(product, data, name)
    gains, discounts = row_gains(product, data, name), product.discounts(data.longest)
    if (np.diff(discounts) > 0).any():
        raise OptionError(f"{name}: expected a discount that never rises")
    gains = gains * np.repeat(product.factors(data.y, data.indptr), data.sizes)
    reach = int(np.flatnonzero(discounts)[-1]) + 1 if discounts.any() else 0
    constants = np.concatenate(([constant], discounts[:reach]))
    return Shifted(Kernels(data.indptr, gains, constants, kernel), greatest(gains, discounts, data.indptr))
