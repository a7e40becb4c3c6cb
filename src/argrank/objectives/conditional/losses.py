"""Loss of a ranking by any measure, and the levels among which the measure tells documents apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from argrank._types import Floats, Integers
from argrank.errors import OptionError, shown
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure
from argrank.measures.rankings import Rankings


@dataclass(frozen=True)
class RankingLoss:
    """Weighted sum over measures of 1 - measure / (measure of the best ranking): 0 for the best ranking.

    Where a query's best ranking has measure 0 there is nothing to lose: 0.
    """

    measures: tuple[Measure, ...]
    weights: tuple[float, ...]
    convention: Convention

    @property
    def is_of_pairs(self) -> bool:
        """Whether the loss is the share of pairs in wrong order, for which closed forms are known."""
        structure = self.measures[0].structure(self.convention)
        return len(self.measures) == 1 and structure is not None and structure.kind == "pairs"

    def levels(self, labels: Floats) -> Floats:
        """Return numbers that are equal for documents no measure tells apart, greater for better ones."""
        convention = self._for(labels)
        each = [np.unique(one.levels(labels, convention), return_inverse=True)[1] for one in self.measures]
        total: Floats = np.sum(each, axis=0, dtype=np.float64)
        return total

    def __call__(self, ranked: Integers, labels: Floats) -> Floats:
        """Return the losses of rankings given by level, one a row; the best one is the first.

        ``labels`` are the levels' labels.
        """
        rankings = Rankings(labels[ranked], np.full(len(ranked), ranked.shape[1]))
        convention = self._for(labels)
        losses = np.zeros(len(ranked))
        for one, weight in zip(self.measures, self.weights, strict=True):
            values = one.values(rankings, convention)
            if np.isfinite(values[0]) and values[0] > 0:
                losses += weight * (1.0 - values / values[0])
        return np.maximum(losses, 0.0)

    def _for(self, labels: Floats) -> Convention:
        """Return the convention, with a greater max_grade where labels exceed it."""
        greatest = float(labels.max(initial=0.0))
        return replace(self.convention, max_grade=greatest) if greatest > self.convention.max_grade else self.convention


def ranking_loss(name: str, measures: Sequence[Measure], weights: Any, convention: Convention) -> RankingLoss:
    """Return the loss of measures with given weights, or with equal ones that add up to 1."""
    if not measures:
        raise OptionError(f"{name}: expected at least one measure, got none")
    shares = np.full(len(measures), 1.0 / len(measures)) if weights is None else np.asarray(weights, np.float64)
    if shares.shape != (len(measures),) or not np.isfinite(shares).all() or (shares < 0).any():
        raise OptionError(
            f"{name}: expected weights to be {len(measures)} numbers from 0 up, one a measure, got {shown(weights)}"
        )
    return RankingLoss(tuple(measures), tuple(shares.tolist()), convention)
