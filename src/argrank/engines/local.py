"""The risk on this machine: blocks of queries on a pool of threads."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from argrank._blas import single_threaded_blas
from argrank._threads import map_threads
from argrank._types import Floats, Integers
from argrank.data.blocks import block_borders
from argrank.data.checks import has_missing
from argrank.data.dataset import Dataset
from argrank.engines._dense import PULL_BACK, SCORE
from argrank.errors import InputError, OptionError
from argrank.objectives._sorting import Sorter
from argrank.objectives.objective import Objective

Result = TypeVar("Result")


class _Block:
    """Adjacent queries: their numbers, rows and features (views, also of a sparse matrix)."""

    def __init__(self, X: Any, indptr: Integers, first: int, last: int) -> None:
        self.first, self.last = first, last
        self.rows = slice(int(indptr[first]), int(indptr[last]))
        self.n_rows = self.rows.stop - self.rows.start
        self.sizes = np.diff(indptr[first : last + 1])
        self.sorter = Sorter(indptr[first : last + 1])
        self.X = X[self.rows]
        self._is_dense = isinstance(X, np.ndarray)

    def score(self, weights: Floats, scores: Floats) -> None:
        """Fill in ``X @ weights``; SciPy widens the values of a sparse float32 matrix itself."""
        if self._is_dense:
            SCORE[self.X.dtype](self.X, weights, scores)
        else:
            scores[:] = self.X @ weights

    def pull_back(self, u: Floats) -> Floats:
        """Return ``X.T @ u``."""
        if not self._is_dense:
            return np.asarray(self.X.T @ u)
        gradient = np.empty(self.X.shape[1])
        PULL_BACK[self.X.dtype](self.X, u, gradient)
        return gradient


class _Point:
    """Scores, and what was found there; a new one for every evaluation, so that none sees another's leftovers."""

    def __init__(self, n_rows: int, n_queries: int, ranks: bool, scores: Floats | None = None) -> None:
        self.scores = np.empty(n_rows) if scores is None else scores
        self.order = np.empty(n_rows if ranks else 0, np.int64)
        self.gradient = np.zeros(n_rows)
        self.losses = np.empty(n_queries)


