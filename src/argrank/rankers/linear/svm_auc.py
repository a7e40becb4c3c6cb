"""SVMauc: the area under the ROC curve, as structured hinge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from argrank.measures.auc import AUC
from argrank.measures.measure import Measure
from argrank.rankers.linear.linear_ranker import StructuredRanker


@dataclass(eq=False, repr=False, kw_only=True)
class SVMauc(StructuredRanker):
    """Linear ranker for AUC: the mean over a query's pairs of ``max(0, 1 - 2 w·(x_i - x_j))``.

    Pairs are all of different label, so what it trains and reports is ``AUC(graded=True)``. It is RankSVM's hinge,
    averaged within queries, with margin 1/2. C was chosen on validation parts.

    Parameters
    ----------
    margin : "unit" or "labels"
        For graded labels: a margin of 1 for every pair, or of the difference of the labels, which asks more of pairs
        that differ much.
    """

    ranker: ClassVar[str] = "svm-auc"

    C: float = 100.0
    scale: str | None = "pairs"
    margin: str = "unit"

    @property
    def _asked(self) -> Measure:
        return AUC(graded=True)
