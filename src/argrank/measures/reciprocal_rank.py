"""RR: reciprocal rank of the first relevant document, whose mean over queries is MRR."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats
from argrank.measures.conventions import Convention
from argrank.measures.discounts import cut_discounts
from argrank.measures.gains import relevance
from argrank.measures.measure import Measure, total
from argrank.measures.rankings import Rankings
from argrank.measures.structure import Structure
from argrank.measures.ties import TieGroups


@dataclass(frozen=True, repr=False)
class RR(Measure):
    """1 / rank of the first relevant document, 0 below rank k; undefined where no document is relevant.

    Expected over ties: only the first group with a relevant document counts. Of its m documents r are relevant; the
    first relevant one comes at place t with the chance that t - 1 others precede it, a product of t factors.
    """

    spelling = "RR"
    aliases = ("rr", "mrr", "recip_rank", "reciprocal_rank")
    reaches_one = True

    k: int | None = None
    rel: float | None = None

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        value = first_relevant(rankings, convention.relevant_at, self.k, np.reciprocal)
        return np.where(rankings.n_relevant(convention.relevant_at) > 0, value, np.nan)

    def _structure(self, convention: Convention) -> Structure:
        return Structure("first", relevance(convention.relevant_at), cut_discounts("reciprocal", self.k))

    def as_product(self, convention: Convention) -> Structure:
        """Return the product that equals the reciprocal rank where at most one document of a query is relevant."""
        return replace(self.structure(convention), kind="additive", one_relevant=True)

    def structure(self, convention: Convention) -> Structure:
        """Return the cascade of relevant documents."""
        return replace(self._structure(self.adapt(convention)), name=self.name)

    def columns(self, rankings: Rankings, convention: Convention) -> dict[str, Floats]:
        """Return at every rank the chance that it holds a relevant document, and its reciprocal."""
        level = self.adapt(convention).relevant_at
        return {"relevant": rankings.relevance(level)[0], "1 / rank": 1.0 / rankings.ranks}


def first_relevant(rankings: Rankings, relevant_at: float, k: int | None, discount: Callable[[Any], Any]) -> Floats:
    """Return the discount of the first relevant document's rank, expected over ties; 0 where there is none to k."""
    relevant = rankings.relevant(relevant_at)
    first = np.argmax(relevant, axis=1)
    cells = np.arange(rankings.n_queries) * rankings.width + first
    found = relevant.reshape(-1)[cells]
    if k is not None:
        found &= first < k
    value = np.where(found, discount(first + 1.0), 0.0)
    if rankings.ties is not None:
        groups = rankings.ties.holding(cells)
        tied = np.flatnonzero(groups >= 0)
        value[tied] = _expected(relevant, rankings.ties, groups[tied], k, discount)
    return value


def _expected(
    relevant: NDArray[np.bool_],
    ties: TieGroups,
    groups: NDArray[np.intp],
    k: int | None,
    discount: Callable[[Any], Any],
) -> Floats:
    """Return the expected discount where the first relevant document lies in the given groups."""
    if len(groups) == 0:
        return np.empty(0)
    start, size = ties.first[groups] % ties.width, ties.sizes[groups].astype(np.float64)
    in_group = ties.sums(relevant.reshape(-1)[ties.cells].astype(np.float64))[groups]
    deepest = int(size.max()) if k is None else min(int(size.max()), k)
    place = np.arange(deepest)
    left = np.maximum(size[:, None] - place, 1.0)  # documents of the group not yet placed
    chance_now = np.minimum(in_group[:, None] / left, 1.0)
    chance = chance_now.copy()
    chance[:, 1:] *= np.cumprod(1.0 - chance_now, axis=1)[:, :-1]
    rank = start[:, None] + place + 1.0
    counted = (place < size[:, None]) & (in_group[:, None] > 0)
    if k is not None:
        counted &= rank <= k
    return total(np.where(counted, chance * discount(rank), 0.0))
