"""A measure of its own: whether the first document is relevant, the chance of it where scores tie."""

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
