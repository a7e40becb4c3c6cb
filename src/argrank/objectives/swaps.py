"""LambdaRank's gradients for any function of a ranking: every pair is swapped, and the function called."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from argrank._jit import kernel, own_type, read_only
from argrank._types import Floats, Integers


def _signature(types: ModuleType) -> Any:
    read, whole, write = read_only(types), read_only(types, "int64"), types.float64[::1]
    return types.void(
        own_type(types), read, whole, read, read, read, whole, types.int64, types.float64, types.int64, write, write
    )


@kernel(_signature)
def push_by_swaps(
    function: Any,
    scores: Floats,
    order: Integers,
    labels: Floats,
    worths: Floats,
    weights: Floats,
    indptr: Integers,
    truncation: int,
    sigmoid: float,
    normalised: int,
    gradient: Floats,
    hessian: Floats,
) -> None:
    """Fill in the gradients and curvatures of a block of queries, see ``argrank.objectives.lambdas``.

    ``function`` takes the worths in ranked order; ``weights`` of the rows are empty where all are 1. Pairs whose swap
    makes the function undefined contribute nothing, nor do queries for which it is undefined.
    """
    for query in range(len(indptr) - 1):
        a, b = indptr[query] - indptr[0], indptr[query + 1] - indptr[0]
        n = b - a
        gradient[a:b] = 0.0
        hessian[a:b] = 0.0
        ranked = np.empty(n)
        for rank in range(n):
            ranked[rank] = worths[a + order[a + rank]]
        here, total = function(ranked), 0.0
        if np.isnan(here):
            continue
        soften = normalised != 0 and scores[a + order[a]] != scores[a + order[b - 1]]
        for i in range(min(truncation, n)):
            for j in range(i + 1, n):
                good, bad = a + order[a + i], a + order[a + j]
                if labels[good] == labels[bad] or ranked[i] == ranked[j]:
                    continue
                if labels[good] < labels[bad]:
                    good, bad = bad, good
                ranked[i], ranked[j] = ranked[j], ranked[i]
                delta = abs(function(ranked) - here)
                ranked[i], ranked[j] = ranked[j], ranked[i]
                if not delta > 0.0:
                    continue
                ahead = scores[good] - scores[bad]
                if len(weights) > 0:
                    delta *= weights[good] * weights[bad]
                if soften:
                    delta /= 0.01 + abs(ahead)
                rho = 1.0 / (1.0 + np.exp(sigmoid * ahead))
                push, curve = sigmoid * rho * delta, sigmoid * sigmoid * rho * (1.0 - rho) * delta
                gradient[good] -= push
                gradient[bad] += push
                hessian[good] += curve
                hessian[bad] += curve
                total += 2.0 * push
        if normalised != 0 and total > 0.0:
            factor = np.log2(1.0 + total) / total
            gradient[a:b] *= factor
            hessian[a:b] *= factor
