"""SVMmap: average precision, as structured hinge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from argrank._declared import Positive
from argrank.measures.average_precision import AP
from argrank.measures.measure import Measure
from argrank.rankers.linear.structured_ranker import FeatureMap, HingeBound, MeasureHinge


@dataclass(eq=False, repr=False, kw_only=True)
class SVMmap(FeatureMap, MeasureHinge):
    """Linear ranker for MAP; the most violated ranking is found by divide and conquer in O(n log n).

    Documents from label ``relevant_at`` up are good. The default is the convex bound, which did not collapse on any
    data set at hand; C was chosen on validation parts. On few queries ``bound="tight", C=1e4`` is often better.
    """

    ranker: ClassVar[str] = "svm-map"
    cutoff: ClassVar[int | None] = None
    kinds: ClassVar[tuple[type[Measure], ...]] = (AP,)

    C: Positive = 100.0
    bound: HingeBound = "convex"
    measure: Any = "map"
