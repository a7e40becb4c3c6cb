"""Which kernel walks which kind of measure, and what the kernel has to know of the labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.data.grouping import offsets
from argrank.linesearch import counting, sweep
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure

#: What ``sweep`` and ``count_above`` call the kinds of measures of ``argrank.measures.structure`` that they can do.
SWEEP = {"additive": sweep.ADDITIVE, "first": sweep.CASCADE, "cascade": sweep.CASCADE, "precision": sweep.PRECISION}
COUNT = {"additive": counting.GAIN, "first": counting.FIRST, "precision": counting.AVERAGE, "pairs": counting.PAIRS}


@dataclass(frozen=True)
class Route:
    """A measure as the kernels see it: gains of rows, scale of queries, discounts of ranks, 0 from ``depth`` on.

    ``swap`` is the kind for ``sweep`` and ``count`` the kind for ``count_above``; None where that kernel cannot.
    """

    gains: Floats
    scale: Floats
    discounts: Floats
    depth: int
    swap: int | None
    count: int | None


def route(
    measure: Measure, rules: Convention, data: Dataset, judged: Mapping[Any, Floats] | None = None
) -> Route | None:
    """Return how a measure is walked; None for one that has no kernel. ``judged``: all labels by query id."""
    structure = measure.structure(rules)
    if structure is None:
        return None
    gains = structure.gains(data.y)
    if structure.kind == "pairs" and not np.isin(gains, (0.0, 1.0)).all():
        return None  # pairs are counted between two levels only
    widest = int(data.sizes.max())
    depth = widest if measure.cutoff is None else min(measure.cutoff, widest)
    discounts = np.append(structure.discounts(depth), np.zeros(widest + 1 - depth))
    swap, count = SWEEP.get(structure.kind), COUNT.get(structure.kind)
    whole_list = measure.cutoff is None and count is not None
    labels, indptr = data.y, data.indptr
    if judged is not None and structure.divisor in ("ideal", "gains"):
        known = [judged[qid] for qid in data.query_ids.tolist()]
        labels, indptr = np.concatenate(known), offsets(np.array([len(part) for part in known]))
    scale = structure.factors(labels, indptr)
    return Route(gains, scale, discounts, depth, None if whole_list else swap, count)
