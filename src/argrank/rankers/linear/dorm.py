"""DORM: measures of the form sum of gains times discounts, on the positions map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from argrank.rankers.linear.linear_ranker import StructuredRanker


@dataclass(eq=False, repr=False, kw_only=True)
class DORM(StructuredRanker):
    """Linear ranker for NDCG@k on the positions map: ``w·phi`` is the sum of the scores times a decay of the rank.

    The most violated ranking is an assignment, solved exactly by far smaller problems than the paper's n x n.

    The default is the tight bound, started from RankSVM, with C = 100, chosen on validation parts; the paper's is
    ``bound="convex"``, which has its optimum at w = 0 on data like OHSUMED. The default reference is not the
    paper's y*, one ideal ranking: "averaged" is the mean over *all* rankings without loss, which does not depend on the
    order of equal documents in the file; ``reference="any"`` is the paper's reading.

    Parameters
    ----------
    decay : optional
        Weight of the ranks in the positions map: "sqrt" (default), a power, "linear", "log2", "loglog", "measure" or a
        vector that never rises.
    reference : "averaged", "any" or "given"
        The ideal ranking that the convex bound compares with: the mean of all ideal ones, one that keeps equal labels
        in their order (the paper's), or the rows as they come.
    """

    ranker: ClassVar[str] = "dorm"
    feature_map, scale = "positions", None  # no parameters here

    C: float = 100.0
    bound: str = "tight"
    measure: Any = "ndcg"
    k: Any = "auto"
    discount: Any = "log2"
    gain: Any = "exp2"
    relevant_at: float = 1.0
    decay: Any = None
    reference: str = "averaged"
