"""The risk as a sum over blocks of queries, in block order, and the engine for local threads.

The borders of blocks depend only on the data (``data.grouping``). Adding the blocks' results in block order is
bit-identical on any number of threads, processes and machines.
"""

from __future__ import annotations

import itertools
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import numpy as np

from argrank._blas import single_threaded_blas
from argrank._threads import map_threads
from argrank._types import Floats, Integers
from argrank.data.checks import has_missing
from argrank.data.dataset import Dataset
from argrank.data.grouping import block_borders
from argrank.data.mapped import give_back, row_view
from argrank.data.prepare.scaled_rows import ScaledRows
from argrank.errors import InputError, OptionError, shown
from argrank.models.dense_product import PULL_BACK, SCORE
from argrank.objectives.objective import Difference, Objective, Sorter

Result = TypeVar("Result")


class SummedRisk(ABC):
    """The risk of a linear model as a sum over blocks; an engine decides where the blocks are processed.

    Vectors of scores are of the engine's own type: they can be added, subtracted and scaled, and are stored with the
    rows.
    """

    n_queries: int
    n_documents: int
    n_features: int
    query_shares: Floats
    per_query: bool

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self.convex, self.smooth, self.second_order = objective.convex, objective.smooth, objective.second_order
        self.difference = not objective.convex and isinstance(objective, Difference)
        self.seconds = 0.0  # spent in here
        self._products = 0.0

    @property
    def n_passes(self) -> float:
        """Number of passes over the features; one product, forward or backward, is half a pass."""
        return self._products / 2

    def go_on(self, n_passes: float, seconds: float) -> None:
        """Continue counting passes and seconds from another process's counts."""
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
        """Return scores from given values, for instance of a checkpoint."""
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
        try:
            weights = np.ascontiguousarray(w, np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"w: expected {self.n_features} numbers, got {shown(w)}") from error
        if weights.shape != (self.n_features,):
            raise InputError(
                f"w: expected one weight for each of {self.n_features} features, got shape {weights.shape}"
            )
        return weights


class LocalRisk(SummedRisk):
    """The risk of a linear model: the mean of the objective at scores ``X @ w``, over queries or over pairs.

    One evaluation is one pass over the data: a block of queries is scored, sorted, evaluated and multiplied back while
    its features are in the cache. The borders of blocks depend only on the data and partial sums are added in block
    order, so results are bit-identical for any ``n_jobs``. Arithmetic is float64 even if the features are float32.

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
        asked = cast(Difference, self.objective)
        convex, subtracted = asked.convex_part(), asked.subtracted_part()
        return LocalRisk(self.data, convex, self.n_jobs), LocalRisk(self.data, subtracted, self.n_jobs)

    def sample(self) -> tuple[int, Integers] | None:
        """Return the bytes and the sizes of the samples of rankings that the objective has drawn, if it has."""
        return self.prepared.sampled

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
    """Scores, and the results of evaluating them; a new object for every evaluation."""

    def __init__(self, n_rows: int, n_queries: int, ranks: bool, scores: Floats | None = None) -> None:
        self.scores = np.empty(n_rows) if scores is None else scores
        self.order = np.empty(n_rows if ranks else 0, np.int64)
        self.gradient = np.zeros(n_rows)
        self.losses = np.empty(n_queries)


class Blocks:
    """The features of some data, block by block, and linear operations on vectors of scores."""

    def __init__(self, data: Dataset, borders: Iterable[int], n_jobs: int | None, gives_back: bool = False) -> None:
        self.data, self._n_jobs, self._gives_back = data, n_jobs, gives_back
        self._all = [Block(data.X, data.indptr, a, b) for a, b in itertools.pairwise(map(int, borders))]

    def __iter__(self) -> Iterator[Block]:
        return iter(self._all)

    def run(self, work: Callable[[Block], Result]) -> list[Result]:
        """Return the results of some work for every block, in block order."""

        def done(block: Block) -> Result:
            found = work(block)
            give_back(block.X)
            return found

        with single_threaded_blas():
            return map_threads(done if self._gives_back else work, self._all, self._n_jobs)

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

    A block is scored, sorted, evaluated and multiplied back while its features are in the cache.
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
        """Return every block's share of the risk at the weights and of its gradient, and the evaluated point."""
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
                "(normalise='standard'), or use smaller steps if the ranker has a learning_rate"
            )
        return block.sorter.descending(scores) if self.prepared.ranks else np.empty(0, np.int64)

    def _weigh(self, block: Block, values: Floats) -> None:
        if self._data.query_weight is None:
            values *= self._shares[0]
        else:
            values *= np.repeat(self._shares[block.first : block.last], block.sizes)


def map_blocks(
    data: Dataset,
    borders: Iterable[int],
    function: Callable[[Dataset], Result],
    n_jobs: int | None,
    gives_back: bool = False,
) -> list[Result]:
    """Apply a function to the Datasets of the blocks of some data, and return the results in block order."""
    parts = [data.between(a, b) for a, b in itertools.pairwise(map(int, borders))]

    def work(part: Dataset) -> Result:
        found = function(part._but(X=np.asarray(part.X)) if isinstance(part.X, ScaledRows) else part)
        if gives_back:
            give_back(part.X)
        return found

    with single_threaded_blas():
        return map_threads(work, parts, n_jobs)
