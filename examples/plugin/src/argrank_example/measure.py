"""An example measure: whether the first document is relevant; where scores tie, the probability of that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import argrank as ar


@dataclass(frozen=True, repr=False)
class FirstHit(ar.Measure):
    """1 where the first document is relevant, else 0."""

    spelling = "FirstHit"
    aliases = ("firsthit",)

    rel: float | None = None

    def _values(self, rankings, convention):
        return np.ascontiguousarray(rankings.relevance(convention.relevant_at)[:, 0])
