"""The risk as solvers see it."""

from __future__ import annotations

from typing import Any, Protocol

from argrank._types import Floats

#: A vector with one number a row. Solvers only add, subtract and scale it: it may live on other machines.
Scores = Any


class Risk(Protocol):
    """A mean loss as a function of the scores ``X @ w``: all that a solver knows of data and objective.

    Only risks with ``per_query`` can be asked query by query, and only those with ``second_order`` have a Hessian (at
    least a generalised one). A risk that is a ``difference`` of two convex ones hands out both as ``parts()``.
    """

    n_features: int
    n_queries: int
    convex: bool
    smooth: bool
    second_order: bool
    difference: bool
    per_query: bool
    query_shares: Floats

    @property
    def n_passes(self) -> float:
        """Passes over the features so far."""

    @property
    def seconds(self) -> float:
        """Time spent in the risk so far."""

    def zero_scores(self) -> Scores:
        """Return the scores of w = 0, without a pass over the features."""

    def scores(self, w: Floats) -> Scores:
        """Return the scores of all rows: half a pass."""

    def at_scores(self, scores: Scores) -> tuple[float, Scores]:
        """Return the risk and its gradient by the scores, without a pass over the features."""

    def pull_back(self, u: Scores) -> Floats:
        """Return ``X.T @ u``, the gradient by the weights for a gradient u by the scores: half a pass."""

    def dot(self, u: Scores, v: Scores) -> float:
        """Return the inner product of two vectors of scores."""

    def spread(self, scores: Scores) -> float:
        """Return the standard deviation of scores."""

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        """Return the risk and its gradient: one pass."""

    def hessian_product(self, direction: Floats) -> Floats:
        """Return the Hessian at the last ``value_and_gradient`` times a direction: one pass."""

    def query(self, q: int, w: Floats) -> tuple[float, Floats, float]:
        """Return loss, gradient and offset of one query; it counts with its share."""

    def parts(self) -> tuple[Risk, Risk]:
        """Return the convex risk and the convex risk that is subtracted from it."""
