"""A linear model: score = features · weights. No intercept, since a constant moves no document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from argrank._types import Floats, Integers
from argrank.errors import ModelError
from argrank.models.model import Model, read_numbers, read_served, served_fields

BLOCK_CELLS = 1 << 19  # of float32 features that are converted at a time, in the cache


@dataclass(frozen=True, eq=False)
class LinearModel(Model):
    """Weights, the names of the features they belong to, and the normaliser that comes before them.

    Examples
    --------
    >>> import numpy as np
    >>> model = LinearModel(np.array([1.0, -2.0]), feature_names=("bm25", "price"))
    >>> model.predict(np.array([[3.0, 1.0], [1.0, 1.0]])).tolist()
    [1.0, -1.0]
    """

    kind: ClassVar[str] = "linear"
    spreads_infinity: ClassVar[bool] = True

    weights: Floats

    @property
    def n_features(self) -> int:
        """Number of weights."""
        return len(self.weights)

    def scores(self, X: Any, indptr: Integers | None = None) -> Floats:
        """Return ``normalised X @ weights`` in float64."""
        X = self.normalised(X, indptr)
        if isinstance(X, np.ndarray) and X.dtype == np.float32:
            return _product(X, self.weights)
        return np.asarray(X @ self.weights, dtype=np.float64)

    def contributions(self, X: Any, indptr: Integers | None = None) -> Any:
        """Return ``normalised X * weights``: exact, since a linear score is their sum."""
        X = self.normalised(X, indptr)
        if sparse.issparse(X):
            return sparse.csr_matrix(X.multiply(self.weights))
        return X * self.weights

    def shap_values(self, X: Any, indptr: Integers | None = None) -> Floats:
        """Return the contributions as an array: for a linear score they are the SHAP values but for constants."""
        found = self.contributions(X, indptr)
        return found.toarray() if sparse.issparse(found) else np.asarray(found, np.float64)

    def to_dict(self) -> dict[str, Any]:
        """Return weights (JSON keeps floats exactly), names and normaliser."""
        return {"weights": self.weights.tolist(), **served_fields(self)}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> LinearModel:
        """Make the model from the plain data of a model file."""
        weights = read_numbers(fields, "weights")
        if len(weights) == 0:
            raise ModelError("weights: expected a list of numbers, got none")
        return cls(weights, **read_served(fields, len(weights)))


def _product(X: Any, weights: Floats) -> Floats:
    """Return ``X @ weights`` of float32 features in float64, without a copy of all features as NumPy makes one."""
    n_rows = max(1, BLOCK_CELLS // X.shape[1])
    block, scores = np.empty((min(n_rows, len(X)), X.shape[1])), np.empty(len(X))
    for start in range(0, len(X), n_rows):
        rows = X[start : start + n_rows]
        converted = block[: len(rows)]
        np.copyto(converted, rows)
        np.dot(converted, weights, out=scores[start : start + n_rows])
    return scores
