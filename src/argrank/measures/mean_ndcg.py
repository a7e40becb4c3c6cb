"""MeanNDCG: the mean of NDCG over all cut-offs, as the scripts of LETOR 4.0 report it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from argrank._types import Floats
from argrank.measures.conventions import Convention
from argrank.measures.dcg import DCG, terms
from argrank.measures.measure import total
from argrank.measures.ndcg import ideal_terms
from argrank.measures.rankings import Rankings
from argrank.measures.structure import Structure


@dataclass(frozen=True, repr=False)
class MeanNDCG(DCG):
    """The mean of NDCG@1, …, NDCG@n for a list of n documents; with k the mean of NDCG@1, …, NDCG@min(k, n)."""

    spelling = "MeanNDCG"
    aliases = ("meanndcg", "mean_ndcg")
    bounds = (0.0, 1.0)
    reaches_one = True

    def _structure(self, convention: Convention) -> Structure | None:
        return None

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        dcg = np.cumsum(terms(rankings.gains(convention.gain, convention.relevant_at, self.k), convention), axis=1)
        ideal = np.zeros_like(dcg)
        found = np.cumsum(ideal_terms(rankings, convention, self.k), axis=1)
        depth = min(found.shape[1], dcg.shape[1])
        ideal[:, :depth] = found[:, :depth]
        ideal[:, depth:] = found[:, -1:]  # fewer judged documents than ranked ones: the ideal stays constant
        depths = rankings.sizes if self.k is None else np.minimum(rankings.sizes, self.k)
        used = (np.arange(dcg.shape[1]) < depths[:, None]) & (ideal > 0)
        each = np.divide(dcg, ideal, out=np.zeros_like(dcg), where=used)
        return np.where(found[:, -1] > 0, total(each) / np.maximum(depths, 1), np.nan)
