"""The features column by column, for rankers that move one weight at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from argrank._blas import single_threaded_blas
from argrank._types import Floats
from argrank.data.dataset import Dataset


class Columns:
    """A second copy of the features in which columns lie together, and what is asked of them."""

    def __init__(self, data: Dataset) -> None:
        X = data.X
        self.n_features = int(X.shape[1])
        self._rows = X
        self._columns: Any = sparse.csc_matrix(X) if sparse.issparse(X) else np.asfortranarray(X)
        weight = None if data.query_weight is None else np.repeat(data.query_weight, data.sizes)
        self.spread = np.array([_deviation(self.column(j), weight) for j in range(self.n_features)])

    def column(self, number: int) -> Floats:
        """Return one feature of all rows, dense and in float64."""
        if not sparse.issparse(self._columns):
            return np.asarray(self._columns[:, number], np.float64)
        begin, end = self._columns.indptr[number : number + 2]
        values = np.zeros(self._columns.shape[0])
        values[self._columns.indices[begin:end]] = self._columns.data[begin:end]
        return values

    def scores(self, weights: Floats) -> Floats:
        """Return ``X @ weights`` in float64, with the same bits for any number of threads."""
        with single_threaded_blas():
            scores: Floats = np.asarray(self._rows @ weights, np.float64)
        return scores

    def scaled(self, weights: Floats) -> Floats:
        """Return weights of features of unit spread as weights of the features as they are; 0 for constant ones."""
        scaled = np.zeros(self.n_features)
        np.divide(weights, self.spread, out=scaled, where=self.spread > 0)
        return scaled

    def normed(self, weights: Floats) -> Floats:
        """Return weights divided so that, of features of unit spread, they would have a length near 1.

        The divisor is a power of two: no score's rounding changes, so no two documents change their order.
        """
        norm = float(np.linalg.norm(weights * self.spread))
        return np.asarray(weights * 2.0 ** -round(np.log2(norm))) if norm > 0 else weights


def _deviation(values: Floats, weight: Floats | None) -> float:
    mean = np.average(values, weights=weight)
    return float(np.sqrt(np.average((values - mean) ** 2, weights=weight)))
