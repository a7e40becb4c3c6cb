"""McRank: boosted probabilities of the labels; the score is the expected relevance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import InputError, OptionError, shown
from argrank.measures.gains import check_gain, gains_of
from argrank.models._tree import Tree
from argrank.models.model import Model
from argrank.models.tree_classes import LINKS, TreeClassesModel, expected, outputs_of, probabilities
from argrank.rankers.boosted._boosters import Boosters, Draw, Loss
from argrank.rankers.boosted._boosting import row_weights
from argrank.rankers.boosted._gradient_boosting import GradientBoostedRanker

MOST_LABELS = 100
LEAST_CHANCE = 1e-300  # keeps the logarithm finite


@dataclass(eq=False, repr=False, kw_only=True)
class McRank(GradientBoostedRanker):
    """Boosted class probabilities: documents are ranked by the expected gain of their label (Li, Burges & Wu 2007).

    "multi-class": softmax over one sum of trees for each label. "ordinal": one logistic model of "at most this label"
    for each label but the greatest. A round grows one tree for each sum; leaves take Newton's step, which for
    multi-class is Friedman's (K-1)/K sum r / sum |r| (1 - |r|). Splits are chosen by the second order as well, as
    LightGBM does. Needs the extra ``trees``.

    Parameters
    ----------
    link : "multi-class" or "ordinal"
        How probabilities are made: a sum of trees for each label, or for each step from one label to the next, which
        uses that labels are ordered.
    gain : "linear", "exp2", sequence or callable
        What a label gains in the score. "exp2" ranks for NDCG, "linear" by the expected label.
    n_trees : int
        Number of rounds; a round grows a tree for each label ("ordinal": one fewer). KDD 2008 takes 30, McRank's
        authors 1,000 and more.

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
        self, boosters: Boosters, sizes: Sequence[int], start: Model | None, offset: float, data: Dataset
    ) -> Model:
        """Return the class probabilities after the given number of rounds of each booster."""
        self.labels_ = self._labels(data)
        trees = boosters.trees(sizes) or [Tree.constant(0.0, data.n_documents)] * boosters.n_outputs
        gains = gains_of(self.labels_, check_gain(self.gain))
        return TreeClassesModel(tuple(trees), data.n_features, self.labels_, gains, self.link)

    def _labels(self, data: Dataset) -> Floats:
        labels: Floats = np.unique(data.y)
        if len(labels) > MOST_LABELS:
            raise InputError(
                f"y: expected at most {MOST_LABELS} different labels to make classes of, got {len(labels)}"
            )
        return labels

    def _check(self) -> None:
        super()._check()
        if self.link not in LINKS:
            raise OptionError(f"link: expected {' or '.join(LINKS)}, got {shown(self.link)}")
        for name in ("start", "init_model"):
            if getattr(self, name) is not None:
                raise OptionError(f"{name}: McRank sums trees for every label and starts from nothing; expected None")


class LabelChances(Loss):
    """Minus the log likelihood of the labels."""

    def __init__(self, labels: Floats, data: Dataset, gain: Any, link: str) -> None:
        self._which, self._weight, self._link = np.searchsorted(labels, data.y), row_weights(data), link
        self._gains = gains_of(labels, gain)
        self.n_outputs = outputs_of(len(labels), link)

    def slopes(self, scores: Floats, draw: Draw) -> tuple[Floats, Floats]:
        """Return the slopes, weighted; nothing where there is a single label."""
        if len(self._gains) == 1:
            return np.zeros_like(scores), np.zeros_like(scores)
        gradient, curvature = slopes(scores, self._which, self._link)
        return self._weight[:, None] * gradient, self._weight[:, None] * curvature

    def value(self, scores: Floats) -> float:
        """Return the log loss."""
        return log_loss(scores, self._which, self._link, self._weight)

    def score(self, sums: Floats) -> Floats:
        """Return the expected gain of the label."""
        return expected(probabilities(sums, self._link), self._gains)


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