class LocalRisk:
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

    def __init__(self, data: Dataset, objective: Objective, n_jobs: int | None = None) -> None:
        self.data, self.objective, self.n_jobs = data, objective, n_jobs
        self.n_queries, self.n_documents, self.n_features = data.n_queries, data.n_documents, data.n_features
        self.query_shares = objective.query_shares(data)  # the factor of every query's loss
        self.convex, self.smooth, self.second_order = objective.convex, objective.smooth, objective.second_order
        self.difference = not objective.convex and hasattr(objective, "subtracted_part")
        self.per_query = True
        self.seconds = 0.0  # spent in here
        self._products = 0.0
        self.prepared = objective.prepare(data)
        self._blocks = _blocks(data)
        self._point: _Point | None = None

    @property
    def n_passes(self) -> float:
        """How often the features were gone through; one product, forth or back, is half a pass."""
        return self._products / 2

    def go_on(self, n_passes: float, seconds: float) -> None:
        """Go on counting passes and seconds from what another process had counted."""
        self._products, self.seconds = 2 * n_passes, seconds

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        """Return the risk and its gradient at the weights."""
        weights = self._weights(w)
        point = self._new_point()

        def work(block: _Block) -> Floats:
            block.score(weights, point.scores[block.rows])
            self._judge(block, point)
            return block.pull_back(point.gradient[block.rows])

        gradient = self._sum(work, products=2)
        self._point = point
        return self._value(point), gradient

    def zero_scores(self) -> Floats:
        """Return the scores of w = 0."""
        return np.zeros(self.n_documents)

    def dot(self, u: Floats, v: Floats) -> float:
        """Return the inner product of two vectors of scores, added up block by block."""
        return sum(float(u[block.rows] @ v[block.rows]) for block in self._blocks)

    def spread(self, scores: Floats) -> float:
        """Return the standard deviation of scores."""
        mean = self.dot(scores, np.ones(self.n_documents)) / self.n_documents
        return float(np.sqrt(self.dot(scores - mean, scores - mean) / self.n_documents))

    def parts(self) -> tuple[LocalRisk, LocalRisk]:
        """Return the two convex risks of which this one, a tight bound, is the difference."""
        asked: Any = self.objective
        convex, subtracted = asked.convex_part(), asked.subtracted_part()
        return LocalRisk(self.data, convex, self.n_jobs), LocalRisk(self.data, subtracted, self.n_jobs)

    def scores(self, w: Floats) -> Floats:
        """Return ``X @ w`` in the stored row order."""
        weights, scores = self._weights(w), np.empty(self.n_documents)
        self._run(lambda block: block.score(weights, scores[block.rows]), products=1)
        return scores

    def at_scores(self, scores: Floats) -> tuple[float, Floats]:
        """Return the risk and its gradient u by the scores (stored row order), without touching the features."""
        scores = np.ascontiguousarray(scores, np.float64)
        if scores.shape != (self.n_documents,):
            raise InputError(f"scores: expected one for each of {self.n_documents} rows, got shape {scores.shape}")
        point = self._new_point(scores)
        self._run(lambda block: self._judge(block, point), products=0)
        return self._value(point), point.gradient

    def pull_back(self, u: Floats) -> Floats:
        """Return ``X.T @ u`` for a gradient u by the scores, as ``at_scores`` gives it."""
        return self._sum(lambda block: block.pull_back(u[block.rows]), products=1)

    def query(self, q: int, w: Floats) -> tuple[float, Floats, float]:
        """Return one query's loss, its gradient and the offset ``loss - gradient @ w`` of the tangent plane."""
        if not 0 <= q < self.n_queries:
            raise OptionError(f"query: expected a number from 0 to {self.n_queries - 1}, got {q}")
        begin = time.perf_counter()
        with single_threaded_blas():
            block = _Block(self.data.X, self.data.indptr, q, q + 1)
            scores, u = np.empty(block.n_rows), np.empty(block.n_rows)
            block.score(self._weights(w), scores)
            loss = float(self.prepared.evaluate(q, q + 1, scores, self._rank(block, scores), u)[0])
            gradient = block.pull_back(u)
        self._products += 2 * block.n_rows / self.data.n_documents
        self.seconds += time.perf_counter() - begin
        return loss, gradient, loss - float((u * scores).sum())

    def hessian_product(self, direction: Floats) -> Floats:
        """Return the (generalised) Hessian, at the weights last given to ``value_and_gradient``, times a direction."""
        point = self._point
        if point is None:
            raise OptionError("hessian_product: expected a call of value_and_gradient before")
        weights = self._weights(direction)

        def work(block: _Block) -> Floats:
            along, product = np.empty(block.n_rows), np.empty(block.n_rows)
            block.score(weights, along)
            order = point.order[block.rows] if self.prepared.ranks else point.order
            self.prepared.curve(block.first, block.last, point.scores[block.rows], order, along, product)
            self._weigh(block, product)
            return block.pull_back(product)

        return self._sum(work, products=2)

    # ---- the work on one block, on any thread -------------------------------------------------------------------

    def _judge(self, block: _Block, point: _Point) -> None:
        scores, gradient = point.scores[block.rows], point.gradient[block.rows]
        order = self._rank(block, scores)
        if self.prepared.ranks:
            point.order[block.rows] = order
        losses = self.prepared.evaluate(block.first, block.last, scores, order, gradient)
        point.losses[block.first : block.last] = losses
        self._weigh(block, gradient)

    def _rank(self, block: _Block, scores: Floats) -> Integers:
        if not np.isfinite(scores).all():
            if has_missing(self.data.X):
                raise InputError("X: expected no missing values (NaN) in training, got some; impute them first")
            raise InputError("scores: expected finite numbers, got an overflow: the weights or features are too large")
        return block.sorter.descending(scores) if self.prepared.ranks else np.empty(0, np.int64)

    def _weigh(self, block: _Block, values: Floats) -> None:
        if self.data.query_weight is None:
            values *= self.query_shares[0]
        else:
            values *= np.repeat(self.query_shares[block.first : block.last], block.sizes)

    # ---- all blocks ---------------------------------------------------------------------------------------------

    def _run(self, work: Callable[[_Block], Result], products: int) -> list[Result]:
        begin = time.perf_counter()
        with single_threaded_blas():
            results = map_threads(work, self._blocks, self.n_jobs)
        self._products += products
        self.seconds += time.perf_counter() - begin
        return results

    def _sum(self, work: Callable[[_Block], Floats], products: int) -> Floats:
        total = np.zeros(self.n_features)
        for part in self._run(work, products):
            total += part
        return total

    def _value(self, point: _Point) -> float:
        losses = point.losses * self.query_shares
        return sum(float(losses[block.first : block.last].sum()) for block in self._blocks)

    def _new_point(self, scores: Floats | None = None) -> _Point:
        return _Point(self.n_documents, self.n_queries, self.prepared.ranks, scores)

    def _weights(self, w: Floats) -> Floats:
        weights = np.ascontiguousarray(w, np.float64)
        if weights.shape != (self.n_features,):
            raise InputError(
                f"w: expected one weight for each of {self.n_features} features, got shape {weights.shape}"
            )
        return weights


def _blocks(data: Dataset) -> list[_Block]:
    return [_Block(data.X, data.indptr, a, b) for a, b in itertools.pairwise(block_borders(data.indptr).tolist())]
