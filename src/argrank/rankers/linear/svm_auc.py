"""SVMauc: the area under the ROC curve, as structured hinge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from argrank._declared import Positive
from argrank.measures.auc import AUC
from argrank.measures.measure import Measure
from argrank.objectives.structured.hinge import Margin, Scale
from argrank.rankers.linear.structured_ranker import HingeBound, StructuredRanker


@dataclass(eq=False, repr=False, kw_only=True)
class SVMauc(StructuredRanker):
    """Linear ranker for AUC: the mean over a query's pairs of ``max(0, 1 - 2 w·(x_i - x_j))``.

    Pairs are all of different label, so what it trains and reports is ``AUC(graded=True)``. It is RankSVM's hinge,
    averaged within queries, with margin 1/2. C was chosen on validation parts.

    Parameters
    ----------
    scale
        "pairs" divides the map by the number of pairs, None leaves sums; C then has another scale.
    margin
        For graded labels: a margin of 1 for every pair, or of the difference of the labels, which asks more of pairs
        that differ much.
    """

    ranker: ClassVar[str] = "svm-auc"

    C: Positive = 100.0
    bound: HingeBound = "convex"
    scale: Scale = "pairs"
    margin: Margin = "unit"

    def _hinge_options(self) -> dict[str, Any]:
        return {"scale": self.scale, "margin": self.margin}

    @property
    def _asked(self) -> Measure:
        return AUC(graded=True)
