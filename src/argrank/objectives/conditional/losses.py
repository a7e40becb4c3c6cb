"""Loss of a ranking by any measure, and the levels of documents that the measure distinguishes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from argrank._types import Floats, Integers
from argrank.data.checks import as_array
from argrank.errors import OptionError, shown
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure
from argrank.measures.rankings import Rankings


@dataclass(frozen=True)
class RankingLoss:
    """Weighted sum over measures of 1 - measure / (measure of the best ranking): 0 for the best ranking.

    The loss is 0 if the query's best ranking has measure 0.
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
        """Return numbers that are equal for documents that all measures treat alike, greater for better ones."""
        convention = self._for(labels)
        each = [np.unique(one.levels(labels, convention), return_inverse=True)[1] for one in self.measures]
        return np.asarray(np.sum(each, axis=0, dtype=np.float64))

    @property
    def depth(self) -> int | None:
        """The last rank that any of the measures depends on; None if one depends on all."""
        cutoffs = [one.cutoff for one in self.measures if one.cutoff is not None]
        return max(cutoffs) if len(cutoffs) == len(self.measures) else None

    def __call__(self, ranked: Integers, labels: Floats, best: Floats | None = None) -> Floats:
        """Return the losses of rankings of one query given by level, one per row; the best one is the first.

        ``labels`` are the levels' labels, ``best`` those of all documents from the greatest down, where the rankings
        are not given down to the last rank.
        """
        return self.of_queries([ranked], [labels], [labels[ranked[0]] if best is None else best])[0]

    def of_queries(self, ranked: list[Integers], labels: list[Floats], best: list[Floats]) -> list[Floats]:
        """Return the losses of rankings of several queries; the same as in separate calls."""
        losses: list[Floats] = [np.empty(0)] * len(ranked)
        of_grade: dict[Convention, list[int]] = {}
        for query, own in enumerate(labels):
            of_grade.setdefault(self._for(own), []).append(query)
        for convention, queries in of_grade.items():
            counts = np.array([len(ranked[query]) for query in queries])
            shown = _padded([labels[query][ranked[query]] for query in queries])
            judged = np.repeat(_padded([best[query][None] for query in queries]), counts, axis=0)
            sizes = np.repeat([len(best[query]) for query in queries], counts)
            whole = all(ranked[query].shape[1] == len(best[query]) for query in queries)
            rankings = Rankings(shown, sizes, judged=None if whole else judged)
            first = np.repeat(np.cumsum(counts) - counts, counts)
            total = np.zeros(len(shown))
            for one, weight in zip(self.measures, self.weights, strict=True):
                values = one.values(rankings, convention)
                with np.errstate(invalid="ignore"):
                    there = values[first] > 0
                total[there] += weight * (1.0 - values[there] / values[first][there])
            for query, part in zip(queries, np.split(np.maximum(total, 0.0), np.cumsum(counts)[:-1]), strict=True):
                losses[query] = part
        return losses

    def _for(self, labels: Floats) -> Convention:
        """Return the convention, with a greater max_grade where labels exceed it."""
        greatest = float(labels.max(initial=0.0))
        return replace(self.convention, max_grade=greatest) if greatest > self.convention.max_grade else self.convention


def ranking_loss(name: str, measures: Sequence[Measure], weights: Any, convention: Convention) -> RankingLoss:
    """Return the loss of measures with given weights, or with equal ones that add up to 1."""
    if not measures:
        raise OptionError(f"{name}: expected at least one measure, got none")
    shares = (
        np.full(len(measures), 1.0 / len(measures))
        if weights is None
        else as_array(weights, f"{name}: weights", np.float64)
    )
    if shares.shape != (len(measures),) or not np.isfinite(shares).all() or (shares < 0).any():
        raise OptionError(
            f"{name}: expected weights to be {len(measures)} numbers from 0 up, one per measure, got {shown(weights)}"
        )
    return RankingLoss(tuple(measures), tuple(shares.tolist()), convention)


def _padded(parts: list[Floats]) -> Floats:
    """Return matrices below each other, padded at the right with minus infinity."""
    width = max(part.shape[1] for part in parts)
    if all(part.shape[1] == width for part in parts):
        return np.concatenate(parts)
    table = np.full((sum(map(len, parts)), width), -np.inf)
    row = 0
    for part in parts:
        table[row : row + len(part), : part.shape[1]] = part
        row += len(part)
    return table
