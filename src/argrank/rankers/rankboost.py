"""RankBoost: boosting of threshold rankers on pairs, without forming a pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._jit import kernel, read_only
from argrank.data.dataset import Dataset
from argrank.errors import OptionError, shown
from argrank.models.stumps import StumpsModel
from argrank.objectives._base import query_shares
from argrank.objectives.pairwise import level_numbers
from argrank.rankers._base import BaseRanker, Outcome
from argrank.rankers._trace import Watcher

Floats = NDArray[np.float64]

MOST_THRESHOLDS = 255  # a document's place among them fits a byte
SEPARATED = 1e-9  # mean weight of the pairs at which all of them are in the right order by far
MOST_MARGIN = 1.0 - 1e-9  # a threshold that orders every pair would get an infinite weight


@kernel(
    lambda types: types.void(types.Array(types.uint8, 2, "C", readonly=True), read_only(types), types.float64[:, ::1])
)
def _add_up(places: Any, potentials: Any, sums: Any) -> None:
    """Fill in, for every feature, the sums of the potentials of the documents of each place."""
    for feature in range(places.shape[0]):
        for place in range(sums.shape[1]):
            sums[feature, place] = 0.0
        for row in range(places.shape[1]):
            sums[feature, places[feature, row]] += potentials[row]


@dataclass(eq=False, repr=False, kw_only=True)
class RankBoost(BaseRanker):
    """Additive step functions of single features by boosting on pairs (Freund et al. 2003).

    A weak ranker is 1 where a feature exceeds a threshold and 0 elsewhere; pairs (better i, worse j) weigh
    exp(f_j - f_i). The weight of pairs that a weak ranker orders rightly less that of those it orders wrongly is a sum
    over documents of a potential, which takes two running sums over the levels; then one pass over a feature gives
    its best threshold: O(n) a round and feature. Thresholds are all values of a feature, or 255 evenly chosen where
    it has more.

    ``objective_`` is the mean over pairs of exp(f_j - f_i).

    Parameters
    ----------
    n_rounds : int
        Weak rankers taken.
    measure : str
        What ``score`` and the validation column of ``trace_`` report; it does not enter the training.
    normalise : str, optional
        A normaliser's name, applied before training and kept with the model; none by default.
    n_jobs : int, optional
        Not used: rounds follow upon each other.
    verbose : int
        -1 hides the progress bar.
    """

    n_rounds: int = 300
    measure: Any = "ndcg@10"
    normalise: str | None = None
    n_jobs: int | None = None
    verbose: int = 0

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        if isinstance(self.n_rounds, bool) or not isinstance(self.n_rounds, int | np.integer) or self.n_rounds < 1:
            raise OptionError(f"n_rounds: expected a whole number from 1 up, got {shown(self.n_rounds)}")
        places, thresholds = _binned(data.X)
        pairs = _Pairs(data)
        scores = np.zeros(data.n_documents)
        held = [np.zeros(part.data.n_documents) for part in watcher.validations]
        features, cuts, steps = [], [], []
        sums = np.empty((data.n_features, MOST_THRESHOLDS + 1))
        objective, potentials = pairs.look(scores)
        for _ in range(self.n_rounds):
            if objective < SEPARATED:
                break
            _add_up(places, potentials, sums)
            margins = np.cumsum(sums[:, ::-1], axis=1)[:, ::-1][:, 1:] / objective  # of the places above each threshold
            feature, cut = np.unravel_index(int(np.argmax(np.abs(margins))), margins.shape)
            margin = float(np.clip(margins[feature, cut], -MOST_MARGIN, MOST_MARGIN))
            if abs(margin) < 1e-12:  # no threshold orders more pairs rightly than wrongly
                break
            step = 0.5 * float(np.log((1.0 + margin) / (1.0 - margin)))
            features.append(int(feature))
            cuts.append(float(thresholds[feature][cut]))
            steps.append(step)
            scores += step * (places[feature] > cut)
            objective, potentials = pairs.look(scores)
            latest = StumpsModel(np.array([feature]), np.array(cuts[-1:]), np.array([step]), data.n_features)
            held = [old + latest.scores(part.data.X) for old, part in zip(held, watcher.validations, strict=True)]
            watcher.record(held, {"objective": objective, "margin": abs(margin)})
        model = StumpsModel(np.array(features, np.int64), np.array(cuts), np.array(steps), data.n_features)
        return Outcome(model, objective, np.nan, len(features))


class _Pairs:
    """The pairs of different label of every query, all alike in weight but for the queries' own."""

    def __init__(self, data: Dataset) -> None:
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

    def _table(self, values: Floats) -> Floats:
        sums = np.bincount(self._cell, weights=values, minlength=self._n_queries * self._n_levels).astype(np.float64)
        return sums.reshape(self._n_queries, self._n_levels)


def _binned(X: Any) -> tuple[NDArray[np.uint8], list[Floats]]:
    """Return every document's place among the thresholds of each feature (how many it exceeds), and the thresholds."""
    columns = X if isinstance(X, np.ndarray) else X.tocsc()
    places = np.empty((X.shape[1], X.shape[0]), np.uint8)
    thresholds = []
    for feature in range(X.shape[1]):
        column = columns[:, [feature]]
        values = np.asarray(column if isinstance(column, np.ndarray) else column.toarray(), np.float64).reshape(-1)
        different = np.unique(values)[:-1]  # nothing exceeds the greatest
        if len(different) > MOST_THRESHOLDS:
            chosen = np.linspace(0, len(different) - 1, MOST_THRESHOLDS)  # however often the values occur
            different = different[np.round(chosen).astype(np.int64)]
        places[feature] = np.searchsorted(different, values)
        padding = np.full(MOST_THRESHOLDS - len(different), np.inf)
        thresholds.append(np.concatenate((different, padding)))
    return places, thresholds
