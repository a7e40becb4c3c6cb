"""Loss of a ranking by any measure, and the levels among which the measure tells documents apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from argrank._types import Floats, Integers
from argrank.errors import OptionError, shown
from argrank.measures.auc import AUC
from argrank.measures.conventions import Convention
from argrank.measures.gains import gains_of
from argrank.measures.measure import Measure
from argrank.measures.names import measure as parse_measure
from argrank.measures.rankings import Rankings

RELEVANCE_ALONE = ("AP", "P", "R", "RR")  # these know relevant documents and others, no grades


@dataclass(frozen=True)
class RankingLoss:
    """Weighted sum over measures of 1 - measure / (measure of the best ranking): 0 for the best ranking.

    Where a query's best ranking has measure 0 there is nothing to lose: 0.
    """

    measures: tuple[Measure, ...]
    weights: tuple[float, ...]
    convention: Convention

    @classmethod
    def of(cls, name: str, measure: Any, weights: Any, gain: Any, discount: Any, relevant_at: float) -> RankingLoss:
        """Read a ranker's parameters; AUC counts all pairs of different label."""
        asked = list(measure) if isinstance(measure, list | tuple) else [measure]
        measures = tuple(_graded(parse_measure(one)) for one in asked)
        if not measures:
            raise OptionError(f"{name}: expected at least one measure, got none")
        shares = np.full(len(measures), 1.0 / len(measures)) if weights is None else np.asarray(weights, np.float64)
        if shares.shape != (len(measures),) or not np.isfinite(shares).all() or (shares < 0).any():
            raise OptionError(
                f"{name}: expected weights to be {len(measures)} numbers from 0 up, one a measure, got {shown(weights)}"
            )
        convention = Convention(gain=gain, discount=discount, relevant_at=relevant_at)
        return cls(measures, tuple(shares.tolist()), convention)

    @property
    def is_auc(self) -> bool:
        """Whether the loss is the share of pairs in wrong order, for which closed forms are known."""
        return len(self.measures) == 1 and isinstance(self.measures[0], AUC)

    def worth(self, labels: Floats) -> Floats:
        """Return numbers that are equal for documents no measure tells apart, greater for better ones."""
        if all(one.spelling in RELEVANCE_ALONE for one in self.measures):
            at = [one.adapt(self.convention).relevant_at for one in self.measures]
            reached: Floats = np.sum([labels >= threshold for threshold in sorted(set(at))], axis=0, dtype=np.float64)
            return reached
        if all(one.spelling in ("nDCG", "DCG") for one in self.measures):
            return gains_of(labels, self.measures[0].adapt(self.convention).gain, self.convention.relevant_at)
        return labels

    def __call__(self, ranked: Integers, labels: Floats) -> Floats:
        """Return the losses of rankings given by level, one a row; the best one is the first.

        ``labels`` are the levels' labels.
        """
        rankings = Rankings(labels[ranked], np.full(len(ranked), ranked.shape[1]))
        convention = self.convention
        if labels.max() > convention.max_grade:
            convention = replace(convention, max_grade=float(labels.max()))
        losses = np.zeros(len(ranked))
        for one, weight in zip(self.measures, self.weights, strict=True):
            values = one.values(rankings, convention)
            if np.isfinite(values[0]) and values[0] > 0:
                losses += weight * (1.0 - values / values[0])
        return np.maximum(losses, 0.0)


def _graded(measure: Measure) -> Measure:
    return replace(measure, graded=True) if isinstance(measure, AUC) else measure
