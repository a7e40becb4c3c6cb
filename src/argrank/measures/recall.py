"""R: recall, the share of the relevant documents that lie above rank k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from argrank._types import Floats
from argrank.measures.conventions import Convention
from argrank.measures.discounts import cut_discounts
from argrank.measures.gains import relevance
from argrank.measures.measure import ByRelevance, ratio, total
from argrank.measures.rankings import Rankings
from argrank.measures.structure import Structure


@dataclass(frozen=True, repr=False)
class R(ByRelevance):
    """Relevant documents among the first k, divided by all relevant ones; undefined where there is none."""

    spelling = "R"
    aliases = ("r", "recall", "recall_at")
    reaches_one = True

    k: int | None = None
    rel: float | None = None

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        hits = total(rankings.relevance(convention.relevant_at, self.k))
        return ratio(hits, rankings.n_relevant(convention.relevant_at))

    def _structure(self, convention: Convention) -> Structure:
        return Structure("additive", relevance(convention.relevant_at), cut_discounts(np.ones_like, self.k), "gains")
