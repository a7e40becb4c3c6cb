"""McRank: boosted probabilities of the labels; the score is the expected relevance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import InputError, OptionError, shown
from argrank.measures.gains import check_gain, gains_of
from argrank.models._tree import Tree
from argrank.models.tree_classes import LINKS, TreeClassesModel, expected, outputs_of, probabilities
from argrank.rankers._trace import Watcher
from argrank.rankers.base_ranker import Outcome
from argrank.rankers.boosted._boosting import BoostedRanker, row_weights
from argrank.rankers.boosted._growth import Growth

MOST_LABELS = 100
LEAST_CHANCE = 1e-300  # keeps the logarithm finite


@dataclass(eq=False, repr=False, kw_only=True)
class McRank(BoostedRanker):
    """Boosted class probabilities: documents are ranked by the expected gain of their label (Li, Burges & Wu 2007).

    "multi-class": softmax over one sum of trees for each label. "ordinal": one logistic model of "at most this label"
    for each label but the greatest. A round grows one tree for each sum; leaves take Newton's step, which for
    multi-class is Friedman's (K-1)/K sum r / sum |r| (1 - |r|). Splits are chosen by the second order as well, as
    LightGBM does. Needs the extra ``trees``.

    Parameters
    ----------
    link : "multi-class" or "ordinal"
        How probabilities are made.
    gain : "linear", "exp2", sequence or callable
        What a label gains in the score.
    n_trees : int
        Number of rounds; a round grows a tree for each label ("ordinal": one fewer). KDD 2008 takes 30, McRank's
        authors 1,000 and more.
    n_leaves, learning_rate, min_documents, feature_fraction, categorical_features, scoring,
    early_stopping, normalise, random_state, n_jobs, verbose
        See ``BoostedRanker``.

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

    link: str = "multi-class"
    n_trees: int = 30
    gain: Any = "linear"

    def predict_probabilities(self, X: Any, *, qid: Any = None, group: Any = None) -> Floats:
        """Return the chance of every label of ``labels_`` for every row, in the caller's order.

        ``qid`` or ``group`` only where features are scaled per query.
        """
        check_is_fitted(self)
        model = cast(TreeClassesModel, self.model_)
        if not isinstance(X, Dataset):
            if qid is None and group is None and not model.needs_queries:
                group = [X.shape[0] if hasattr(X, "shape") else len(X)]
            X = Dataset(X, None, qid, group=group)
        chances = model.probabilities(model.features_of(X), X.indptr)
        return np.stack([X.to_caller(column) for column in chances.T], axis=1)

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        if self.link not in LINKS:
            raise OptionError(f"link: expected {' or '.join(LINKS)}, got {shown(self.link)}")
        labels, which = np.unique(data.y, return_inverse=True)
        if len(labels) > MOST_LABELS:
            raise InputError(
                f"y: expected at most {MOST_LABELS} different labels to make classes of, got {len(labels)}"
            )
        gains, weight = gains_of(labels, check_gain(self.gain)), row_weights(data)
        n_outputs = outputs_of(len(labels), self.link)
        growth = Growth(data, self._settings(), n_outputs)

        def score(sums: Floats) -> Floats:
            return expected(probabilities(sums, self.link), gains)

        with self._rounds(data, watcher, n_outputs) as rounds:
            for _ in range(self.n_trees):
                gradient, hessian = slopes(rounds.scores, which, self.link)
                grown = growth.grow(weight[:, None] * gradient, weight[:, None] * hessian) if len(labels) > 1 else None
                if grown is None:
                    break
                trees = [one.tree.with_values(self.learning_rate * one.tree.value) for one in grown]
                outputs = [tree.value.take(one.leaf) for tree, one in zip(trees, grown, strict=True)]
                rounds.add(trees, outputs)
                if not rounds.record({"objective": log_loss(rounds.scores, which, self.link, weight)}, score):
                    break
        self.labels_ = labels
        trees = rounds.kept or [Tree.constant(0.0, data.n_documents)] * n_outputs
        loss = rounds.objective if rounds.kept else log_loss(rounds.scores, which, self.link, weight)
        model = TreeClassesModel(tuple(trees), data.n_features, labels, gains, self.link)
        return Outcome(model, loss, np.nan, len(rounds.kept) // n_outputs, rounds.complaint)


def slopes(sums: Floats, which: NDArray[np.intp], link: str) -> tuple[Floats, Floats]:
    """Return gradient and curvature of ``log_loss`` by the sums, before row weights; K/(K-1) is Friedman's factor."""
    if link == "multi-class":
        chances = probabilities(sums, link)
        n_labels = sums.shape[1]
        curvature = n_labels / max(1, n_labels - 1) * chances * (1.0 - chances)
        target = which[:, None] == np.arange(n_labels)
    else:
        chances = 0.5 * (1.0 + np.tanh(0.5 * sums))
        curvature = chances * (1.0 - chances)
        target = which[:, None] <= np.arange(sums.shape[1])
    return chances - target, curvature


def log_loss(sums: Floats, which: NDArray[np.intp], link: str, weight: Floats) -> float:
    """Return minus the log likelihood: of the label, or ordinal of every "at most this label"."""
    if link == "multi-class":
        mine = probabilities(sums, link)[np.arange(len(sums)), which]
        return float(-(weight * np.log(np.maximum(mine, LEAST_CHANCE))).sum())
    at_most = which[:, None] <= np.arange(sums.shape[1])
    return float((weight[:, None] * np.logaddexp(0.0, np.where(at_most, -sums, sums))).sum())
