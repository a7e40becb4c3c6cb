"""MART: least squares on the labels, boosted trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from argrank.data.dataset import Dataset
from argrank.measures.gains import check_gain, gains_of
from argrank.models._tree import Tree
from argrank.models.trees import TreesModel
from argrank.objectives import objective
from argrank.objectives._base import Objective
from argrank.rankers._base import Outcome
from argrank.rankers._boosting import BoostedRanker, row_weights
from argrank.rankers._growth import Growth
from argrank.rankers._trace import Watcher


class MART(BoostedRanker):
    """Boosted regression trees that minimise the squared error of score against label (Friedman 2001).

    Each tree is fitted to what the trees before left over and added with a small weight. Trees are LightGBM's, grown
    leaf by leaf on binned features; the scores estimate the label itself. Needs the extra ``trees``.

    Parameters
    ----------
    n_trees : int
        Number of rounds, one tree each.
    n_leaves : int
        Most leaves a tree may have.
    learning_rate : float
        Weight of every tree.
    min_documents : int
        Fewest training documents in a leaf.
    feature_fraction : float
        Share of the features, drawn anew for every tree, that it may split.
    categorical_features : sequence of column numbers or feature names, optional
        Features whose values, whole numbers from 0 up, have no order.
    gain : "linear", "exp2", sequence or callable
        What is fitted: the label itself by default, or a gain of it.
    measure : str
        What ``score``, the validation column of ``trace_`` and early stopping look at.
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
    >>> train, valid = ar.make_ranking(60, 30, 5, truth="nonlinear", random_state=1).split(0.7, 0.3)
    >>> ranker = ar.make_ranker("mart", n_leaves=8, early_stopping=10).fit(train, eval_set=valid)
    >>> bool(ranker.score(valid) == max(ranker.trace_["validation"]))
    True
    """

    uses_row_weights: ClassVar[bool] = True

    def __init__(
        self,
        *,
        n_trees: int = 100,
        n_leaves: int = 31,
        learning_rate: float = 0.1,
        min_documents: int = 20,
        feature_fraction: float = 1.0,
        categorical_features: Sequence[int | str] | None = None,
        gain: Any = "linear",
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
        self.min_documents = min_documents
        self.feature_fraction = feature_fraction
        self.categorical_features = categorical_features
        self.gain = gain
        self.measure = measure
        self.early_stopping = early_stopping
        self.normalise = normalise
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _objective(self) -> Objective:
        return objective("regression", gain=self.gain)

    def _train(self, data: Dataset, watcher: Watcher, start: NDArray[np.float64] | None) -> Outcome:
        targets, weight = gains_of(data.y, check_gain(self.gain)), row_weights(data)
        mean = float((weight * targets).sum() / weight.sum())
        residual = targets - mean
        growth = Growth(data, self._settings())
        with self._rounds(data, watcher) as rounds:
            for _ in range(self.n_trees):
                grown = growth.grow(-weight * residual, weight)
                if grown is None:
                    break
                tree = grown[0].tree.with_values(self.learning_rate * grown[0].tree.value)
                output = tree.value.take(grown[0].leaf)
                rounds.add([tree], [output])
                residual -= output
                if not rounds.record({"objective": float((weight * residual**2).sum())}):
                    break
        trees = rounds.kept or [Tree.constant(0.0, data.n_documents)]
        trees[0] = trees[0].with_values(trees[0].value + mean)
        fitted = rounds.objective if rounds.kept else float((weight * residual**2).sum())
        return Outcome(TreesModel(tuple(trees), data.n_features), fitted, np.nan, rounds.best, rounds.complaint)
