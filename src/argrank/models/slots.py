"""Scores of documents at slots: x' W s for a document's features x and a slot's features s."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import linear_sum_assignment

from argrank._types import Floats, Integers
from argrank.data import checks
from argrank.data.dataset import Dataset
from argrank.data.prepare.normalise import Normaliser
from argrank.errors import InputError, ModelError
from argrank.models.model import StoredModel
from argrank.models.plain_data import read_served, scaled_fields


@dataclass(frozen=True, eq=False, repr=False)
class SlotModel(StoredModel):
    """Fill slots with documents. ``slots`` has the features of every slot, one row each; ``weights`` are W."""

    kind: ClassVar[str] = "slots"

    weights: Floats
    slots: Floats
    feature_names: tuple[str, ...] | None = None
    normaliser: Normaliser | None = None
    training: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_features(self) -> int:
        """Number of features a row must have."""
        return len(self.weights)

    def facts(self) -> list[tuple[str, str]]:
        """Return what the model tells of itself."""
        return [("features", f"{self.n_features:,}"), ("slots", f"{len(self.slots):,}"), *super().facts()]

    def predict(self, X: Any, *, qid: Any = None, group: Any = None) -> Floats:
        """Return the score of every row at every slot, in the caller's row order."""
        if isinstance(X, Dataset):
            return np.asarray(X.to_caller(self._scores(X)))
        if self.normaliser is not None and self.normaliser.needs_queries and qid is None and group is None:
            raise InputError("this model normalises features within queries: expected qid or group, got neither")
        X = checks.features(X)
        return self.predict(Dataset(X, None, qid, group=[X.shape[0]] if qid is None and group is None else group))

    def _scores(self, data: Dataset) -> Floats:
        if data.n_features != len(self.weights):
            raise InputError(
                f"X has {data.n_features} features, but this model is expecting {len(self.weights)} features"
            )
        X = data.X if self.normaliser is None else self.normaliser.apply(data.X, data.indptr)
        return np.asarray(X @ (self.weights @ self.slots.T), np.float64)

    def match(self, X: Any, *, qid: Any = None, group: Any = None) -> list[Integers]:
        """Return for every query the caller's row numbers, best assigned to the slots; -1 for an empty slot."""
        data = X if isinstance(X, Dataset) else Dataset(X, None, qid, group=group)
        return fill(data, self._scores(data))

    def to_dict(self) -> dict[str, Any]:
        """Return the weights and the slots as plain data for a model file."""
        return {
            "weights": self.weights.tolist(),
            "slots": self.slots.tolist(),
            **scaled_fields(self.feature_names, self.normaliser),
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> SlotModel:
        """Make the model from the plain data of a model file."""
        try:
            weights, slots = (np.array(fields[name], np.float64) for name in ("weights", "slots"))
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError("expected tables of numbers as weights and slots") from error
        if weights.ndim != 2 or slots.ndim != 2 or weights.shape[1] != slots.shape[1]:
            raise ModelError("expected weights for every feature of the slots")
        served = read_served(fields, len(weights))
        return cls(weights, slots, served["feature_names"], served["normaliser"])


def fill(data: Dataset, scores: Floats) -> list[Integers]:
    """Return for every query the caller's row number for each slot, best assigned by scores in stored row order."""
    rows, filled = np.arange(data.n_documents) if data.rows is None else data.rows, []
    for start, end in zip(data.indptr[:-1], data.indptr[1:], strict=True):
        documents, slots = linear_sum_assignment(scores[start:end], maximize=True)
        page = np.full(scores.shape[1], -1)
        page[slots] = rows[start + documents]
        filled.append(page)
    return filled
