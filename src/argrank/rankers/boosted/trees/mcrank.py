"""McRank: boosted probabilities of the labels; the score is the expected relevance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import InputError, OptionError
from argrank.measures.gains import check_gain, gains_of
from argrank.models.linear import LinearModel
from argrank.models.model import Model
from argrank.models.tree import Tree
from argrank.models.tree_classes import TreeClassesModel, expected, outputs_of, probabilities
from argrank.rankers.boosted.trees.boosted_ranker import row_weights
from argrank.rankers.boosted.trees.boosting import Draw, Loss
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


LEAST_CHANCE = 1e-300  # keeps the logarithm finite
RIDGE = 1e-3  # ridge on lines: they would diverge if the score separates the labels
PRECISION = 1e-10  # share of the loss that a step must gain
MOST_STEPS = 50


class LabelChances(Loss):
    """Minus the log likelihood of the labels."""

    def __init__(self, labels: Floats, data: Dataset, gain: Any, link: str) -> None:
        self._which, self._weight, self._link = np.searchsorted(labels, data.y), row_weights(data), link
        self._gains = gains_of(labels, gain)
        self.n_outputs = outputs_of(len(labels), link)

    def slopes(self, scores: Floats, draw: Draw) -> tuple[Floats, Floats]:
        """Return the slopes, weighted; 0 if there is a single label."""
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

    def lines(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return slope and constant of every sum, ``slope * score + constant``, that make the labels most likely.

        Newton's method with halved steps, on the standardised score.
        """
        weight = self._weight
        centre = float(np.average(scores, weights=weight))
        spread = float(np.sqrt(np.average((scores - centre) ** 2, weights=weight)))
        basis = np.stack((np.ones(len(scores)), (scores - centre) / spread))

        def value(lines: Floats) -> float:
            return self.value(basis.T @ lines) + 0.5 * RIDGE * float((lines * lines).sum())

        lines = np.zeros((2, self.n_outputs))
        here = value(lines)
        for _ in range(MOST_STEPS):
            sums = basis.T @ lines
            gradient = basis @ (weight[:, None] * slopes(sums, self._which, self._link)[0]) + RIDGE * lines
            matrix = hessian(basis, sums, weight, self._link) + RIDGE * np.eye(lines.size)
            step = -np.linalg.solve(matrix, gradient.ravel()).reshape(lines.shape)
            fall, size = -float((gradient * step).sum()), 1.0
            if fall <= PRECISION * here:
                break
            while (there := value(lines + size * step)) > here - 1e-4 * size * fall and size > PRECISION:
                size *= 0.5
            lines, here = lines + size * step, there
        return lines[1] / spread, lines[0] - lines[1] * (centre / spread)


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


def hessian(basis: Floats, sums: Floats, weight: Floats, link: str) -> Floats:
    """Return the second derivatives of ``log_loss`` by lines: by all constants, then by all slopes."""
    n_sums, own = sums.shape[1], np.arange(sums.shape[1])
    total = np.zeros((2 * n_sums, 2 * n_sums))
    if link == "multi-class":
        curvature = probabilities(sums, link)
        products = np.concatenate([column[:, None] * curvature for column in basis], axis=1)
        total -= products.T @ (weight[:, None] * products)
    else:
        curvature = slopes(sums, np.zeros(len(sums), np.intp), link)[1]
    for i, one in enumerate(basis):
        for j, other in enumerate(basis):
            total[i * n_sums + own, j * n_sums + own] += (weight * one * other) @ curvature
    return total
