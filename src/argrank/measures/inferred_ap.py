"""infAP: average precision inferred from judgements of a part of the pool."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from argrank._types import Floats, Integers
from argrank.data.unjudged import JUDGED, OUTSIDE
from argrank.measures.average_precision import hypergeometric
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure, ratio, total
from argrank.measures.rankings import Rankings
from argrank.measures.ties import TieGroups

EPSILON = 0.00001  # trec_eval's smoothing of a share of few judged documents


@dataclass(frozen=True, repr=False)
class InfAP(Measure):
    """The mean over the relevant documents of their inferred precision (Yilmaz and Aslam 2006); undefined without one.

    Above a relevant document at rank i are c documents of the pool, of which j are judged and r relevant. Its precision
    is (1 + c (r + e) / (j + 2 e)) / i with a small e: the pool's documents that were not judged are as often relevant
    as those that were, and documents outside the pool are not relevant. A relevance below 0 in the judgements means
    that a document is in the pool and was not judged.

    Expected over ties it is exact: given how many judged documents of the group stand above, the relevant ones among
    them and the unjudged ones of the pool are independent, and the precision is linear in both.
    """

    spelling = "infAP"
    aliases = ("infap", "inferred_ap")

    rel: float | None = None

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        n_relevant = rankings.n_relevant(convention.relevant_at)
        return ratio(total(_terms(rankings, convention.relevant_at)), n_relevant)

    def columns(self, rankings: Rankings, convention: Convention) -> dict[str, Floats]:
        """Return at every rank the chance that it holds a relevant document, and its term of the sum."""
        level = self.adapt(convention).relevant_at
        return {"relevant": rankings.relevance(level)[0], "inferred precision": _terms(rankings, level)[0]}


def _terms(rankings: Rankings, relevant_at: float) -> Floats:
    relevant, judged, pooled = rankings.relevant(relevant_at), rankings.there, rankings.there
    if rankings.gaps is not None:
        judged, pooled = judged & (rankings.gaps == JUDGED), pooled & (rankings.gaps != OUTSIDE)
    above: list[Floats] = [np.cumsum(one, axis=1) - one.astype(np.float64) for one in (relevant, judged, pooled)]
    terms = np.where(relevant, _precision(above[0], above[1], above[2], rankings.ranks), 0.0)
    if rankings.ties is not None:
        counts = [one.reshape(-1)[rankings.ties.first] for one in above]
        kinds = np.where(relevant, 0, np.where(judged, 1, np.where(pooled, 2, 3)))
        _set_expected(terms, rankings.ties, counts, kinds.reshape(-1))
    return terms


def _precision(relevant: Floats, judged: Floats, pooled: Floats, ranks: Floats) -> Floats:
    return np.asarray((1.0 + pooled * ((relevant + EPSILON) / (judged + 2.0 * EPSILON))) / ranks)


def _set_expected(terms: Floats, ties: TieGroups, above: list[Floats], kinds: Integers) -> None:
    """Set the terms of every tied cell to the chance of a relevant document there times its expected precision.

    ``above`` counts relevant, judged and pooled documents above every group; ``kinds`` says for every cell whether its
    document is relevant (0), judged (1), only pooled (2) or neither (3).
    """
    for group, (first, size) in enumerate(zip(ties.first.tolist(), ties.sizes.tolist(), strict=True)):
        own = np.bincount(kinds[first : first + size], minlength=4)
        place = np.arange(size, dtype=np.float64)[:, None]  # documents of the group above
        terms.reshape(-1)[first : first + size] = 0.0
        if own[0] == 0:
            continue
        relevant, judged, pooled = (float(one[group]) for one in above)
        others, outside = float(own[0] - 1 + own[1]), float(own[2] + own[3])  # beside the document itself
        hits = np.arange(others + 1.0)[None, :]  # judged ones above
        chance = hypergeometric(hits, np.array(others + outside), np.array(others), place)
        share = hits * ((own[0] - 1) / others if others else 0.0)
        gaps = np.maximum(place - hits, 0.0) * (own[2] / outside if outside else 0.0)
        rank = first % ties.width + place + 1.0
        value = _precision(relevant + share, judged + hits, pooled + hits + gaps, rank)
        terms.reshape(-1)[first : first + size] = (own[0] / size) * (chance * value).sum(axis=1)
