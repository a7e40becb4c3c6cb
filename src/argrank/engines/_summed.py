"""What every engine does alike: checks weights, counts passes, and adds up what the blocks give, in their order."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.errors import InputError
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
