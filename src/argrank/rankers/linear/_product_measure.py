"""Parameters of rankers for any measure of the form a · b."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from argrank._declared import Count
from argrank.data.dataset import Dataset
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure
from argrank.measures.names import measure as parse_measure
from argrank.measures.product import asked_measure, is_product
from argrank.rankers.estimator import GainsAndDiscounts, Measured


@dataclass(eq=False, repr=False, kw_only=True)
class ProductMeasure(Measured, GainsAndDiscounts):
    """The parameters of a measure of the form a · b.

    Parameters
    ----------
    measure : str or Measure
        Any of the form a · b: "ndcg@k", "dcg@k", "p@k", "r@k", "rbp", "eru", "neru", "wta", also "mrr" if every query
        has at most one relevant document (else see svm-mrr).
    k
        Cut-off of the measure; "auto" for the one in its name, None for none. With the default measure it replaces the
        10. A small one uses few documents of each query.
    a, b : optional
        Your own measure instead of ``measure``: discounts of the ranks (numbers, extended by zeros, or a callable of
        the ranks 1, 2, …) and gains of the labels (a table or a callable of the labels; ``gain`` if not given).
    """

    k: Count | Literal["auto"] | None = "auto"
    a: Any = None
    b: Any = None

    @property
    def _optimised(self) -> Measure:
        default = isinstance(self.measure, str) and self.measure == type(self).measure and self.k != "auto"
        named = parse_measure(self.measure).whole_list() if default else self.measure
        return asked_measure(named, self.k, self.a, self.b, self.gain)

    @property
    def _has_default_measure(self) -> bool:
        return super()._has_default_measure and self.k == "auto" and self.a is None

    def _trains(self, measure: Measure, data: Dataset | None) -> bool:
        return is_product(measure, Convention(**self._counting()), data)
