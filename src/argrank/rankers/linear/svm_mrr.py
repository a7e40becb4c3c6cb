"""SVMmrr: the reciprocal rank of the first good document, as structured hinge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from argrank.measures.measure import Measure
from argrank.objectives.structured import StructuredHinge
from argrank.rankers.linear._linear import StructuredRanker, reported, with_cutoff


@dataclass(eq=False, repr=False, kw_only=True)
class SVMmrr(StructuredRanker):
    """Linear ranker for MRR@k; on the first map the most violated ranking takes O(n), without a sort.

    ``feature_map="pairs"`` is the alternative that the paper compares with (Figure 7).

    All parameters are those of ``StructuredRanker``.
    """

    ranker: ClassVar[str] = "svm-mrr"

    measure: Any = "mrr"
    k: Any = "auto"
    relevant_at: float = 1.0
    feature_map: str = "pairs"
    scale: str | None = "pairs"

    def _objective(self) -> StructuredHinge:
        convention = self._convention(relevant_at=self.relevant_at)
        return self._hinge(self._asked, convention, feature_map=self.feature_map, scale=self.scale)

    @property
    def _optimised(self) -> Measure:
        return reported(self._asked)

    @property
    def _asked(self) -> Any:
        return with_cutoff(self.measure, self.k, default=10)
