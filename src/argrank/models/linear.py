"""A linear model: score = features · weights. No intercept, since a constant moves no document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from argrank.data.normalise import Normaliser
from argrank.errors import ModelError
from argrank.models._base import Model


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

    weights: NDArray[np.float64]
    feature_names: tuple[str, ...] | None = None
    normaliser: Normaliser | None = None
    training: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_features(self) -> int:
        """Number of weights."""
        return len(self.weights)

    def scores(self, X: Any, indptr: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Return ``normalised X @ weights`` in float64."""
        if self.normaliser is not None:
            X = self.normaliser.apply(X, indptr)
        return np.asarray(X @ self.weights, dtype=np.float64)

    def served(
        self, feature_names: tuple[str, ...] | None, normaliser: Normaliser | None, training: Mapping[str, Any]
    ) -> LinearModel:
        """Return the same weights with names, normaliser and training summary."""
        return replace(self, feature_names=feature_names, normaliser=normaliser, training=training)

    def to_dict(self) -> dict[str, Any]:
        """Return weights (JSON keeps floats exactly), names and normaliser."""
        return {
            "weights": self.weights.tolist(),
            "feature_names": None if self.feature_names is None else list(self.feature_names),
            "normaliser": None if self.normaliser is None else self.normaliser.to_dict(),
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> LinearModel:
        """Make the model from the plain data of a model file."""
        weights, names = fields.get("weights"), fields.get("feature_names")
        if not isinstance(weights, list) or not weights or not all(type(w) in (int, float) for w in weights):
            raise ModelError("expected a list of numbers as weights")
        named = isinstance(names, list) and len(names) == len(weights) and all(isinstance(name, str) for name in names)
        if names is not None and not named:
            raise ModelError(f"expected {len(weights)} feature names")
        normaliser = fields.get("normaliser")
        return cls(
            np.array(weights, np.float64),
            None if names is None else tuple(names),
            None if normaliser is None else Normaliser.from_dict(normaliser),
        )
