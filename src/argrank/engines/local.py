"""The risk on this machine: blocks of queries on a pool of threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.grouping import block_borders
from argrank.engines._blocks import Blocks, Judge, Point, sample_of
from argrank.engines._summed import SummedRisk
from argrank.errors import InputError, OptionError
from argrank.objectives.objective import Objective


class LocalRisk(SummedRisk):
    """The risk of a linear model: the mean of the objective at scores ``X @ w``, over queries or over pairs.

    One evaluation goes through the data once: a block of queries is scored, sorted, judged and pulled back while its
    features are in the cache. Borders of blocks depend on the data alone and partial sums are added in their order,
    so results have the same bits for any ``n_jobs``. Arithmetic is float64 also where the features are float32.

    Parameters
    ----------
    data : Dataset
    objective : Objective
        From ``argrank.objective(name)``.
    n_jobs : int, optional
        Threads; None or -1 for every core.
    """

    per_query = True

    def __init__(self, data: Dataset, objective: Objective, n_jobs: int | None = None) -> None:
        super().__init__(objective)
        self.data, self.n_jobs = data, n_jobs
        self.n_queries, self.n_documents, self.n_features = data.n_queries, data.n_documents, data.n_features
        self.query_shares = objective.query_shares(data)  # the factor of every query's loss
        self._blocks = Blocks(data, block_borders(data.indptr), n_jobs)
        self._judge = Judge(self._blocks, objective, self.query_shares)
        self.prepared = self._judge.prepared
        self._point: Point | None = None

    def parts(self) -> tuple[LocalRisk, LocalRisk]:
        """Return the two convex risks of which this one, a tight bound, is the difference."""
        asked: Any = self.objective
        convex, subtracted = asked.convex_part(), asked.subtracted_part()
        return LocalRisk(self.data, convex, self.n_jobs), LocalRisk(self.data, subtracted, self.n_jobs)

    def sample(self) -> tuple[int, Integers] | None:
        """Return the bytes and the sizes of the samples of rankings that the objective has drawn, if it has."""
        return sample_of(self.prepared)

    def query(self, q: int, w: Floats) -> tuple[float, Floats, float]:
        """Return one query's loss, its gradient and the offset ``loss - gradient @ w`` of the tangent plane."""
        if not 0 <= q < self.n_queries:
            raise OptionError(f"query: expected a number from 0 to {self.n_queries - 1}, got {q}")
        n_rows = int(self.data.indptr[q + 1] - self.data.indptr[q])
        with self._counted(products=2 * n_rows / self.n_documents):
            return self._judge.query(q, self._weights(w))

    def _constant(self, value: float) -> Floats:
        return np.full(self.n_documents, value)

    def _score(self, weights: Floats) -> Floats:
        return self._blocks.scores(weights)

    def _at_weights(self, weights: Floats) -> tuple[list[float], list[Floats]]:
        values, gradients, self._point = self._judge.at_weights(weights)
        return values, gradients

    def _at_scores(self, scores: Floats) -> tuple[list[float], Floats]:
        scores = np.ascontiguousarray(scores, np.float64)
        if scores.shape != (self.n_documents,):
            raise InputError(f"scores: expected one for each of {self.n_documents} rows, got shape {scores.shape}")
        return self._judge.at_scores(scores)

    def _pull_back(self, u: Floats) -> list[Floats]:
        return self._blocks.pull_back(u)

    def _curve(self, direction: Floats) -> list[Floats]:
        if self._point is None:
            raise OptionError("hessian_product: expected a call of value_and_gradient before")
        return self._judge.curve(self._point, direction)

    def _dots(self, u: Floats, v: Floats) -> list[float]:
        return self._blocks.dots(u, v)
