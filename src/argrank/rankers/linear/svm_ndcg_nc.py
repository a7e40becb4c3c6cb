"""SVMndcg-nc: NDCG without a cut-off, as structured hinge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from argrank._declared import Positive
from argrank.measures.measure import Measure
from argrank.measures.ndcg import NDCG
from argrank.rankers.linear.structured_ranker import FeatureMap, HingeBound, StructuredRanker
from argrank.rankers.parameters import GainsAndDiscounts


@dataclass(eq=False, repr=False, kw_only=True)
class SVMndcgNC(FeatureMap, GainsAndDiscounts, StructuredRanker):
    """Linear ranker for NDCG of the whole list, good against bad documents.

    Divide and conquer for convex discounts, two cases of it for LETOR's, the full table for any other. The default is
    the tight bound, started from RankSVM, with a C chosen on validation parts: there the paper's convex bound does not
    collapse, but learned less than least squares on OHSUMED.

    Parameters
    ----------
    gain : "binary", table or callable
        Gain of a label; more than two different gains take a table that grows with the product of their numbers.
    feature_map : "pairs", "positions" or a registered name
        How a ranking becomes a feature vector; the default is the paper's.
    """

    ranker: ClassVar[str] = "svm-ndcg-nc"

    C: Positive = 1e4
    bound: HingeBound = "tight"
    gain: Any = "binary"

    @property
    def _asked(self) -> Measure:
        return NDCG()
