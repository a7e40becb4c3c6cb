"""What objectives that smooth a measure share: the measure, the width of the smoothing, what is best for a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._jit import LazyKernel
from argrank.data.dataset import Dataset
from argrank.errors import check_positive
from argrank.objectives.objective import Kernels, Objective, Prepared, refuse_row_weights
from argrank.objectives.structured.positions.oracle import require_single_good
from argrank.objectives.structured.positions.product import ProductProblem, greatest, product_problem
from argrank.objectives.structured.problem import Problem


@dataclass(frozen=True)
class SmoothMeasure(Objective):
    """A measure of the form a · b, and sigma."""

    convex: ClassVar[bool] = False
    smooth: ClassVar[bool] = True

    measure: Any = "ndcg@10"
    k: Any = "auto"
    discount: Any = "log2"
    gain: Any = "exp2"
    relevant_at: float = 1.0
    a: Any = None
    b: Any = None
    sigma: float = 1.0

    def __post_init__(self) -> None:
        check_positive("sigma", self.sigma)
        for parameter in ("a", "b"):
            if isinstance(getattr(self, parameter), np.ndarray | list):
                object.__setattr__(self, parameter, tuple(np.asarray(getattr(self, parameter), np.float64).tolist()))
        _ = self.problem

    @property
    def problem(self) -> Problem:
        """The parameters, resolved."""
        return product_problem(self.name, self.measure, self.a, self.b, **self._given)

    @property
    def _given(self) -> dict[str, Any]:
        return {
            "k": self.k, "gain": self.gain, "discount": self.discount, "relevant_at": self.relevant_at,
            "feature_map": "positions", "scale": None, "decay": None, "reference": "averaged", "margin": "unit",
        }  # fmt: skip

    def _product(self, problem: ProductProblem, data: Dataset, kernel: LazyKernel, constant: float) -> Prepared:
        """Prepare gains, worth and the greatest values for a kernel of one constant and what the ranks are worth."""
        refuse_row_weights(data, self.name)
        if problem.kind == "RR":
            require_single_good(problem, data)
        gains, worth = problem.gains(data), problem.worth(int(data.sizes.max()))
        reach = int(np.flatnonzero(worth)[-1]) + 1 if worth.any() else 0
        constants = np.concatenate(([constant], worth[:reach]))
        return AboveMinus(Kernels(data.indptr, gains, constants, kernel), greatest(gains, worth, data))


class AboveMinus(Prepared):
    """A prepared objective plus a constant a query."""

    def __init__(self, inner: Prepared, constants: Any) -> None:
        self.indptr, self.ranks = inner.indptr, inner.ranks
        self._inner, self._constants = inner, constants

    def evaluate(self, first: int, last: int, scores: Any, order: Any, gradient: Any) -> Any:
        """Add the constants."""
        return self._inner.evaluate(first, last, scores, order, gradient) + self._constants[first:last]
