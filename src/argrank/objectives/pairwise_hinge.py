"""RankSVM's two losses: the squared hinge of a pair, and the plain one, which is SVMauc's on another scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.errors import OptionError
from argrank.objectives.objective import Kernels, Objective, Prepared, refuse_row_weights, require_labels
from argrank.objectives.pairwise import ExplicitPairs, SquaredHinge, level_numbers, pair_counts
from argrank.objectives.structured.pairs.auc import independent_pairs

LOSSES = ("squared", "hinge")


@dataclass(frozen=True)
class PairwiseHinge(Objective):
    """Sum over a query's pairs of ``max(0, 1 - (s_better - s_worse))``, squared or not.

    Pairs are all documents of different label, or the data's ``preferences``, with their weights, where it has them.
    """

    name: ClassVar[str] = "rank-svm"
    mean_over: ClassVar[str] = "pairs"

    loss: str = "squared"

    def __post_init__(self) -> None:
        if self.loss not in LOSSES:
            raise OptionError(f"loss: expected {' or '.join(map(repr, LOSSES))}, got {self.loss!r}")

    @property
    def second_order(self) -> bool:  # type: ignore[override]
        """Whether there is a Hessian: the plain hinge has none."""
        return self.loss == "squared"

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        """Whether there is a gradient everywhere."""
        return self.loss == "squared"

    def n_pairs(self, data: Dataset) -> Floats:
        """Return how many pairs every query has; preferences count by their weight."""
        return SquaredHinge().n_pairs(data)

    def prepare(self, data: Dataset) -> Prepared:
        """Prepare the loss on graded labels or on given preferences."""
        if self.loss == "squared":
            return SquaredHinge().prepare(data)
        refuse_row_weights(data, self.name)
        if data.preferences is not None:
            return ExplicitHinge(data.indptr, data.preferences)
        return GradedHinge(data.indptr, level_numbers(require_labels(data, self.name), data.indptr))


class GradedHinge(Prepared):
    """SVMauc is the mean over the M pairs of ``max(0, 1 - 2 (s_i - s_j))``: the sum is M times that at s / 2."""

    ranks = True

    def __init__(self, indptr: Integers, levels: Floats) -> None:
        self.indptr = indptr
        self._auc = Kernels(indptr, levels, np.ones(1), independent_pairs)
        self._n_pairs = pair_counts(indptr, levels)

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Rescale SVMauc's losses and gradients."""
        n_pairs = self._n_pairs[first:last]
        losses = self._auc.evaluate(first, last, 0.5 * scores, order, gradient)
        gradient *= 0.5 * np.repeat(n_pairs, np.diff(self.indptr[first : last + 1]))
        return losses * n_pairs


class ExplicitHinge(ExplicitPairs):
    """The plain hinge on given preferences."""

    @staticmethod
    def _loss_and_slope(hinge: Floats, weight: Floats) -> tuple[Floats, Floats]:
        return weight * hinge, weight * (hinge > 0)
