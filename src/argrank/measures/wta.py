"""WTA: winner takes all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from argrank._types import Floats
from argrank.measures.conventions import Convention
from argrank.measures.discounts import cut_discounts
from argrank.measures.gains import relevance
from argrank.measures.measure import ByRelevance
from argrank.measures.rankings import Rankings
from argrank.measures.structure import Structure


@dataclass(frozen=True, repr=False)
class WTA(ByRelevance):
    """1 where the first document is relevant, else 0 (ORM equation 3). Never undefined."""

    spelling = "WTA"
    aliases = ("wta", "winner_takes_all")
    reaches_one = True

    rel: float | None = None

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        return rankings.relevance(convention.relevant_at, 1)[:, 0]

    @property
    def cutoff(self) -> int:
        """The first rank."""
        return 1

    def _structure(self, convention: Convention) -> Structure:
        return Structure("additive", relevance(convention.relevant_at), cut_discounts(np.ones_like, 1))
