"""RBP: rank-biased precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from argrank._types import Floats
from argrank.errors import OptionError, shown
from argrank.measures.conventions import Convention
from argrank.measures.discounts import cut_discounts
from argrank.measures.gains import relevance
from argrank.measures.measure import Measure, total
from argrank.measures.rankings import Rankings
from argrank.measures.structure import Structure


@dataclass(frozen=True, repr=False)
class RBP(Measure):
    """(1 - p) times the sum of p^(i - 1) over the relevant ranks i (Moffat and Zobel 2008). Never undefined.

    ``p`` is the probability that the user continues to the next document.
    """

    spelling = "RBP"
    aliases = ("rbp",)

    k: int | None = None
    p: float = 0.8
    rel: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.p, bool) or not isinstance(self.p, int | float) or not 0 < self.p < 1:
            raise OptionError(f"RBP(p=…): expected a number between 0 and 1, got {shown(self.p)}")

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        relevant = rankings.relevance(convention.relevant_at, self.k)
        return total(relevant * self._discounts(rankings.ranks[: relevant.shape[1]]))

    def _structure(self, convention: Convention) -> Structure:
        return Structure("additive", relevance(convention.relevant_at), cut_discounts(self._discounts, self.k))

    def columns(self, rankings: Rankings, convention: Convention) -> dict[str, Floats]:
        """Return at every rank the chance that it holds a relevant document, and the discount of the rank."""
        relevant = rankings.relevance(self.adapt(convention).relevant_at)[0]
        return {"relevant": relevant, "(1 - p) p^(i - 1)": self._discounts(rankings.ranks)}

    def _discounts(self, ranks: Floats) -> Floats:
        return np.asarray((1.0 - self.p) * self.p ** (ranks - 1.0), np.float64)
