"""SVMndcg: NDCG with a cut-off, as structured hinge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from argrank._declared import Positive
from argrank.measures.dcg import DCG
from argrank.measures.measure import Measure
from argrank.measures.precision import P
from argrank.rankers.linear.linear_ranker import CutOff
from argrank.rankers.linear.structured_ranker import FeatureMap, HingeBound, MeasureHinge
from argrank.rankers.parameters import GainsAndDiscounts


@dataclass(eq=False, repr=False, kw_only=True)
class SVMndcg(CutOff, FeatureMap, GainsAndDiscounts, MeasureHinge):
    """Linear ranker for NDCG@k; the most violated ranking takes O(n log n + k²), graded labels a little more.

    Also for ``measure="p@10"`` and ``"dcg@10"``, which have the same structure.

    The default is the tight bound, started from RankSVM: the paper's convex bound (``bound="convex"``) has its optimum
    at w = 0 on data like OHSUMED, for every C. C = 10,000 was best on validation parts, since the map is a mean over
    pairs and its weights are long.
    """

    ranker: ClassVar[str] = "svm-ndcg"
    kinds: ClassVar[tuple[type[Measure], ...]] = (DCG, P)

    C: Positive = 1e4
    bound: HingeBound = "tight"
    measure: Any = "ndcg"
