"""IPrec: the best precision at a recall or beyond, the points of a recall-precision graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from argrank._types import Floats
from argrank.errors import OptionError, shown
from argrank.measures.conventions import Convention
from argrank.measures.measure import ByRelevance
from argrank.measures.rankings import Rankings

POINTS = tuple(point / 10 for point in range(11))


@dataclass(frozen=True, repr=False)
class IPrec(ByRelevance):
    """The greatest precision at any rank that has found a share ``recall`` of the relevant documents, 0 if none has.

    ``IPrec@0.1`` is that at a recall of 0.1; without one, the mean over 0, 0.1, …, 1 (trec_eval's 11pt_avg). The share
    of R documents is rounded as trec_eval 9 does it, to floor(recall · R + 0.9). Undefined where R is 0.

    Tied documents are returned together: precision is taken below a group of them, not within.
    """

    spelling = "IPrec"
    aliases = ("iprec", "iprec_at_recall")
    reaches_one = True
    averages_ties = False  # the maximum of several precisions has no closed form for its mean over orders

    recall: float | None = None
    rel: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.recall is None:
            return
        if isinstance(self.recall, bool) or not isinstance(self.recall, int | float) or not 0 <= self.recall <= 1:
            raise OptionError(f"IPrec@…: expected a recall from 0 to 1, got {shown(self.recall)}")
        object.__setattr__(self, "recall", float(self.recall))

    @property
    def name(self) -> str:
        """The name, with the recall after the @."""
        own = f"({', '.join(words)})" if (words := self._parameters()) else ""
        return f"{self.spelling}{own}" + ("" if self.recall is None else f"@{self.recall!r}")

    def _parameters(self) -> list[str]:
        return [word for word in super()._parameters() if not word.startswith("recall=")]

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        found = np.cumsum(rankings.relevant(convention.relevant_at), axis=1, dtype=np.float64)
        precision = found / rankings.ranks
        counted = rankings.there
        if rankings.ties is not None:
            inner = np.ones(len(rankings.ties.cells), bool)
            inner[np.cumsum(rankings.ties.sizes) - 1] = False
            counted.reshape(-1)[rankings.ties.cells[inner]] = False
        n_relevant = rankings.n_relevant(convention.relevant_at)
        points = POINTS if self.recall is None else (self.recall,)
        sums = np.zeros(rankings.n_queries)
        for point in points:
            needed = np.floor(point * n_relevant + 0.9)
            sums += np.where(counted & (found >= needed[:, None]), precision, 0.0).max(axis=1)
        return np.where(n_relevant > 0, sums / len(points), np.nan)
