"""MART: least squares on the labels, boosted trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.measures.gains import check_gain, gains_of
from argrank.models._tree import Tree
from argrank.models.trees import TreesModel
from argrank.objectives.objective import Objective
from argrank.objectives.pointwise import SquaredError
from argrank.rankers._trace import Watcher
from argrank.rankers.base_ranker import Outcome
from argrank.rankers.boosted._boosting import BoostedRanker, row_weights
from argrank.rankers.boosted._growth import Growth


@dataclass(eq=False, repr=False, kw_only=True)
class MART(BoostedRanker):
    """Boosted regression trees that minimise the squared error of score against label (Friedman 2001).

    Each tree is fitted to what the trees before left over and added with a small weight. Trees are LightGBM's, grown
    leaf by leaf on binned features; the scores estimate the label itself. Needs the extra ``trees``.

    Parameters
    ----------
    gain : "linear", "exp2", sequence or callable
        What is fitted: the label itself by default, or a gain of it.
    n_trees, n_leaves, learning_rate, min_documents, feature_fraction, categorical_features, scoring,
    early_stopping, normalise, random_state, n_jobs, verbose
        See ``BoostedRanker``.

    Examples
    --------
    >>> import argrank as ar
    >>> train, valid = ar.make_ranking(60, 30, 5, truth="nonlinear", random_state=1).split(0.7, 0.3)
    >>> ranker = ar.make_ranker("mart", n_leaves=8, early_stopping=10).fit(train, eval_set=valid)
    >>> bool(ranker.score(valid) == max(ranker.trace_["validation"]))
    True
    """

    uses_row_weights: ClassVar[bool] = True

    gain: Any = "linear"

    def _objective(self) -> Objective:
        return SquaredError(gain=self.gain, intercept=0.0)

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
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
