"""AP: average precision, whose mean over queries is MAP."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats
from argrank.measures.conventions import Convention
from argrank.measures.discounts import cut_discounts
from argrank.measures.gains import relevance
from argrank.measures.measure import Measure, ratio, total
from argrank.measures.rankings import Rankings
from argrank.measures.structure import Structure
from argrank.measures.ties import TieGroups


@dataclass(frozen=True, repr=False)
class AP(Measure):
    """The mean of the precision at the ranks of the relevant documents; undefined if there is none.

    Expected over ties: in a group of m documents, r of them relevant, with c relevant ones above it, the document at
    place t is relevant with probability r/m, and then c + 1 + (t - 1)(r - 1)/(m - 1) relevant ones are expected down
    to it. Denominators that depend on the order ("hits") are averaged over the number of hits above the cut-off.
    """

    spelling = "AP"
    aliases = ("ap", "map", "map_cut", "average_precision")
    reaches_one = True

    k: int | None = None
    rel: float | None = None

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
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
            _set_over_hits(result, rankings, relevant, rankings.ties, min(self.k, rankings.width))
        return np.where(n_relevant > 0, result, np.nan)

    def _structure(self, convention: Convention) -> Structure | None:
        if self.k is not None and convention.ap_denominator != "relevant":
            return None
        discounts = cut_discounts("reciprocal", self.k)
        return Structure("precision", relevance(convention.relevant_at), discounts, "gains")

    def columns(self, rankings: Rankings, convention: Convention) -> dict[str, Floats]:
        """Return at every rank the chance that it holds a relevant document, and its term of the sum."""
        level = self.adapt(convention).relevant_at
        relevant = rankings.relevant(level)
        return {
            "relevant": rankings.relevance(level)[0],
            "precision if relevant": precision_terms(rankings, relevant)[0],
        }


def precision_terms(rankings: Rankings, relevant: NDArray[np.bool_]) -> Floats:
    """Return at every rank its precision where the document is relevant, else 0; expected over ties."""
    held = relevant.astype(np.float64)
    terms = np.cumsum(held, axis=1)
    ties = rankings.ties
    above = None if ties is None else _above(ties, relevant, terms)
    terms *= held
    terms /= rankings.ranks
    if ties is not None and above is not None:
        in_group = ties.sums(relevant.reshape(-1)[ties.cells].astype(np.float64))
        chance = ties.spread(in_group / ties.sizes)
        others = ties.place * ties.spread((in_group - 1.0) / (ties.sizes - 1.0))
        terms.reshape(-1)[ties.cells] = chance * (ties.spread(above) + 1.0 + others) / ties.ranks
    return terms


def _above(ties: TieGroups, relevant: NDArray[np.bool_], count: Floats) -> Floats:
    """Return the number of relevant documents above every group."""
    return np.asarray(count.reshape(-1)[ties.first] - relevant.reshape(-1)[ties.first])


def _set_over_hits(result: Floats, rankings: Rankings, relevant: NDArray[np.bool_], ties: TieGroups, k: int) -> None:
    """Set the expected AP@k over the hits down to rank k, where a tie group lies across or ends at rank k.

    Only such a group makes the number of hits uncertain. Given that h of its r relevant documents lie among its s
    places above the cut, these h are spread evenly over the s places.
    """
    groups = ties.holding(np.arange(rankings.n_queries) * rankings.width + k - 1)
    rows = np.flatnonzero(groups >= 0)
    groups = groups[rows]
    start, size = ties.first[groups] % ties.width, ties.sizes[groups]
    held = relevant.reshape(-1)[ties.cells].astype(np.float64)
    in_group = ties.sums(held)[groups]
    above = _above(ties, relevant, np.cumsum(relevant, axis=1, dtype=np.float64))[groups]
    columns = np.arange(k)
    inside = columns >= start[:, None]
    fixed = total(np.where(inside, 0.0, precision_terms(rankings, relevant)[rows, :k]))
    places = k - start.astype(np.float64)
    place = columns - start[:, None]
    value = np.zeros(len(rows))
    for hits in range(int(np.minimum(in_group, places).max(initial=-1)) + 1):
        chance = hypergeometric(hits, size.astype(np.float64), in_group, places)
        others = place * ((hits - 1) / np.maximum(places - 1.0, 1.0))[:, None]
        spread = (hits / places)[:, None] * (above[:, None] + 1.0 + others) / (columns + 1.0)
        sums = fixed + total(np.where(inside, spread, 0.0))
        value += chance * np.divide(sums, above + hits, out=np.zeros_like(sums), where=above + hits > 0)
    result[rows] = value


def hypergeometric(hits: int | Floats, size: Floats, relevant: Floats, places: Floats) -> Floats:
    """Return the chance of ``hits`` relevant documents among ``places`` drawn from ``size``."""
    from scipy.special import gammaln

    def log_choose(n: Floats, m: Floats) -> Floats:
        return np.asarray(gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m + 1))

    rest = size - relevant
    possible = (hits <= relevant) & (hits <= places) & (places - hits <= rest)
    safe = np.where(possible, hits, np.maximum(places - rest, 0.0))
    logarithm = log_choose(relevant, safe) + log_choose(rest, places - safe) - log_choose(size, places)
    return np.where(possible, np.exp(logarithm), 0.0)
