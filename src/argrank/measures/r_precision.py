"""Rprec: precision at the rank that is the number of relevant documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from argrank._types import Floats
from argrank.measures.conventions import Convention
from argrank.measures.measure import ByRelevance, ratio, total
from argrank.measures.rankings import Rankings


@dataclass(frozen=True, repr=False)
class Rprec(ByRelevance):
    """Relevant documents among the first R, divided by R, the number of relevant ones; undefined where R is 0."""

    spelling = "Rprec"
    aliases = ("rprec", "r_prec", "r_precision")
    reaches_one = True

    rel: float | None = None

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        n_relevant = rankings.n_relevant(convention.relevant_at)
        counted = rankings.ranks <= n_relevant[:, None]
        return ratio(total(np.where(counted, rankings.relevance(convention.relevant_at), 0.0)), n_relevant)
