"""LambdaMART: trees grown on LambdaRank's gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank.data.dataset import Dataset
from argrank.linesearch.landscape import Landscape
from argrank.models._tree import Tree
from argrank.models.trees import TreesModel
from argrank.objectives.lambdas import Lambdas
from argrank.rankers._base import Outcome
from argrank.rankers._boosting import BoostedRanker
from argrank.rankers._growth import Growth
from argrank.rankers._trace import Watcher


class LambdaMART(BoostedRanker):
    """Boosted trees on LambdaRank's gradients for NDCG, DCG, MAP, MRR or ERR (Burges 2010).

    For NDCG the gradients are those of LightGBM's ``lambdarank``, except that documents of equal score count as the
    mean over their orders instead of in the order of the rows. Trees are LightGBM's. Needs the extra ``trees``.

    Parameters
    ----------
    n_trees : int
        Number of rounds, one tree each.
    n_leaves : int
        Most leaves a tree may have.
    learning_rate : float
        Weight of every tree.
    truncation : int
        Pairs count that have a document above this rank.
    sigmoid : float
        Steepness of the pairwise logistic function.
    lambda_norm : bool
        Whether gradients are normalised within a query, as LightGBM does.
    min_documents : int
        Fewest training documents in a leaf.
    feature_fraction : float
        Share of the features, drawn anew for every tree, that it may split.
    categorical_features : sequence of column numbers or feature names, optional
        Features whose values, whole numbers from 0 up, have no order.
    measure : str
        What the gradients are for, what ``score`` and the trace report, and what early stopping looks at.
    early_stopping : int, optional
        Stop when ``measure`` on the first ``eval_set`` has not improved for so many rounds, and keep the best round.
    normalise : str, optional
        A normaliser's name, applied before training and kept with the model; none by default.
    random_state : int
        Seeds the draw of features.
    n_jobs : int, optional
        Threads; None for all cores. The result has the same bits for any number.
    verbose : int
        -1 hides the progress bar.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(40, 30, 5, truth="nonlinear", random_state=1)
    >>> ranker = ar.make_ranker("lambda-mart", n_trees=20, n_leaves=8, measure="map").fit(data)
    >>> len(ranker.model_.trees), ranker.score(data) > 0.8
    (20, True)
    """

    def __init__(
        self,
        *,
        n_trees: int = 100,
        n_leaves: int = 31,
        learning_rate: float = 0.1,
        truncation: int = 30,
        sigmoid: float = 1.0,
        lambda_norm: bool = True,
        min_documents: int = 20,
        feature_fraction: float = 1.0,
        categorical_features: Sequence[int | str] | None = None,
        measure: Any = "ndcg@10",
        early_stopping: int | None = None,
        normalise: str | None = None,
        random_state: int = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_trees = n_trees
        self.n_leaves = n_leaves
        self.learning_rate = learning_rate
        self.truncation = truncation
        self.sigmoid = sigmoid
        self.lambda_norm = lambda_norm
        self.min_documents = min_documents
        self.feature_fraction = feature_fraction
        self.categorical_features = categorical_features
        self.measure = measure
        self.early_stopping = early_stopping
        self.normalise = normalise
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _train(self, data: Dataset, watcher: Watcher, start: NDArray[np.float64] | None) -> Outcome:
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


def _loss(landscape: Landscape, scores: NDArray[np.float64]) -> float:
    """Return 1 - measure on the training data, 1 where the measure is undefined for every query."""
    return 1.0 - landscape.value(scores).mean if landscape.is_defined else 1.0
