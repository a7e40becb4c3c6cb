"""Objectives: functions of the scores of one query.

An ``Objective`` holds parameters only. ``prepare`` processes the labels once and returns ``Prepared`` arrays, which
then evaluate any block of adjacent queries from scores, in stored row order, from any thread. Many queries are ranked
at once by NumPy's fast row sort on padded rows (``Sorter``).
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from argrank._declared import check_fields, checked
from argrank._jit import LazyKernel, curvature_over_queries, kernel, over_queries
from argrank._types import Filled, FilledMatrix, Floats, Integers, Matrix
from argrank.data.checks import as_array, numbers
from argrank.data.dataset import Dataset
from argrank.errors import InputError
from argrank.measures.gains import check_gain
from argrank.measures.structure import Structure, level_numbers, pair_counts


class Prepared(ABC):
    """An objective prepared for one Dataset: evaluates blocks of adjacent queries.

    ``scores``, ``order``, ``gradient``, ``direction`` and ``product`` hold only the rows of the block, and every call
    may come from another thread. ``order`` ranks the rows of every query by descending score, counted from the query's
    first row; it is empty where ``ranks`` is False.
    """

    indptr: Integers
    ranks: bool

    @property
    def sampled(self) -> tuple[int, Integers] | None:
        """The bytes and the sizes of the samples of rankings that were drawn; None if the objective draws none."""
        return None

    @abstractmethod
    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Return the losses of the queries first … last - 1 and fill in the gradients by their scores."""

    def curve(self, first: int, last: int, scores: Floats, order: Integers, direction: Floats, product: Floats) -> None:
        """Fill in the (generalised) Hessian by the scores times a direction; for second-order objectives."""
        raise NotImplementedError(f"{type(self).__name__} has no second derivative")


