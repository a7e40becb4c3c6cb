"""What is optimised by the rankers of any measure of the form a · b."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from argrank.measures.measure import Measure
from argrank.measures.product import asked_measure


@dataclass(eq=False, repr=False, kw_only=True)
class ProductMeasure:
    """The parameters of a measure of the form a · b.

    Parameters
    ----------
    measure : str or Measure
        Any of the form a · b: "ndcg@k", "dcg@k", "p@k", "r@k", "rbp", "eru", "neru", "wta", also "mrr" where a query
        has one relevant document (else see svm-mrr).
    k : int, None or "auto"
        Cut-off of the measure, 1 or more; "auto" for the one in its name, None for none. A small one looks at few
        documents of each query.
    discount, gain, relevant_at
        Discount of the ranks, gain of a label, smallest label of a relevant document. Set them to what your measure
        means; None for its usual definition.
    a, b : optional
        A measure of your own instead of ``measure``: discounts of the ranks (numbers, extended by zeros, or a callable
        of the ranks 1, 2, …) and gains of the labels (a table or a callable of the labels; ``gain`` where not given).
    """

    measure: Any = "ndcg@10"
    k: Any = "auto"
    discount: Any = "log2"
    gain: Any = "exp2"
    relevant_at: float = 1.0
    a: Any = None
    b: Any = None

    @property
    def _optimised(self) -> Measure:
        return asked_measure(self.measure, self.k, self.a, self.b, self.gain)
