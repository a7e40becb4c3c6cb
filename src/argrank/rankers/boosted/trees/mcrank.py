"""McRank: boosted probabilities of the labels; the score is the expected relevance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, cast

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import InputError, OptionError
from argrank.measures.gains import check_gain, gains_of
from argrank.models.linear import LinearModel
from argrank.models.model import Model
from argrank.models.tree import Tree
from argrank.models.tree_classes import TreeClassesModel
from argrank.rankers.boosted.trees._label_chances import LabelChances
from argrank.rankers.boosted.trees.boosting import Loss
from argrank.rankers.boosted.trees.lightgbm_ranker import LightGBMRanker
from argrank.rankers.boosted.trees.seeded_boosters import LightGBMBoosters
from argrank.rankers.training_data import FORESTS, Work

MOST_LABELS = 100
REFUSED = {
    "init_model": "sums trees for every label and continues no model",
    "monotone": "computes probabilities from several sums: monotone trees do not give a monotone score",
}


@dataclass(eq=False, repr=False, kw_only=True)
class McRank(LightGBMRanker):
    """Boosted class probabilities: documents are ranked by the expected gain of their label (Li, Burges & Wu 2007).

    "multi-class": softmax over one sum of trees for each label. "ordinal": one logistic model of "at most this label"
    for each label but the greatest. A round grows one tree for each sum; leaves take Newton's step, which for
    multi-class is Friedman's (K-1)/K sum r / sum |r| (1 - |r|). Splits are chosen by the second order as well, as
    LightGBM does. Every sum starts from a linear function of a ridge regression's score, fitted by maximum likelihood;
    the authors start from 0 (``start=None``). Needs the extra ``trees``.

    Parameters
    ----------
    link
        How probabilities are computed: a sum of trees for each label, or for each step from one label to the next,
        which uses the order of labels.
    gain : "linear", "exp2", sequence or callable
        Gain of a label in the score. "exp2" ranks for NDCG, "linear" by the expected label.
    n_trees
        Number of rounds; a round grows a tree for each label ("ordinal": one fewer). KDD 2008 uses 30, McRank's authors
        1,000 and more.

    Attributes
    ----------
    labels_ : array
        The labels of the training data, ascending: the columns of ``predict_probabilities``.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(40, 30, 5, truth="nonlinear", grades=3, random_state=1)
    >>> ranker = ar.make_ranker("mcrank", n_leaves=8).fit(data)
    >>> ranker.labels_.tolist(), ranker.predict_probabilities(data.X[:2]).shape
    ([0.0, 1.0, 2.0], (2, 3))
    """

    uses_row_weights: ClassVar[bool] = True
    fits_labels: ClassVar[bool] = True
    work: ClassVar[Work] = FORESTS
    minimises: ClassVar[str] = "the error of the chances of every label"

    start: Literal["linear"] | None = "linear"
    link: Literal["multi-class", "ordinal"] = "multi-class"
    gain: Any = "linear"

    def predict_probabilities(self, X: Any, *, qid: Any = None, group: Any = None) -> Floats:
        """Return the chance of every label of ``labels_`` for every row, in the caller's order.

        ``qid`` or ``group`` only where features are scaled per query.
        """
        data = self._served_rows(X, qid, group)
        chances = cast(TreeClassesModel, self.model_).probabilities(data.X, data.indptr)
        return np.stack([data.to_caller(column) for column in chances.T], axis=1)

    def _loss(self, data: Dataset) -> Loss:
        return LabelChances(self._labels(data), data, check_gain(self.gain), self.link)

    def finished_model(
        self, boosters: LightGBMBoosters, sizes: Sequence[int], start: Model | None, offset: float, data: Dataset
    ) -> Model:
        """Return the class probabilities after the given number of rounds of each booster."""
        self.labels_ = self._labels(data)
        trees = boosters.trees(sizes) or [Tree.constant(0.0, data.n_documents)] * boosters.n_outputs
        if start is None:
            return self._model(trees, data)
        model = cast(TreeClassesModel, start)
        for number, constant in enumerate(model.trees):
            trees[number] = trees[number].with_values(trees[number].value + constant.value)
        return replace(model, trees=tuple(trees))

    def _start_model(self, data: Dataset, loss: Loss) -> TreeClassesModel | None:
        """Return the ridge regression with a line from its score to every sum; constants are trees of one leaf."""
        linear = cast(LinearModel | None, super()._start_model(data, loss))
        if linear is None:
            return None
        slopes, constants = cast(LabelChances, loss).lines(linear.scores(data.X))
        trees = [Tree.constant(constant, data.n_documents) for constant in constants.tolist()]
        return replace(self._model(trees, data), weights=linear.weights, slopes=slopes)

    def _begin(self, start: Model | None, data: Dataset) -> Floats:
        if start is None:
            return super()._begin(start, data)
        sums = cast(TreeClassesModel, start).sums(data.X)
        return sums if sums.shape[1] > 1 else sums[:, 0]

    def _model(self, trees: Sequence[Tree], data: Dataset) -> TreeClassesModel:
        labels = self._labels(data)
        gains = gains_of(labels, check_gain(self.gain))
        return TreeClassesModel(tuple(trees), data.n_features, labels, gains, self.link)

    def _labels(self, data: Dataset) -> Floats:
        labels: Floats = np.unique(data.y)
        if len(labels) > MOST_LABELS:
            raise InputError(f"y: expected at most {MOST_LABELS} different labels as classes, got {len(labels)}")
        return labels

    def _check(self) -> None:
        super()._check()
        for name, why in REFUSED.items():
            if getattr(self, name) is not None:
                raise OptionError(f"{name}: expected None of McRank, which {why}")
