"""Which kernel walks which measure, and what the kernel has to know of the labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.linesearch import counting, sweep
from argrank.measures.auc import AUC
from argrank.measures.average_precision import AP
from argrank.measures.conventions import Convention
from argrank.measures.dcg import DCG
from argrank.measures.discounts import discounts, ideal_dcg
from argrank.measures.err import ERR
from argrank.measures.gains import gains_of
from argrank.measures.measure import Measure
from argrank.measures.ndcg import NDCG
from argrank.measures.precision import P
from argrank.measures.recall import R
from argrank.measures.reciprocal_rank import RR


@dataclass(frozen=True)
class Route:
    """A measure as the kernels see it: worth of rows, scale of queries, discounts of ranks, 0 from ``depth`` on.

    ``swap`` is the kind for ``sweep`` and ``count`` the kind for ``count_above``; None where that kernel cannot.
    """

    worth: Floats
    scale: Floats
    discounts: Floats
    depth: int
    swap: int | None
    count: int | None


def route(measure: Measure, rules: Convention, data: Dataset) -> Route | None:
    """Return how a measure is walked; None for one that has no kernel."""
    kind = type(measure)
    k: int | None = getattr(measure, "k", None)
    widest = int(data.sizes.max())
    depth = widest if k is None else min(k, widest)
    ranks = np.arange(1.0, depth + 1.0)
    relevant = (data.y >= rules.relevant_at).astype(np.float64)
    n_relevant = np.add.reduceat(relevant, data.indptr[:-1])
    swap = sweep.ADDITIVE
    count: int | None = counting.GAIN
    if kind in (DCG, NDCG):
        worth, worths = gains_of(data.y, rules.gain, rules.relevant_at), discounts(depth, rules.discount)
        scale = np.ones(data.n_queries)
        if kind is NDCG:
            scale = _inverse(ideal_dcg(data.y, data.indptr, k, rules.gain, rules.discount, rules.relevant_at))
    elif kind is P:
        worth, worths, scale = relevant, np.ones(depth), 1.0 / (data.sizes if k is None else np.full(data.n_queries, k))
    elif kind is R:
        worth, worths, scale = relevant, np.ones(depth), _inverse(n_relevant)
    elif kind is RR:
        worth, worths, scale, swap, count = (
            relevant,
            1.0 / ranks,
            np.ones(data.n_queries),
            sweep.CASCADE,
            counting.FIRST,
        )
    elif kind is AP:
        worth, worths, scale = relevant, 1.0 / ranks, _inverse(n_relevant)
        swap, count = sweep.PRECISION, counting.AVERAGE
    elif kind is ERR:
        worth = (np.exp2(data.y) - 1.0) / 2.0**rules.max_grade
        worths, scale, swap, count = 1.0 / ranks, np.ones(data.n_queries), sweep.CASCADE, None
    elif kind is AUC and not getattr(measure, "graded", False):
        scale = _inverse(n_relevant * (data.sizes - n_relevant))
        return Route(relevant, scale, np.zeros(widest), widest, None, counting.PAIRS)
    else:
        return None
    whole_list = k is None and count is not None
    padded = np.append(worths, np.zeros(widest + 1 - depth))
    return Route(worth, scale, padded, depth, None if whole_list else swap, count)


def _inverse(values: Floats) -> Floats:
    return np.divide(1.0, values, out=np.zeros(len(values)), where=values > 0)
