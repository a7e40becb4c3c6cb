"""SmoothGrad: a measure a · b whose ranks are held softly by the documents that score nearly as high."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._jit import query_kernel
from argrank.data.dataset import Dataset
from argrank.errors import OptionError
from argrank.measures.names import measure as parse_measure
from argrank.objectives._base import Kernels, Objective, Prepared, refuse_row_weights
from argrank.objectives.orm.problem import ProductProblem, greatest, product_problem
from argrank.objectives.smooth_precision import smooth_average_precision
from argrank.objectives.structured.positions import require_single_good
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
class SmoothGrad(Objective):
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
    convex: ClassVar[bool] = False

    measure: Any = "ndcg@10"
    k: Any = "auto"
    discount: Any = "log2"
    gain: Any = "exp2"
    relevant_at: float = 1.0
    a: Any = None
    b: Any = None
    sigma: float = 1.0

    def __post_init__(self) -> None:
        if not self.sigma > 0 or not np.isfinite(self.sigma):
            raise OptionError(f"{self.name}: expected sigma to be a positive number, got {self.sigma!r}")
        for parameter in ("a", "b"):
            if isinstance(getattr(self, parameter), np.ndarray | list):
                object.__setattr__(self, parameter, tuple(np.asarray(getattr(self, parameter), np.float64).tolist()))
        _ = self.problem

    @property
    def problem(self) -> Problem:
        """The parameters, resolved."""
        given: dict[str, Any] = {
            "k": self.k, "gain": self.gain, "discount": self.discount, "relevant_at": self.relevant_at,
            "feature_map": "positions", "scale": None, "decay": None, "reference": "averaged", "margin": "unit",
        }  # fmt: skip
        if self.a is None and self.b is None and parse_measure(self.measure).spelling == "AP":
            return resolve(name=self.name, measure=self.measure, default_k=None, **given)
        return product_problem(self.name, self.measure, self.a, self.b, **given)

    def prepare(self, data: Dataset) -> Prepared:
        """Prepare gains, worth of the ranks and the greatest values."""
        refuse_row_weights(data, self.name)
        problem, longest = self.problem, int(data.sizes.max())
        if not isinstance(problem, ProductProblem):
            relevance = problem.relevance(data)
            constants = np.array([self.sigma**-2, problem.k or longest], np.float64)
            any_relevant = np.maximum.reduceat(relevance, data.indptr[:-1])
            return AboveMinus(Kernels(data.indptr, relevance, constants, smooth_average_precision), any_relevant)
        if problem.kind == "RR":
            require_single_good(problem, data)
        gains, worth = problem.gains(data), problem.worth(longest)
        reach = int(np.flatnonzero(worth)[-1]) + 1 if worth.any() else 0
        constants = np.concatenate(([self.sigma**-2], worth[:reach]))
        return AboveMinus(Kernels(data.indptr, gains, constants, smooth_product), greatest(gains, worth, data))


class AboveMinus(Prepared):
    """A prepared objective plus a constant a query."""

    def __init__(self, inner: Prepared, constants: Any) -> None:
        self.indptr, self.ranks = inner.indptr, inner.ranks
        self._inner, self._constants = inner, constants

    def evaluate(self, first: int, last: int, scores: Any, order: Any, gradient: Any) -> Any:
        """Add the constants."""
        return self._inner.evaluate(first, last, scores, order, gradient) + self._constants[first:last]
