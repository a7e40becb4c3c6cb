"""P: precision, the share of relevant documents down to rank k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from argrank._types import Floats
from argrank.errors import OptionError
from argrank.measures.conventions import Convention
from argrank.measures.discounts import cut_discounts
from argrank.measures.gains import relevance
from argrank.measures.measure import ByRelevance, total
from argrank.measures.rankings import Rankings
from argrank.measures.structure import Structure


@dataclass(frozen=True, repr=False)
class P(ByRelevance):
    """Relevant documents among the first k, divided by k; without k, by the length of the list. Never undefined."""

    spelling = "P"
    aliases = ("p", "pre", "prec", "precision", "precision_at")

    k: int | None = None
    rel: float | None = None

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        hits = total(rankings.relevance(convention.relevant_at, self.k))
        if self.k is None:
            return hits / np.maximum(rankings.sizes, 1)
        if convention.short_precision == "min":
            return hits / np.clip(rankings.sizes, 1, self.k)
        if convention.short_precision == "zero":
            hits = np.where(rankings.sizes < self.k, 0.0, hits)
        return hits / self.k

    def _structure(self, convention: Convention) -> Structure:
        gains, k = relevance(convention.relevant_at), self.k
        if k is None:
            return Structure("additive", gains, np.ones, "size")
        return Structure("additive", gains, cut_discounts(lambda ranks: np.full(len(ranks), 1.0 / k), k))

    def as_product(self, convention: Convention) -> Structure | None:
        """Return gains and discounts; without a cut-off every ranking has the same precision."""
        if self.k is None:
            raise OptionError("P: expected a cut-off, such as p@10: over the whole list all rankings are equal")
        return super().as_product(convention)
