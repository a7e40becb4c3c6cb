"""Rprec: precision at the rank that is the number of relevant documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from argrank._types import Floats
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure, ratio, total
from argrank.measures.rankings import Rankings


@dataclass(frozen=True, repr=False)
class Rprec(Measure):
    """Relevant documents among the first R, divided by R, the number of relevant ones; undefined where R is 0."""

    spelling = "Rprec"
    aliases = ("rprec", "r_prec", "r_precision")
    reaches_one = True

    rel: float | None = None

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        n_relevant = rankings.n_relevant(convention.relevant_at)
        counted = rankings.ranks <= n_relevant[:, None]
        return ratio(total(np.where(counted, rankings.relevance(convention.relevant_at), 0.0)), n_relevant)

    def columns(self, rankings: Rankings, convention: Convention) -> dict[str, Floats]:
        """Return at every rank the chance that it holds a relevant document."""
        return {"relevant": rankings.relevance(self.adapt(convention).relevant_at)[0]}
