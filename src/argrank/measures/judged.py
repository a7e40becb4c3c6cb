"""Judged: the share of judged documents among the first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from argrank._types import Floats
from argrank.data.unjudged import OUTSIDE
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure, total
from argrank.measures.rankings import Rankings


@dataclass(frozen=True, repr=False)
class Judged(Measure):
    """The share of documents among the first k (or all) that are in the judgements. Never undefined.

    Lists shorter than k are divided by their length, and an empty list has 0. If it is low, other measures say more
    about the judgements than about the system. It is always 1 on data in which all documents are judged.
    """

    spelling = "Judged"
    aliases = ("judged", "judged_at")
    reaches_one = True

    k: int | None = None

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        known = judged_share(rankings)[:, : self.k]
        return total(known) / np.clip(rankings.sizes, 1, self.k)

    def columns(self, rankings: Rankings, convention: Convention) -> dict[str, Floats]:
        """Return at every rank the chance that it holds a judged document."""
        return {"judged": judged_share(rankings)[0]}


def judged_share(rankings: Rankings) -> Floats:
    """Return at every rank 1 for a document that is in the judgements, else 0; expected over ties."""
    known = rankings.there.astype(np.float64)
    if rankings.gaps is not None:
        known[rankings.gaps == OUTSIDE] = 0.0
    if rankings.ties is not None:
        flat = known.reshape(-1)
        flat[rankings.ties.cells] = rankings.ties.means(flat[rankings.ties.cells])
    return known
