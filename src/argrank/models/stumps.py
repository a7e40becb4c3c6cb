"""Step functions of single features: score = sum over steps of weight where the feature exceeds a threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from argrank._types import Floats, Integers
from argrank.data.prepare.normalise import Normaliser
from argrank.errors import ModelError
from argrank.models.model import Model, read_served, served_fields


@dataclass(frozen=True, eq=False)
class StumpsModel(Model):
    """Steps as three arrays, the names of the features, and the normaliser that comes before them.

    Examples
    --------
    >>> import numpy as np
    >>> model = StumpsModel(np.array([0, 0]), np.array([1.0, 2.0]), np.array([0.5, 0.25]), n_columns=1)
    >>> model.predict(np.array([[1.0], [2.0], [3.0]])).tolist()
    [0.0, 0.5, 0.75]
    """

    kind: ClassVar[str] = "stumps"

    features: Integers
    thresholds: Floats
    steps: Floats
    n_columns: int
    feature_names: tuple[str, ...] | None = None
    normaliser: Normaliser | None = None
    training: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_features(self) -> int:
        """Number of features a row must have, used or not."""
        return self.n_columns

    def scores(self, X: Any, indptr: Integers | None = None) -> Floats:
        """Return, for every row, the sum of the steps it takes; NaN where a used feature is missing."""
        X = self.normalised(X, indptr)
        total = np.zeros(X.shape[0])
        columns = X if isinstance(X, np.ndarray) else X.tocsc()
        for feature in np.unique(self.features).tolist():
            own = np.flatnonzero(self.features == feature)
            own = own[np.argsort(self.thresholds[own], kind="stable")]
            heights = np.concatenate(([0.0], np.cumsum(self.steps[own])))
            column = columns[:, [feature]]
            values = np.asarray(column if isinstance(column, np.ndarray) else column.toarray(), np.float64).reshape(-1)
            total += np.where(np.isnan(values), np.nan, heights[np.searchsorted(self.thresholds[own], values)])
        return total

    def to_dict(self) -> dict[str, Any]:
        """Return the steps (JSON keeps floats exactly), names and normaliser."""
        return {
            "n_features": self.n_columns,
            **served_fields(self),
            "features": self.features.tolist(),
            "thresholds": self.thresholds.tolist(),
            "steps": self.steps.tolist(),
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> StumpsModel:
        """Make the model from the plain data of a model file."""
        n_features = fields.get("n_features")
        if type(n_features) is not int or n_features < 1:
            raise ModelError("expected a positive number of features")
        features = _list(fields, "features", (int,))
        thresholds, steps = _list(fields, "thresholds", (int, float)), _list(fields, "steps", (int, float))
        if not len(features) == len(thresholds) == len(steps):
            raise ModelError("expected a feature, a threshold and a step of equal number")
        if not all(0 <= feature < n_features for feature in features):
            raise ModelError(f"expected features from 0 to {n_features - 1}")
        arrays = (np.array(features, np.int64), np.array(thresholds, np.float64), np.array(steps, np.float64))
        return cls(*arrays, n_features, *read_served(fields, n_features))


def _list(fields: Mapping[str, Any], name: str, kinds: tuple[type, ...]) -> list[Any]:
    values = fields.get(name)
    if not isinstance(values, list) or not all(type(value) in kinds for value in values):
        raise ModelError(f"expected {name} to be a list of numbers")
    return values
