"""Step functions of single features: score = sum over steps of weight where the feature exceeds a threshold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._types import Floats, Integers
from argrank.errors import ModelError
from argrank.models._rows import as_doubles
from argrank.models.model import Model, Thresholded
from argrank.models.plain_data import read_numbers, read_served, read_width, served_fields


@dataclass(frozen=True, eq=False, repr=False)
class StumpsModel(Thresholded, Model):
    """Steps as three arrays, the names of the features, and the normaliser applied before.

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

    def scores(self, X: Any, indptr: Integers | None = None) -> Floats:
        """Return, for every row, the sum of the steps it takes; NaN where a used feature is missing."""
        total = np.zeros(X.shape[0])
        for _, heights in self._heights(self.normalised(X, indptr)):
            total += heights
        return total

    def _contributions(self, X: Any, indptr: Integers | None) -> Floats:
        """Return the steps that each feature takes: exact, as they are added up."""
        found = np.zeros((X.shape[0], self.width))
        for feature, heights in self._heights(X):
            found[:, feature] = heights
        return found

    _shap_parts = _contributions

    def _own_facts(self) -> list[tuple[str, str]]:
        return [("steps", f"{len(self.steps):,}")]

    def _heights(self, X: Any) -> Iterator[tuple[int, Floats]]:
        """Yield each feature that has steps, with its contribution to every row; NaN if it is missing."""
        columns = X if isinstance(X, np.ndarray) else X.tocsc()
        for feature in np.unique(self.features).tolist():
            own = np.flatnonzero(self.features == feature)
            own = own[np.argsort(self.thresholds[own], kind="stable")]
            heights = np.concatenate(([0.0], np.cumsum(self.steps[own])))
            values = as_doubles(columns[:, [feature]])[:, 0]
            yield feature, np.where(np.isnan(values), np.nan, heights[np.searchsorted(self.thresholds[own], values)])

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
        n_features, features = read_width(fields), fields.get("features")
        thresholds, steps = read_numbers(fields, "thresholds"), read_numbers(fields, "steps")
        if not isinstance(features, list) or not len(features) == len(thresholds) == len(steps):
            raise ModelError("expected a feature, a threshold and a step of equal number")
        if not all(type(feature) is int and 0 <= feature < n_features for feature in features):
            raise ModelError(f"expected features from 0 to {n_features - 1}")
        return cls(np.array(features, np.int64), thresholds, steps, n_features, **read_served(fields, n_features))
