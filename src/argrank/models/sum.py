"""Weighted sums: of models (blends, trees with a linear part), and of scikit-learn regressors, which have no file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, NoReturn

import numpy as np

from argrank._types import Floats, Integers
from argrank.errors import ModelError
from argrank.models import model_from
from argrank.models.model import Model, Thresholded
from argrank.models.plain_data import read_numbers, read_served, served_fields
from argrank.models.symmetric import SymmetricTrees
from argrank.models.trees import TreeModel

MEMBERS = ("kernel", "linear", "stumps", "symmetric-trees", "tree-classes", "trees")


@dataclass(frozen=True, eq=False, repr=False)
class SumModel(Model):
    """Score = sum of weight times the member's score. Each member may have its own normaliser.

    Examples
    --------
    >>> import numpy as np
    >>> from argrank.models.linear import LinearModel
    >>> parts = (LinearModel(np.array([1.0, 0.0])), LinearModel(np.array([0.0, 1.0])))
    >>> SumModel(parts, np.array([1.0, 10.0])).predict(np.array([[1.0, 2.0]])).tolist()
    [21.0]
    """

    kind: ClassVar[str] = "sum"
    compares: ClassVar[bool] = True

    members: tuple[Model, ...]
    weights: Floats

    @property
    def width(self) -> int:
        """Number of columns, used or not."""
        return self.members[0].n_features

    @property
    def needs_queries(self) -> bool:
        """Whether a member's score depends on the other documents of the query."""
        return super().needs_queries or any(member.needs_queries for member in self.members)

    def scores(self, X: Any, indptr: Integers | None = None) -> Floats:
        """Return the weighted sum of the members' scores, added in their order."""
        X = self.normalised(X, indptr)
        total = np.zeros(X.shape[0])
        for weight, member in zip(self.weights.tolist(), self.members, strict=True):
            total += weight * member.part_scores(X, indptr)
        return total

    def _contributions(self, X: Any, indptr: Integers | None) -> Any:
        """Return the contributions of features, summed over the members; None if a member has none."""
        total: Any = 0.0
        for weight, member in zip(self.weights.tolist(), self.members, strict=True):
            part = member.contributions(X, indptr)
            if part is None:
                return None
            total = total + weight * (part if isinstance(part, np.ndarray) else part.toarray())
        return total

    def _shap_parts(self, X: Any, indptr: Integers | None) -> Floats:
        total = np.zeros((X.shape[0], self.width))
        for weight, member in zip(self.weights.tolist(), self.members, strict=True):
            total += weight * member.shap_parts(X, indptr)
        return total

    def _own_facts(self) -> list[tuple[str, str]]:
        return [("sum of", ", ".join(_counted(self.members)))]

    def importances(self, kind: str = "gain") -> Floats:
        """Return what every feature contributed to the trees of the sum: their "gain", or their number ("split")."""
        total = np.zeros(self.n_features)
        for weight, member in zip(self.weights.tolist(), self.members, strict=True):
            if isinstance(member, TreeModel | SymmetricTrees | SumModel):
                total += (abs(weight) if kind == "gain" else 1.0) * member.importances(kind)
        return total

    def to_dict(self) -> dict[str, Any]:
        """Return weights and members, each with its kind, as plain data."""
        members = [{"kind": member.kind, "model": member.to_dict()} for member in self.members]
        return {"weights": self.weights.tolist(), **served_fields(self), "members": members}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> SumModel:
        """Make the model from the plain data of a model file, every member checked."""
        weights, given = read_numbers(fields, "weights"), fields.get("members")
        if not isinstance(given, list) or not given or len(given) != len(weights):
            raise ModelError("members: expected a list of models, one for each weight")
        members = tuple(_member(one) for one in given)
        width = members[0].n_features
        if any(member.n_features != width for member in members):
            raise ModelError("members: expected the same number of features in all of them")
        return cls(members, weights, **read_served(fields, width))


def _counted(members: Sequence[Model]) -> list[str]:
    """Return the kinds of members, each with its number."""
    counts = Counter(type(member).__name__ for member in members)
    return [f"{number} {name}{'s' if number > 1 else ''}" for name, number in counts.items()]


def _member(fields: Any) -> Model:
    kind = fields.get("kind") if isinstance(fields, dict) else None
    if kind not in MEMBERS or not isinstance(fields.get("model"), dict):
        raise ModelError(f"members: expected models of kind {', '.join(MEMBERS)}, got {kind!r:.60}")
    return model_from(kind, fields["model"])


class Member(NamedTuple):
    """A fitted regressor and its weight."""

    weight: float
    regressor: Any


@dataclass(frozen=True, eq=False, repr=False)
class EnsembleModel(Thresholded, Model):
    """Score = sum of weight times prediction. It holds foreign objects, so ``save`` raises; use joblib."""

    kind: ClassVar[str] = "ensemble"

    members: tuple[Member, ...]
    n_columns: int

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
