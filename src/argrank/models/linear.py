"""A linear model: score = features · weights. There is no intercept, since a constant changes no ranking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from argrank._types import Floats, Integers
from argrank.errors import ModelError
from argrank.models.dense_product import product
from argrank.models.model import Model
from argrank.models.plain_data import read_numbers, read_served, served_fields


@dataclass(frozen=True, eq=False, repr=False)
class LinearModel(Model):
    """Weights, the names of their features, and the normaliser applied before.

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
    def width(self) -> int:
        """Number of weights."""
        return len(self.weights)

    def scores(self, X: Any, indptr: Integers | None = None) -> Floats:
        """Return ``normalised X @ weights`` in float64."""
        return self._product(self.normalised(X, indptr))

    def part_scores(self, X: Any, indptr: Integers | None = None) -> Floats:
        """Return the same; a feature of weight 0 may be missing, since the trees of the sum take missing values."""
        X = self.normalised(X, indptr)
        scores = self._product(X)
        lost = np.flatnonzero(np.isnan(scores))
        if len(lost) and not self.weights.all():
            scores[lost] = self._product(self._without_unused(X[lost]))
        return scores

    def _product(self, X: Any) -> Floats:
        if isinstance(X, np.ndarray) and X.dtype == np.float32:
            return product(X, self.weights)
        return np.asarray(X @ self.weights, dtype=np.float64)

    def _without_unused(self, X: Any) -> Any:
        """Return features with 0 for the missing values of those that have no weight."""
        if not sparse.issparse(X):
            return np.where(np.isnan(X) & (self.weights == 0), X.dtype.type(0), X)
        X = X.copy()
        X.data[np.isnan(X.data) & (self.weights == 0)[X.indices]] = 0
        return X

    def _contributions(self, X: Any, indptr: Integers | None) -> Any:
        """Return ``X * weights``: exact, since a linear score is their sum."""
        X = self._without_unused(X)
        if sparse.issparse(X):
            return sparse.csr_matrix(X.multiply(self.weights))
        return X * self.weights

    def _shap_parts(self, X: Any, indptr: Integers | None) -> Floats:
        found = self._contributions(X, indptr)
        return found.toarray() if sparse.issparse(found) else np.asarray(found, np.float64)

    def _own_facts(self) -> list[tuple[str, str]]:
        return [("weights", f"{np.count_nonzero(self.weights):,} that are not 0")]

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
