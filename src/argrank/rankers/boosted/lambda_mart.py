"""LambdaMART: trees grown on LambdaRank's gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.linesearch.landscape import Landscape
from argrank.models._tree import Tree
from argrank.models.trees import TreesModel
from argrank.objectives.lambdas import Lambdas
from argrank.rankers._trace import Watcher
from argrank.rankers.base_ranker import Outcome
from argrank.rankers.boosted._boosting import BoostedRanker
from argrank.rankers.boosted._growth import Growth


@dataclass(eq=False, repr=False, kw_only=True)
class LambdaMART(BoostedRanker):
    """Boosted trees on LambdaRank's gradients for NDCG, DCG, MAP, MRR or ERR (Burges 2010).

    For NDCG the gradients are those of LightGBM's ``lambdarank``, except that documents of equal score count as the
    mean over their orders instead of in the order of the rows. Trees are LightGBM's. Needs the extra ``trees``.

    Parameters
    ----------
    truncation : int
        Pairs count that have a document above this rank.
    sigmoid : float
        Steepness of the pairwise logistic function.
    lambda_norm : bool
        Whether gradients are normalised within a query, as LightGBM does.
    measure : str
        What the gradients are for.
    n_trees, n_leaves, learning_rate, min_documents, feature_fraction, categorical_features, scoring, early_stopping,
    normalise, random_state, n_jobs, verbose
        See ``BoostedRanker``.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(40, 30, 5, truth="nonlinear", random_state=1)
    >>> ranker = ar.make_ranker("lambda-mart", n_trees=20, n_leaves=8, measure="map").fit(data)
    >>> len(ranker.model_.trees), ranker.score(data) > 0.8
    (20, True)
    """

    measure: Any = "ndcg@10"
    truncation: int = 30
    sigmoid: float = 1.0
    lambda_norm: bool = True

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        lambdas = Lambdas(self.measure, self.truncation, self.sigmoid, self.lambda_norm).prepare(data, self.n_jobs)
        landscape = Landscape(data, self.measure, "expected", self.n_jobs)
        growth = Growth(data, self._settings())
        with self._rounds(data, watcher) as rounds:
            for _ in range(self.n_trees):
                gradient, hessian = lambdas(np.ascontiguousarray(rounds.scores[:, 0]))
                grown = growth.grow(gradient, hessian) if gradient.any() else None
                if grown is None:
                    break
                tree = grown[0].tree.with_values(self.learning_rate * grown[0].tree.value)
                rounds.add([tree], [tree.value.take(grown[0].leaf)])
                if not rounds.record({"objective": _loss(landscape, rounds.scores[:, 0])}):
                    break
        trees = rounds.kept or [Tree.constant(0.0, data.n_documents)]
        loss = rounds.objective if rounds.kept else _loss(landscape, rounds.scores[:, 0])
        return Outcome(TreesModel(tuple(trees), data.n_features), loss, np.nan, len(rounds.kept), rounds.complaint)


def _loss(landscape: Landscape, scores: Floats) -> float:
    """Return 1 - measure on the training data, 1 where the measure is undefined for every query."""
    return 1.0 - landscape.value(scores).mean if landscape.is_defined else 1.0