class Kernels(Prepared):
    """Prepared arrays of an objective that a numba kernel evaluates."""

    def __init__(
        self,
        indptr: Integers,
        gains: Floats,
        constants: Floats,
        kernel: LazyKernel,
        curvature: LazyKernel | None = None,
        ranks: bool = True,
    ) -> None:
        self.indptr, self.gains, self.constants = indptr, gains, constants
        self.kernel, self.curvature, self.ranks = kernel, curvature, ranks

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Run the kernel over the queries of the block."""
        indptr, losses = self.indptr[first : last + 1], np.empty(last - first)
        gains = self.gains[indptr[0] : indptr[-1]]
        if len(losses) == 1:  # for solvers that go query by query: calling the compiled loop costs 50 microseconds
            losses[0] = self.kernel(scores, order, gains, self.constants, gradient)
        else:
            over_queries(self.kernel, scores, order, gains, indptr, self.constants, losses, gradient)
        return losses

    def curve(self, first: int, last: int, scores: Floats, order: Integers, direction: Floats, product: Floats) -> None:
        """Run the curvature kernel over the queries of the block."""
        if self.curvature is None:
            super().curve(first, last, scores, order, direction, product)
            return
        indptr = self.indptr[first : last + 1]
        gains = self.gains[indptr[0] : indptr[-1]]
        curvature_over_queries(self.curvature, scores, order, gains, indptr, self.constants, direction, product)


class Objective(ABC):
    """A function of the scores to minimise; a frozen value without data."""

    name: ClassVar[str]
    convex: ClassVar[bool] = True
    mean_over: ClassVar[str] = "queries"  # the risk is a mean over these; or "pairs"
    smooth: ClassVar[bool] = False  # has a gradient everywhere
    second_order: ClassVar[bool] = False  # has a Hessian, at least a generalised one

    def __post_init__(self) -> None:
        check_fields(self)

    @abstractmethod
    def prepare(self, data: Dataset) -> Prepared:
        """Return the arrays with which blocks of this data's queries are evaluated."""

    @checked
    def __call__(self, scores: Any, data: Dataset) -> tuple[float, Floats]:
        """Return the risk and its gradient by the scores; scores and gradient in the caller's row order.

        The risk is a mean over the queries, or over all pairs of the data, see ``query_shares``.
        """
        stored = data.from_caller(numbers(scores, data.n_documents, "scores", "score"))
        stored = np.ascontiguousarray(stored)
        prepared = self._prepared(data)
        order = descending(stored, data.indptr) if prepared.ranks else np.empty(0, np.int64)
        gradient = np.zeros(data.n_documents)
        losses = prepared.evaluate(0, data.n_queries, stored, order, gradient)
        weights = self.query_shares(data)
        gradient *= np.repeat(weights, data.sizes)
        return float((losses * weights).sum()), data.to_caller(gradient)

    def query_shares(self, data: Dataset) -> Floats:
        """Return the factor of every query's loss in the risk: its weight, 1 unless given, over the total weight.

        For a mean over pairs, where a query's loss is a sum over its pairs, the total is the weighted number of pairs.
        """
        pairs = self.n_pairs(data) if self.mean_over == "pairs" else None
        return query_weights(data) / total_weight(data, pairs)

    def n_pairs(self, data: Dataset) -> Floats:
        """Return how many pairs every query has: those of different label unless the objective counts others."""
        return pair_counts(data.indptr, level_numbers(require_labels(data, self.name), data.indptr))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what was prepared for the last data: copies have no data either."""
        return {name: value for name, value in self.__dict__.items() if name != "_last"}

    def _prepared(self, data: Dataset) -> Prepared:
        """Prepare, or reuse what the last call prepared for the same data, as custom training loops call often."""
        known: tuple[weakref.ref[Dataset], Prepared] | None = self.__dict__.get("_last")
        if known is not None and known[0]() is data:
            return known[1]
        prepared = self.prepare(data)
        self.__dict__["_last"] = (weakref.ref(data), prepared)
        return prepared


@dataclass(frozen=True, kw_only=True)
class OfGains(Objective):
    """An objective whose targets are gains of the labels."""

    gain: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "gain", check_gain(self.gain))


@runtime_checkable
class Difference(Protocol):
    """An objective that is one convex function less another, as the tight bounds are."""

    def convex_part(self) -> Objective:
        """Return the first convex function."""

    def subtracted_part(self) -> Objective:
        """Return the convex function that is subtracted."""


class Weighed(Protocol):
    """Data with known query weights, local or on a cluster."""

    @property
    def n_queries(self) -> int:
        """Number of queries."""

    @property
    def query_weight(self) -> Floats | None:
        """Weights of the queries, if they have any."""


def query_weights(data: Weighed) -> Floats:
    """Return the weights of the queries, 1 unless given."""
    return np.ones(data.n_queries) if data.query_weight is None else data.query_weight


def total_weight(data: Weighed, n_pairs: Floats | None = None) -> float:
    """Return the sum of the queries' weights, or of the weights of all their pairs, if given."""
    weights = query_weights(data)
    total = 0.0 if n_pairs is None else float((weights * n_pairs).sum())
    return total if total > 0 else float(weights.sum())


def query_shares(data: Dataset) -> Floats:
    """Return each query's weight in a mean over queries: 1/Q, or its share of the query weights."""
    return query_weights(data) / total_weight(data)


def require_labels(data: Dataset, name: str) -> Floats:
    """Return the labels, or raise if there are none."""
    if not data.is_judged:
        got = "data without judgements (y is None)" if data.gains is None else "row gains, which it does not support"
        raise InputError(f"{name}: expected data with labels, got {got}")
    return data.y


def require_targets(data: Dataset, name: str) -> Floats:
    """Return the rows' gains, or their labels, or raise if there are none."""
    return require_labels(data, name) if data.gains is None else data.gains


def row_gains(structure: Structure, data: Dataset, name: str) -> Floats:
    """Return the gain of every row: its own if rows have gains, else the measure's gain of its label."""
    require_targets(data, name)
    return structure.row_gains(data)


def refuse_row_weights(data: Dataset, name: str) -> None:
    """Raise if rows have different weights and the objective does not support them."""
    weight = data.sample_weight
    if weight is not None and (weight != weight[0]).any():
        raise InputError(
            f"{name}: expected equal row weights, since its loss is not a sum over rows, got sample_weight from "
            f"{weight.min():g} to {weight.max():g}; weight queries with query_weight instead"
        )


