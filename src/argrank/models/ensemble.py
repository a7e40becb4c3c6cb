"""A weighted sum of scikit-learn regressors, which cannot be stored in a model file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, NoReturn

import numpy as np

from argrank._types import Floats, Integers
from argrank.errors import ModelError
from argrank.models.model import Model


class Member(NamedTuple):
    """A fitted regressor and its weight."""

    weight: float
    regressor: Any


@dataclass(frozen=True, eq=False, repr=False)
class EnsembleModel(Model):
    """Score = sum of weight times prediction. It holds foreign objects, so ``save`` raises; use joblib."""

    kind: ClassVar[str] = "ensemble"
    compares: ClassVar[bool] = True

    members: tuple[Member, ...]
    n_columns: int

    @property
    def width(self) -> int:
        """Number of columns, used or not."""
        return self.n_columns

    def scores(self, X: Any, indptr: Integers | None = None) -> Floats:
        """Return the weighted sum of the regressors' predictions."""
        X = self.normalised(X, indptr)
        return member_sums(self.members, X)[:, 0]

    def to_dict(self) -> NoReturn:
        """Raise: a model file holds data, and these regressors are code."""
        raise ModelError("an ensemble of scikit-learn regressors cannot be written to a model file; see joblib.dump")

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> NoReturn:
        """Raise, as there is no such file."""
        raise ModelError("an ensemble of scikit-learn regressors is not read from a model file")


def member_sums(members: Sequence[Member], X: Any, n_outputs: int = 1) -> Floats:
    """Return the weighted sum of predictions for every row, as a column."""
    total = np.zeros((X.shape[0], n_outputs))
    for member in members:
        total[:, 0] += member.weight * np.asarray(member.regressor.predict(X), np.float64)
    return total
