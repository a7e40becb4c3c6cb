"""AdaRank: boosting of single features as rankers, with more weight on queries that are ranked badly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from argrank._declared import Count
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.data.mapped import by_column
from argrank.evaluation.evaluate import evaluate
from argrank.measures.measure import Measure
from argrank.models.linear import LinearModel
from argrank.objectives.objective import query_shares
from argrank.rankers.base_ranker import BaseRanker
from argrank.rankers.boosted.stumps._thresholds import column_of
from argrank.rankers.estimator import Measured
from argrank.rankers.trace import Interruption, Outcome, Watcher
from argrank.rankers.training_data import notes_of_scales

ALMOST_PERFECT = 1.0 - 1e-9  # a weak ranker this good would get an infinite weight


@dataclass(eq=False, repr=False, kw_only=True)
class AdaRank(Measured, BaseRanker):
    """Linear ranker by boosting (Xu and Li 2007): weak rankers are the single features, ascending or descending.

    Every round takes the feature with the best weighted mean of the measure, gives it the weight
    1/2 log(sum of P (1 + E) / sum of P (1 - E)), and weighs queries by exp(-E) of the ranker so far. Choosing the
    feature of the previous round again would change no ranking and never end, so a feature is excluded for one round.

    ``objective_`` is the mean over queries of exp(-E), as in the paper's bound.

    Parameters
    ----------
    measure : str
        E: "map", "ndcg@10" or any other that lies between 0 and 1. Queries for which it is undefined do not count.
    n_rounds
        Number of chosen features, with repetition. It is the only regulariser; choose it by validation.
    normalise
        A normaliser's name, applied before training and stored with the model; none by default. Features are added
        unscaled, so they should have comparable ranges.
    """

    measure: Any = "map"
    n_rounds: Count = 50

    def _trains(self, measure: Measure, data: Dataset | None) -> bool:
        return measure.bounds[0] >= 0.0 and measure.bounds[1] <= 1.0

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        columns = by_column(data, "AdaRank")
        values = [self._per_query(column_of(columns, j), data) for j in range(data.n_features)]
        reverse = [self._per_query(-column_of(columns, j), data) for j in range(data.n_features)]
        weak = np.stack((*values, *reverse), axis=1)  # query x (feature up, feature down)
        counted = np.isfinite(weak).all(axis=1)
        shares = np.where(counted, query_shares(data), 0.0)
        weights, scores = np.zeros(data.n_features), np.zeros(data.n_documents)
        if not counted.any():
            return Outcome(LinearModel(weights), 0.0, np.nan, 0)
        weak[~counted] = 0.0
        watcher.notes += notes_of_scales(data, self.n_jobs, penalised=False)
        shares /= shares.sum()
        chances, before, objective, rounds = shares, -1, 1.0, 0
        found = watcher.keeper.resumed()
        if found is not None:
            weights, scores, chances = found["weights"], found["scores"], found["chances"]
            before, objective, rounds = found["before"], found["objective"], found["rounds"]
        watcher.expect(self.n_rounds)
        with Interruption(lambda: rounds) as stop:
            while rounds < self.n_rounds:
                means = chances @ weak
                if before >= 0:
                    means[before] = -np.inf
                chosen = int(np.argmax(means))
                mean = min(float(means[chosen]), ALMOST_PERFECT)
                feature, sign = chosen % data.n_features, 1.0 if chosen < data.n_features else -1.0
                step = sign * 0.5 * np.log((1.0 + mean) / (1.0 - mean))
                scores = scores + step * column_of(columns, feature)
                reached = np.where(counted, self._per_query(scores, data), 0.0)
                losses = shares * np.exp(-reached)
                latest = weights.copy()
                latest[feature] += step
                facts = {"objective": float(losses.sum()), "measure": float(shares @ reached)}
                watcher(latest, facts)
                weights, objective, before, rounds = latest, facts["objective"], chosen, rounds + 1
                chances = losses / objective
                kept = {"weights": weights, "scores": scores, "chances": chances}
                watcher.keeper.offer({**kept, "before": before, "objective": objective, "rounds": rounds})
        return Outcome(LinearModel(weights), objective, np.nan, rounds, stop.stop, stop.note)

    def _per_query(self, scores: Floats, data: Dataset) -> Floats:
        found = evaluate(data.to_caller(scores), data, self.measure, n_jobs=self.n_jobs)
        return next(iter(found.values.values()))
