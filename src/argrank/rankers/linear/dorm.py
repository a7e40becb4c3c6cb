"""DORM: measures of the form sum of gains times discounts, on the positions map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from argrank._declared import Positive
from argrank.data.dataset import Dataset
from argrank.measures.measure import Measure
from argrank.measures.product import is_product
from argrank.objectives.structured.hinge import Bound, Reference
from argrank.rankers.estimator import GainsAndDiscounts
from argrank.rankers.linear.linear_ranker import CutOff
from argrank.rankers.linear.structured_ranker import MeasureHinge


@dataclass(eq=False, repr=False, kw_only=True)
class DORM(CutOff, GainsAndDiscounts, MeasureHinge):
    """Linear ranker for NDCG@k on the positions map: ``w·phi`` is the sum of the scores times a decay of the rank.

    The most violated ranking is an assignment, solved exactly with far smaller problems than the paper's n x n.

    The default is the tight bound, started from RankSVM, with C = 100, chosen on validation parts; the paper's is
    ``bound="convex"``, which has its optimum at w = 0 on data like OHSUMED. The default reference is not the
    paper's y*, one ideal ranking: "averaged" is the mean over *all* rankings without loss, which does not depend on the
    order of equal documents in the file; ``reference="any"`` is the paper's.

    Parameters
    ----------
    decay : optional
        Weight of the ranks in the positions map: "sqrt" (default), a power, "linear", "log2", "loglog", "measure" or a
        vector that never rises.
    reference
        The ideal ranking that the convex bound compares with: the mean of all ideal ones, one that keeps equal labels
        in their order (the paper's), or the order of the rows.
    """

    ranker: ClassVar[str] = "dorm"

    C: Positive = 100.0
    bound: Bound = "tight"
    measure: Any = "ndcg"
    decay: Any = None
    reference: Reference = "averaged"

    def _trains(self, measure: Measure, data: Dataset | None) -> bool:
        return is_product(measure, self._convention(), data) and measure.cut("auto", self.cutoff) == measure

    def _hinge_options(self) -> dict[str, Any]:
        return {"feature_map": "positions", "scale": None, "decay": self.decay, "reference": self.reference}
