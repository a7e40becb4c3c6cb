"""Fidelity loss of pairs: FRank's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._jit import query_kernel
from argrank.data.dataset import Dataset
from argrank.measures.structure import level_numbers
from argrank.objectives.objective import Kernels, Objective, Prepared, refuse_row_weights, require_labels


@query_kernel
def _fidelity(scores: Any, order: Any, gains: Any, constants: Any, gradient: Any) -> float:
    """Mean over pairs of 1 - sqrt(P) = (1 - P) / (1 + sqrt(P)), which cancels nothing; ``gains`` are level numbers."""
    n = len(scores)
    for row in range(n):
        gradient[row] = 0.0
    loss, n_pairs = 0.0, 0
    for better in range(n):
        for worse in range(n):
            if gains[better] > gains[worse]:
                apart = scores[better] - scores[worse]
                tail = np.exp(-abs(apart))
                wrong = tail / (1.0 + tail) if apart >= 0.0 else 1.0 / (1.0 + tail)  # 1 - P
                root = np.sqrt(1.0 / (1.0 + tail) if apart >= 0.0 else tail / (1.0 + tail))
                loss += wrong / (1.0 + root)
                gradient[better] -= 0.5 * root * wrong
                gradient[worse] += 0.5 * root * wrong
                n_pairs += 1
    if n_pairs == 0:
        return 0.0
    for row in range(n):
        gradient[row] /= n_pairs
    return float(loss / n_pairs)


@dataclass(frozen=True, kw_only=True)
class Fidelity(Objective):
    """Mean over a query's pairs of the fidelity loss 1 - sqrt(P), P = 1 / (1 + exp(-(s_better - s_worse))).

    Tsai et al. 2007, the better document being better for certain (their P* = 1). A pair costs at most 1 however
    wrong it is, so no query outweighs others; not convex.
    """

    name: ClassVar[str] = "fidelity loss"
    convex: ClassVar[bool] = False
    smooth: ClassVar[bool] = True

    def prepare(self, data: Dataset) -> Prepared:
        """Number the label levels."""
        refuse_row_weights(data, self.name)
        levels = level_numbers(require_labels(data, self.name), data.indptr)
        return Kernels(data.indptr, levels, np.empty(0), _fidelity, ranks=False)
