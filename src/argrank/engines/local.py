"""The risk: how every engine adds it up from blocks of queries, in their order, and the engine of threads here."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.grouping import block_borders
from argrank.engines._blocks import Blocks, Judge, Point, sample_of
from argrank.errors import InputError, OptionError
from argrank.objectives.objective import Objective


class SummedRisk(ABC):
    """The risk of a linear model as a sum over blocks; an engine says where the blocks are worked on.

    Vectors of scores are the engine's own: they can be added, subtracted and scaled, and live where the rows are.
    """

    n_queries: int
    n_documents: int
    n_features: int
    query_shares: Floats
    per_query: bool

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self.convex, self.smooth, self.second_order = objective.convex, objective.smooth, objective.second_order
        self.difference = not objective.convex and hasattr(objective, "subtracted_part")
        self.seconds = 0.0  # spent in here
        self._products = 0.0

    @property
    def n_passes(self) -> float:
        """How often the features were gone through; one product, forth or back, is half a pass."""
        return self._products / 2

    def go_on(self, n_passes: float, seconds: float) -> None:
        """Go on counting passes and seconds from what another process had counted."""
        self._products, self.seconds = 2 * n_passes, seconds

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        """Return the risk and its gradient at the weights."""
        with self._counted(products=2):
            values, gradients = self._at_weights(self._weights(w))
            return sum(values), self._sum(gradients)

    def zero_scores(self) -> Any:
        """Return the scores of w = 0."""
        return self._constant(0.0)

    def scores(self, w: Floats) -> Any:
        """Return ``X @ w`` in the stored row order."""
        with self._counted(products=1):
            return self._score(self._weights(w))

    def given_scores(self, values: Floats) -> Any:
        """Return scores of which the values are known, as a checkpoint has them."""
        return values

    def at_scores(self, scores: Any) -> tuple[float, Any]:
        """Return the risk and its gradient u by the scores (stored row order), without touching the features."""
        with self._counted(products=0):
            values, u = self._at_scores(scores)
            return sum(values), u

    def pull_back(self, u: Any) -> Floats:
        """Return ``X.T @ u`` for a gradient u by the scores, as ``at_scores`` gives it."""
        with self._counted(products=1):
            return self._sum(self._pull_back(u))

    def hessian_product(self, direction: Floats) -> Floats:
        """Return the (generalised) Hessian, at the weights last given to ``value_and_gradient``, times a direction."""
        with self._counted(products=2):
            return self._sum(self._curve(self._weights(direction)))

    def dot(self, u: Any, v: Any) -> float:
        """Return the inner product of two vectors of scores, added up block by block."""
        return sum(self._dots(u, v))

    def spread(self, scores: Any) -> float:
        """Return the standard deviation of scores."""
        mean = self.dot(scores, self._constant(1.0)) / self.n_documents
        around = scores - mean
        return float(np.sqrt(self.dot(around, around) / self.n_documents))

    @abstractmethod
    def _constant(self, value: float) -> Any: ...

    @abstractmethod
    def _score(self, weights: Floats) -> Any: ...

    @abstractmethod
    def _at_weights(self, weights: Floats) -> tuple[Sequence[float], Sequence[Floats]]: ...

    @abstractmethod
    def _at_scores(self, scores: Any) -> tuple[Sequence[float], Any]: ...

    @abstractmethod
    def _pull_back(self, u: Any) -> Sequence[Floats]: ...

    @abstractmethod
    def _curve(self, direction: Floats) -> Sequence[Floats]: ...

    @abstractmethod
    def _dots(self, u: Any, v: Any) -> Sequence[float]: ...

    @contextmanager
    def _counted(self, products: float) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self._products += products
        self.seconds += time.perf_counter() - begin

    def _sum(self, parts: Sequence[Floats]) -> Floats:
        total = np.zeros(self.n_features)
        for part in parts:
            total += part
        return total

    def _weights(self, w: Floats) -> Floats:
        weights = np.ascontiguousarray(w, np.float64)
        if weights.shape != (self.n_features,):
            raise InputError(
                f"w: expected one weight for each of {self.n_features} features, got shape {weights.shape}"
            )
        return weights


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
