"""SVMmap: average precision, as structured hinge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from argrank.rankers.linear.linear_ranker import StructuredRanker


@dataclass(eq=False, repr=False, kw_only=True)
class SVMmap(StructuredRanker):
    """Linear ranker for MAP; the most violated ranking is found by divide and conquer in O(n log n).

    Documents from label ``relevant_at`` up are good. The default is the convex bound, which did not collapse on any
    data set at hand; C was chosen on validation parts. On few queries ``bound="tight", C=1e4`` is often better.

    All parameters are those of ``StructuredRanker``.
    """

    ranker: ClassVar[str] = "svm-map"
    cutoff: ClassVar[int | None] = None

    C: float = 100.0
    measure: Any = "map"
    relevant_at: float = 1.0
    feature_map: str = "pairs"
    scale: str | None = "pairs"
