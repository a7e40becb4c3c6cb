"""Bpref: how few documents judged not relevant rank above the relevant ones; unjudged ones are ignored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from argrank._types import Floats
from argrank.data.unjudged import JUDGED
from argrank.measures.conventions import Convention
from argrank.measures.gains import relevance
from argrank.measures.measure import Measure, ratio, total
from argrank.measures.rankings import Rankings
from argrank.measures.structure import Structure


@dataclass(frozen=True, repr=False)
class Bpref(Measure):
    """The mean over the R relevant documents of 1 - min(n, R) / min(N, R), 0 for those that are not returned.

    n documents judged not relevant rank above it, of N in total (Buckley and Voorhees 2004, as in trec_eval). Unjudged
    documents are ignored, which makes it robust with few judgements. Undefined if R is 0.

    Expected over ties: among m documents of its group that are judged not relevant, a relevant one has each number
    0, …, m of them above it with equal chance.
    """

    spelling = "Bpref"
    aliases = ("bpref",)
    reaches_one = True

    rel: float | None = None

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        n_relevant = rankings.n_relevant(convention.relevant_at)
        return ratio(total(self._terms(rankings, convention.relevant_at)), n_relevant)

    def _structure(self, convention: Convention) -> Structure:
        return Structure("capped pairs", relevance(convention.relevant_at), np.zeros, "capped pairs")

    def columns(self, rankings: Rankings, convention: Convention) -> dict[str, Floats]:
        """Return at every rank the chance that it holds a relevant document, and its term of the sum."""
        level = self.adapt(convention).relevant_at
        return {"relevant": rankings.relevance(level)[0], "1 - min(n, R) / min(N, R)": self._terms(rankings, level)[0]}

    def _terms(self, rankings: Rankings, relevant_at: float) -> Floats:
        relevant = rankings.relevant(relevant_at)
        against = rankings.there & ~relevant
        if rankings.gaps is not None:
            against &= rankings.gaps == JUDGED
        n_relevant = rankings.n_relevant(relevant_at)
        n_against = np.count_nonzero(rankings.judged > -np.inf, axis=1) - n_relevant
        most = np.maximum(np.minimum(n_against, n_relevant), 1.0)
        above = np.cumsum(against, axis=1, dtype=np.float64)
        terms = np.where(relevant, 1.0 - np.minimum(above, n_relevant[:, None]) / most[:, None], 0.0)
        ties = rankings.ties
        if ties is not None:
            rows = ties.first // ties.width
            limit = n_relevant[rows]
            before = above.reshape(-1)[ties.first] - against.reshape(-1)[ties.first]
            inside = ties.sums(against.reshape(-1)[ties.cells].astype(np.float64))
            rising = np.clip(limit - before, 0.0, inside + 1.0)  # numbers of documents that the limit does not cut
            sums = rising * before + rising * (rising - 1.0) / 2.0 + (inside + 1.0 - rising) * limit
            value = ties.spread(1.0 - sums / (inside + 1.0) / most[rows])
            terms.reshape(-1)[ties.cells] = np.where(relevant.reshape(-1)[ties.cells], value, 0.0)
        return terms
