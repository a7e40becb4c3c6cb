"""The blocks of queries of which all work on a risk consists, and what an objective says of each.

Borders of blocks depend on the data alone (``data.blocks``). Whoever adds up what the blocks give, in their order, gets
the same bits on any number of threads, processes and machines.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from argrank._blas import single_threaded_blas
from argrank._threads import map_threads
from argrank._types import Floats, Integers
from argrank.data.checks import has_missing
from argrank.data.dataset import Dataset
from argrank.data.mapped import row_view
from argrank.data.prepare.scaled_rows import ScaledRows
from argrank.errors import InputError
from argrank.models.dense_product import PULL_BACK, SCORE
from argrank.objectives.objective import Objective, Sorter

Result = TypeVar("Result")


class Block:
    """Adjacent queries: their numbers, rows and features (views, also of a sparse matrix)."""

    def __init__(self, X: Any, indptr: Integers, first: int, last: int) -> None:
        self.first, self.last = first, last
        self.rows = slice(int(indptr[first]), int(indptr[last]))
        self.n_rows = self.rows.stop - self.rows.start
        self.sizes = np.diff(indptr[first : last + 1])
        self.sorter = Sorter(indptr[first : last + 1])
        self._scaling = X if isinstance(X, ScaledRows) else None
        self.X = row_view(X if self._scaling is None else self._scaling.rows, self.rows)
        self._is_dense = isinstance(self.X, np.ndarray)

    def score(self, weights: Floats, scores: Floats) -> None:
        """Fill in ``X @ weights``; SciPy widens the values of a sparse float32 matrix itself."""
        if self._scaling is not None:
            weights = weights * self._scaling.factor
        if self._is_dense:
            SCORE[self.X.dtype](self.X, weights, scores)
        else:
            scores[:] = self.X @ weights
        if self._scaling is not None:
            scores -= self._scaling.shift @ weights

    def pull_back(self, u: Floats) -> Floats:
        """Return ``X.T @ u``."""
        if self._is_dense:
            gradient = np.empty(self.X.shape[1])
            PULL_BACK[self.X.dtype](self.X, u, gradient)
        else:
            gradient = np.asarray(self.X.T @ u)
        if self._scaling is None:
            return gradient
        return np.asarray((gradient - self._scaling.shift * u.sum()) * self._scaling.factor)


class Point:
    """Scores, and what was found there; a new one for every evaluation, so that none sees another's leftovers."""

    def __init__(self, n_rows: int, n_queries: int, ranks: bool, scores: Floats | None = None) -> None:
        self.scores = np.empty(n_rows) if scores is None else scores
        self.order = np.empty(n_rows if ranks else 0, np.int64)
        self.gradient = np.zeros(n_rows)
        self.losses = np.empty(n_queries)


class Blocks:
    """The features of some data, block by block; what is linear in vectors of scores."""

    def __init__(self, data: Dataset, borders: Iterable[int], n_jobs: int | None) -> None:
        self.data, self._n_jobs = data, n_jobs
        self._all = [Block(data.X, data.indptr, a, b) for a, b in itertools.pairwise(map(int, borders))]

    def __iter__(self) -> Iterator[Block]:
        return iter(self._all)

    def run(self, work: Callable[[Block], Result]) -> list[Result]:
        """Return what some work gives for every block, in their order."""
        with single_threaded_blas():
            return map_threads(work, self._all, self._n_jobs)

    def scores(self, weights: Floats) -> Floats:
        """Return ``X @ weights``."""
        scores = np.empty(self.data.n_documents)
        self.run(lambda block: block.score(weights, scores[block.rows]))
        return scores

    def pull_back(self, u: Floats) -> list[Floats]:
        """Return every block's share of ``X.T @ u``."""
        return self.run(lambda block: block.pull_back(u[block.rows]))

    def dots(self, u: Floats, v: Floats) -> list[float]:
        """Return every block's share of the inner product of two vectors of scores."""
        return [float(u[block.rows] @ v[block.rows]) for block in self._all]


