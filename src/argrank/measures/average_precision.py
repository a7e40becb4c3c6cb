"""AP: average precision, whose mean over queries is MAP."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure, ratio, total
from argrank.measures.rankings import Rankings
from argrank.measures.ties import TieGroups


@dataclass(frozen=True, repr=False)
class AP(Measure):
    """The mean of the precision at the ranks of the relevant documents; undefined where there is none.

    Expected over ties: in a group of m documents, r of them relevant, with c relevant ones above it, the document at
    place t is relevant with probability r/m, and then c + 1 + (t - 1)(r - 1)/(m - 1) relevant ones are expected down
    to it. Denominators that depend on the order ("hits") are averaged over the number of hits above the cut-off.
    """

    spelling = "AP"
    aliases = ("ap", "map", "map_cut", "average_precision")

    k: int | None = None
    rel: float | None = None

    def _values(self, rankings: Rankings, convention: Convention) -> NDArray[np.float64]:
        relevant = rankings.relevant(convention.relevant_at)
        value = total(precision_terms(rankings, relevant)[:, : self.k])
        n_relevant = rankings.n_relevant(convention.relevant_at)
        if self.k is None or convention.ap_denominator == "relevant":
            return ratio(value, n_relevant)
        if convention.ap_denominator == "min":
            return ratio(value, np.minimum(n_relevant, self.k))
        hits = np.count_nonzero(relevant[:, : self.k], axis=1).astype(np.float64)
        result = np.where(hits > 0, ratio(value, hits), 0.0)
        if rankings.ties is not None:
            rows = rankings.ties.rows
            result[rows] = _over_hits(relevant[rows], rankings.ties, self.k)
        return np.where(n_relevant > 0, result, np.nan)

    def columns(self, rankings: Rankings, convention: Convention) -> dict[str, NDArray[np.float64]]:
        """Return at every rank the chance that it holds a relevant document, and its term of the sum."""
        level = self.adapt(convention).relevant_at
        relevant = rankings.relevant(level)
        return {
            "relevant": rankings.relevance(level)[0],
            "precision if relevant": precision_terms(rankings, relevant)[0],
        }


def precision_terms(rankings: Rankings, relevant: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return at every rank its precision where the document is relevant, else 0; expected over ties."""
    terms = np.cumsum(relevant, axis=1, dtype=np.float64)
    terms *= relevant
    terms /= rankings.ranks
    if rankings.ties is not None:
        terms[rankings.ties.rows] = _expected_terms(relevant[rankings.ties.rows], rankings.ties, rankings.ranks)
    return terms


def _expected_terms(relevant: NDArray[np.bool_], ties: TieGroups, ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    held = relevant.astype(np.float64)
    count = np.cumsum(held, axis=1)
    above = ties.at_first(count - held)
    in_group = ties.sums(held)
    place = ranks - 1.0 - ties.first
    others = place * (in_group - 1.0) / np.maximum(ties.size - 1, 1)
    return in_group / ties.size * (above + 1.0 + others) / ranks


def _over_hits(relevant: NDArray[np.bool_], ties: TieGroups, k: int) -> NDArray[np.float64]:
    """Return the expected AP@k divided by the hits down to k, over all orders within the groups.

    Only the group that straddles rank k makes the number of hits uncertain. Given that h of its r relevant documents
    lie among its s places above the cut, these h are spread evenly over the s places.
    """
    width = relevant.shape[1]
    last = min(k, width) - 1
    held = relevant.astype(np.float64)
    ranks = np.arange(1.0, width + 1.0)
    first, size = ties.first[:, last], ties.size[:, last]
    in_group = ties.sums(held)[:, last]
    above = ties.at_first(np.cumsum(held, axis=1) - held)[:, last]
    terms = np.where(np.arange(width) < first[:, None], _expected_terms(relevant, ties, ranks), 0.0)
    fixed = total(terms)
    places = (last + 1 - first).astype(np.float64)
    inside = (np.arange(width) >= first[:, None]) & (np.arange(width) <= last)
    place = np.arange(width) - first[:, None]
    result = np.zeros(len(relevant))
    for hits in range(int(min(in_group.max(initial=0), places.max(initial=0))) + 1):
        chance = _hypergeometric(hits, size, in_group, places)
        spread = (
            hits / places[:, None] * (above[:, None] + 1.0 + place * (hits - 1) / np.maximum(places - 1, 1)[:, None])
        )
        value = fixed + total(np.where(inside, spread / ranks, 0.0))
        result += chance * np.divide(value, above + hits, out=np.zeros_like(value), where=above + hits > 0)
    return result


def _hypergeometric(
    hits: int, size: NDArray[np.intp], relevant: NDArray[np.float64], places: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the chance of ``hits`` relevant documents among ``places`` drawn from ``size``."""
    from scipy.special import gammaln

    def log_choose(n: NDArray[np.float64], m: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m + 1))

    rest = np.asarray(size - relevant, np.float64)
    possible = (hits <= relevant) & (hits <= places) & (places - hits <= rest)
    safe = np.where(possible, hits, np.maximum(places - rest, 0.0))
    logarithm = (
        log_choose(relevant, safe) + log_choose(rest, places - safe) - log_choose(size.astype(np.float64), places)
    )
    return np.where(possible, np.exp(logarithm), 0.0)
