"""Pointwise: squared error of the scores against the labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.measures.gains import row_targets
from argrank.objectives.objective import OfGains, Prepared, require_targets


@dataclass(frozen=True, kw_only=True)
class SquaredError(OfGains):
    """Sum over a query's documents of ``(score + intercept - gain of the label)^2``, times the row's weight."""

    name: ClassVar[str] = "squared error"
    smooth: ClassVar[bool] = True
    second_order: ClassVar[bool] = True

    intercept: float

    def prepare(self, data: Dataset) -> Prepared:
        """Keep targets and row weights."""
        weight = data.sample_weight if data.examinations is None else data.examinations
        return _Targets(data.indptr, self.targets(data), weight)

    def query_shares(self, data: Dataset) -> Floats:
        """Return the share of every query; if rows are weighted by their examinations, all queries have the same."""
        return super().query_shares(data) if data.examinations is None else np.full(data.n_queries, 1 / data.n_queries)

    def targets(self, data: Dataset) -> Floats:
        """Return the target score of every row."""
        require_targets(data, self.name)
        return np.asarray(row_targets(data, self.gain) - self.intercept)


class _Targets(Prepared):
    """The squared error of a block is a few NumPy lines; a kernel would be no faster."""

    ranks = False

    def __init__(self, indptr: Integers, targets: Floats, weight: Floats | None) -> None:
        self.indptr, self._targets, self._weight = indptr, targets, weight

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Add up the squared errors query by query."""
        indptr = self.indptr[first : last + 1]
        errors = scores - self._targets[indptr[0] : indptr[-1]]
        self._double(indptr, errors, gradient)
        return 0.5 * np.add.reduceat(errors * gradient, indptr[:-1] - indptr[0])

    def curve(self, first: int, last: int, scores: Floats, order: Integers, direction: Floats, product: Floats) -> None:
        """Double the direction: the Hessian is twice the row weights."""
        self._double(self.indptr[first : last + 1], direction, product)

    def _double(self, indptr: Integers, values: Floats, out: Floats) -> None:
        np.multiply(values, 2.0, out=out)
        if self._weight is not None:
            out *= self._weight[indptr[0] : indptr[-1]]
