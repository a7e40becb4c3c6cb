"""SVMmrr: the reciprocal rank of the first good document, as structured hinge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from argrank._declared import Positive
from argrank.measures.measure import Measure
from argrank.measures.reciprocal_rank import RR
from argrank.rankers.linear.linear_ranker import CutOff
from argrank.rankers.linear.structured_ranker import FeatureMap, HingeBound, MeasureHinge


@dataclass(eq=False, repr=False, kw_only=True)
class SVMmrr(CutOff, FeatureMap, MeasureHinge):
    """Linear ranker for MRR@k, on the scaled pairs map and with the tight bound unless told otherwise.

    ``feature_map="first"`` is the paper's own map (phi_mrr), on which the most violated ranking takes O(n), without a
    sort. Where a query has several good documents that map bounds the rank of the *lowest* of them: the violator may
    put any good document first and takes the one with the lowest score, so all of them are asked to rise. Its sums over
    documents grow with the list, and its convex bound mostly has its optimum at w = 0 (``collapsed_``).

    The default C suits the tight bound on the pairs map, whose weights are long since the map is a mean over pairs.
    """

    ranker: ClassVar[str] = "svm-mrr"
    kinds: ClassVar[tuple[type[Measure], ...]] = (RR,)

    C: Positive = 1e4
    bound: HingeBound = "tight"
    measure: Any = "mrr"
