"""RankBoost: boosting of threshold rankers on pairs, without forming a pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from argrank._declared import Count
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.measures.structure import level_numbers
from argrank.objectives.objective import query_shares
from argrank.rankers.boosted.stumps._thresholds import Choice, Search, ThresholdRanker, Thresholds

MOST_MARGIN = 1.0 - 1e-9  # a threshold that orders every pair would get an infinite weight


@dataclass(eq=False, repr=False, kw_only=True)
class RankBoost(ThresholdRanker):
    """Additive step functions of single features by boosting on pairs (Freund et al. 2003).

    A weak ranker is 1 where a feature exceeds a threshold and 0 elsewhere; pairs (better i, worse j) weigh
    exp(f_j - f_i). The weight of pairs that a weak ranker orders rightly less that of those it orders wrongly is a sum
    over documents of a potential, which takes two running sums over the levels; then one pass over a feature gives
    its best threshold: O(n) per round and feature. Thresholds are all values of a feature, or 255 evenly chosen ones if
    it has more.

    ``objective_`` is the mean over pairs of exp(f_j - f_i).

    Parameters
    ----------
    n_jobs
        Not used: the rounds are sequential.
    """

    minimises: ClassVar[str] = "pairs in the wrong order"

    n_rounds: Count = 300

    def _search(self, data: Dataset) -> Search:
        return _Pairs(data)


class _Pairs:
    """The pairs of different label of every query, weighted only by their query."""

    def __init__(self, data: Dataset) -> None:
        self.thresholds = Thresholds(data)
        levels = level_numbers(data.y, data.indptr).astype(np.int64)
        self._n_queries, self._n_levels = data.n_queries, int(levels.max()) + 1
        self._query = data.query_of_row
        self._cell = self._query * self._n_levels + levels
        self._sizes, self._starts = data.sizes, data.indptr[:-1]
        self._weight = (query_shares(data) * data.n_queries)[self._query]
        counts = self._table(np.ones(data.n_documents))
        below = np.cumsum(counts, axis=1) - counts
        self._total = float((below.reshape(-1)[self._cell] * self._weight).sum())

    def look(self, scores: Floats) -> tuple[float, Floats]:
        """Return the mean over pairs of exp(f_worse - f_better) and its potentials, minus its slope by the scores."""
        if self._total == 0:
            return 0.0, np.zeros_like(scores)
        centred = scores - np.repeat(np.add.reduceat(scores, self._starts) / self._sizes, self._sizes)
        up, down = np.exp(centred), np.exp(-centred)
        table_up, table_down = self._table(up), self._table(down)
        lower = (np.cumsum(table_up, axis=1) - table_up).reshape(-1)[self._cell]
        higher = (np.cumsum(table_down[:, ::-1], axis=1)[:, ::-1] - table_down).reshape(-1)[self._cell]
        share = self._weight / self._total
        return float((share * down * lower).sum()), share * (down * lower - up * higher)

    def choose(self, scores: Floats, objective: float, potentials: Floats) -> Choice | None:
        """Return the threshold with the greatest margin: the weight it orders rightly less that it orders wrongly."""
        margins = self.thresholds.sums_above(potentials) / objective
        feature, cut = (int(i) for i in np.unravel_index(int(np.argmax(np.abs(margins))), margins.shape))
        margin = float(np.clip(margins[feature, cut], -MOST_MARGIN, MOST_MARGIN))
        step = 0.5 * float(np.log((1.0 + margin) / (1.0 - margin)))
        return None if abs(margin) < 1e-12 else Choice(feature, cut, step, ("margin", abs(margin)))

    def _table(self, values: Floats) -> Floats:
        sums = np.bincount(self._cell, weights=values, minlength=self._n_queries * self._n_levels).astype(np.float64)
        return sums.reshape(self._n_queries, self._n_levels)