class Sum(Prepared):
    """Two prepared objectives added up, or the second subtracted from the first."""

    def __init__(self, one: Prepared, other: Prepared, sign: float = 1.0) -> None:
        self.indptr, self.ranks = one.indptr, one.ranks or other.ranks
        self._one, self._other, self._sign = one, other, sign

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Add losses and gradients."""
        losses = self._one.evaluate(first, last, scores, order, gradient)
        own = np.zeros_like(gradient)
        losses = losses + self._sign * self._other.evaluate(first, last, scores, order, own)
        gradient += self._sign * own
        return losses


class Shifted(Prepared):
    """A prepared objective plus a constant for every query."""

    def __init__(self, prepared: Prepared, constants: Floats) -> None:
        self.indptr, self.ranks = prepared.indptr, prepared.ranks
        self.prepared, self._constants = prepared, constants

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Add the constants."""
        return self.prepared.evaluate(first, last, scores, order, gradient) + self._constants[first:last]


def as_value(what: str, parameter: Any) -> Any:
    """Return arrays and lists as tuples of numbers, so that objectives can be compared and hashed."""
    if isinstance(parameter, np.ndarray | list):
        return tuple(np.atleast_1d(as_array(parameter, what, np.float64)).tolist())
    return parameter


@kernel()
def _pad(scores: Floats, starts: Integers, sizes: Integers, padded: FilledMatrix[np.float64]) -> None:
    for row in range(len(starts)):
        size = sizes[row]
        for column in range(size):
            padded[row, column] = -scores[starts[row] + column]
        for column in range(size, padded.shape[1]):
            padded[row, column] = np.inf


@kernel()
def _unpad(ranked: Matrix[np.int64], starts: Integers, sizes: Integers, order: Filled[np.int64]) -> None:
    for row in range(len(starts)):
        for column in range(sizes[row]):
            order[starts[row] + column] = ranked[row, column]


@kernel()
def _insert(scores: Floats, starts: Integers, sizes: Integers, order: Filled[np.int64]) -> None:
    for query in range(len(starts)):
        start = starts[query]
        for row in range(sizes[query]):
            score, place = scores[start + row], row
            while place > 0 and scores[start + order[start + place - 1]] < score:
                order[start + place] = order[start + place - 1]
                place -= 1
            order[start + place] = row


SHORT = 64  # documents of queries that are sorted stably by insertion, which is faster than NumPy's merges


class Sorter:
    """Sorts the queries of a block by score; queries of similar size together, so padding never doubles the work.

    ``indptr`` may count from the beginning of all data; the scores are those of the block's rows.
    """

    def __init__(self, indptr: Integers) -> None:
        starts, sizes = indptr[:-1] - indptr[0], np.diff(indptr)
        classes = np.frexp(sizes - 0.5)[1]  # sizes in (2^(k-1), 2^k] share class k
        members = [classes == size_class for size_class in np.unique(classes)]
        self._groups = [(starts[chosen], sizes[chosen]) for chosen in members]
        self._n_rows = int(sizes.sum())

    def descending(self, scores: Floats, stable: bool = False) -> Integers:
        """Return the row positions of every query, counted from its first row, best score first.

        Tied scores come in any order, or where ``stable`` by row: the unstable sort is several times faster, and any
        order gives a valid subgradient. Scores must be finite, as infinity marks the padding.
        """
        order = np.empty(self._n_rows, np.int64)
        for starts, sizes in self._groups:
            if stable and sizes.max() <= SHORT:
                _insert(scores, starts, sizes, order)
                continue
            padded = np.empty((len(sizes), sizes.max()))
            _pad(scores, starts, sizes, padded)
            _unpad(np.argsort(padded, axis=1, kind="stable" if stable else None), starts, sizes, order)
        return order


def descending(scores: Floats, indptr: Integers) -> Integers:
    """Sort queries by score once, see ``Sorter.descending``."""
    return Sorter(indptr).descending(scores)
