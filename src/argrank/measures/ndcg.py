"""NDCG: DCG over the greatest DCG possible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from argrank._types import Floats
from argrank.measures.conventions import Convention
from argrank.measures.dcg import DCG, terms, zero_if_short
from argrank.measures.measure import ratio, total
from argrank.measures.rankings import Rankings


@dataclass(frozen=True, repr=False)
class NDCG(DCG):
    """DCG@k divided by the DCG@k of the ideal ranking; undefined where the ideal is 0.

    >>> NDCG(k=10)
    nDCG@10
    """

    spelling = "nDCG"
    aliases = ("ndcg", "ndcg_cut")
    bounds = (0.0, 1.0)
    reaches_one = True
    _divisor = "ideal"

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        dcg = total(terms(rankings.gains(convention.gain, convention.relevant_at, self.k), convention))
        ideal = ideal_terms(rankings, convention, self.k)
        greatest = total(ideal)
        value = ratio(dcg, greatest)
        if convention.normalise == "multiply":
            value = dcg * ratio(np.ones(len(dcg)), greatest)
        return np.where(greatest > 0, zero_if_short(value, rankings, convention, self.k), np.nan)


def ideal_terms(rankings: Rankings, convention: Convention, k: int | None) -> Floats:
    """Return the terms of the ideal DCG; with short "min" the ideal is no longer than the list."""
    gains = rankings.ideal_gains(convention.gain, convention.relevant_at, k)
    if convention.short == "min" and rankings.judged is not rankings.labels:
        gains = np.where(np.arange(gains.shape[1]) < rankings.sizes[:, None], gains, 0.0)
    return terms(gains, convention)