class Judge:
    """An objective on blocks; ``shares`` are the factors of the queries' losses.

    A block is scored, sorted, judged and pulled back while its features are in the cache.
    """

    def __init__(self, blocks: Blocks, objective: Objective, shares: Floats) -> None:
        self._blocks, self._data, self._shares = blocks, blocks.data, shares
        self.prepared = objective.prepare(blocks.data)

    def at_scores(self, scores: Floats) -> tuple[list[float], Floats]:
        """Return every block's share of the risk at the scores, and the gradient by the scores."""
        point = self._new_point(scores)
        self._blocks.run(lambda block: self._judge(block, point))
        return self._values(point), point.gradient

    def at_weights(self, weights: Floats) -> tuple[list[float], list[Floats], Point]:
        """Return every block's share of the risk at the weights and of its gradient, and what was found there."""
        point = self._new_point()

        def work(block: Block) -> Floats:
            block.score(weights, point.scores[block.rows])
            self._judge(block, point)
            return block.pull_back(point.gradient[block.rows])

        gradients = self._blocks.run(work)
        return self._values(point), gradients, point

    def curve(self, point: Point, weights: Floats) -> list[Floats]:
        """Return every block's share of the Hessian at a point times a direction of weights."""

        def work(block: Block) -> Floats:
            along, product = np.empty(block.n_rows), np.empty(block.n_rows)
            block.score(weights, along)
            order = point.order[block.rows] if self.prepared.ranks else point.order
            self.prepared.curve(block.first, block.last, point.scores[block.rows], order, along, product)
            self._weigh(block, product)
            return block.pull_back(product)

        return self._blocks.run(work)

    def query(self, q: int, weights: Floats) -> tuple[float, Floats, float]:
        """Return one query's loss, its gradient and the offset ``loss - gradient @ weights`` of the tangent plane."""
        block = Block(self._data.X, self._data.indptr, q, q + 1)
        scores, u = np.empty(block.n_rows), np.empty(block.n_rows)
        with single_threaded_blas():
            block.score(weights, scores)
            loss = float(self.prepared.evaluate(q, q + 1, scores, self._rank(block, scores), u)[0])
            return loss, block.pull_back(u), loss - float((u * scores).sum())

    def _new_point(self, scores: Floats | None = None) -> Point:
        return Point(self._data.n_documents, self._data.n_queries, self.prepared.ranks, scores)

    def _values(self, point: Point) -> list[float]:
        losses = point.losses * self._shares
        return [float(losses[block.first : block.last].sum()) for block in self._blocks]

    # ---- the work on one block, on any thread -------------------------------------------------------------------

    def _judge(self, block: Block, point: Point) -> None:
        scores, gradient = point.scores[block.rows], point.gradient[block.rows]
        order = self._rank(block, scores)
        if self.prepared.ranks:
            point.order[block.rows] = order
        losses = self.prepared.evaluate(block.first, block.last, scores, order, gradient)
        point.losses[block.first : block.last] = losses
        self._weigh(block, gradient)

    def _rank(self, block: Block, scores: Floats) -> Integers:
        if not np.isfinite(scores).all():
            if has_missing(self._data.X):
                raise InputError("X: expected no missing values (NaN) in training, got some; impute them first")
            raise InputError(
                "scores: expected finite numbers, got an overflow: the weights or features are too large; scale them "
                "(normalise='standard'), or take smaller steps where the ranker has a learning_rate"
            )
        return block.sorter.descending(scores) if self.prepared.ranks else np.empty(0, np.int64)

    def _weigh(self, block: Block, values: Floats) -> None:
        if self._data.query_weight is None:
            values *= self._shares[0]
        else:
            values *= np.repeat(self._shares[block.first : block.last], block.sizes)


def sample_of(prepared: Any) -> tuple[int, Integers] | None:
    """Return the bytes and the sizes of the samples of rankings that a prepared objective has drawn, if it has."""
    sample = getattr(prepared, "sample", None)
    return None if sample is None else (sample.nbytes, np.diff(sample.samples))


def map_blocks(
    data: Dataset, borders: Iterable[int], function: Callable[[Dataset], Result], n_jobs: int | None
) -> list[Result]:
    """Apply a function to the Datasets of the blocks of some data, and return what it gives in their order."""
    parts = [data.between(a, b) for a, b in itertools.pairwise(map(int, borders))]

    def work(part: Dataset) -> Result:
        return function(part._but(X=np.asarray(part.X)) if isinstance(part.X, ScaledRows) else part)

    with single_threaded_blas():
        return map_threads(work, parts, n_jobs)
