"""Sums for every label, of trees and a linear part: class probabilities; the score is the label's expected gain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from argrank._types import Floats, Integers
from argrank.errors import ModelError
from argrank.models._flat import FlatTrees
from argrank.models.formats import lightgbm
from argrank.models.linear import LinearModel
from argrank.models.plain_data import read_numbers, read_served, served_fields
from argrank.models.stored_trees import stored_trees, trees_from
from argrank.models.trees import TreeModel

LINKS = ("multi-class", "ordinal")
LINEAR = ("weights", "slopes")


@dataclass(frozen=True, eq=False, repr=False)
class TreeClassesModel(TreeModel):
    """Probabilities of the labels from sums of trees; score = sum over labels of probability times gain.

    ``link`` says how sums F become probabilities. "multi-class": softmax of one sum for each label. "ordinal": the
    chance of a label of at most the k-th is 1 / (1 + exp(-F_k)), one sum for each label but the last; differences of
    neighbours, those below 0 set to 0 and all scaled to add up to 1, are the probabilities (Li, Burges & Wu 2007).
    With a linear part, ``weights`` of the features and ``slopes``, slope k times ``features · weights`` belongs to F_k.
    """

    kind: ClassVar[str] = "tree-classes"

    labels: Floats
    gains: Floats
    link: str = "multi-class"
    weights: Floats | None = None
    slopes: Floats | None = None

    @property
    def n_outputs(self) -> int:
        """Number of sums."""
        return outputs_of(len(self.labels), self.link)

    @cached_property
    def _flat(self) -> FlatTrees:
        return FlatTrees(self.trees, self.n_outputs)

    def scores(self, X: Any, indptr: Integers | None = None) -> Floats:
        """Return the expected gain of every row's label."""
        return expected(self.probabilities(X, indptr), self.gains)

    def probabilities(self, X: Any, indptr: Integers | None = None) -> Floats:
        """Return one probability for every row and label."""
        return probabilities(self.sums(X, indptr), self.link)

    def sums(self, X: Any, indptr: Integers | None = None) -> Floats:
        """Return the sums from which probabilities are computed, one row for each document."""
        X = self.normalised(X, indptr)
        totals = self._flat.sums(X)
        if self.weights is not None and self.slopes is not None:
            totals += np.multiply.outer(LinearModel(self.weights).part_scores(X), self.slopes)
        return totals

    def to_lightgbm(self) -> str:
        """Return LightGBM's text form, which predicts the multi-class probabilities (or raw sums where ordinal)."""
        if self.weights is not None:
            raise ModelError("to_lightgbm: LightGBM has no linear part; train with start=None")
        n = self.n_outputs
        objective = f"multiclass num_class:{n}" if self.link == "multi-class" else "custom"
        return lightgbm.write(self.trees, self.n_columns, self.column_names, n, objective)

    def to_dict(self) -> dict[str, Any]:
        """Return labels, their gains, linear part, trees, names and normaliser."""
        linear = {"weights": self.weights, "slopes": self.slopes}
        return {
            "n_features": self.n_columns,
            "labels": self.labels.tolist(),
            "worth": self.gains.tolist(),
            "link": self.link,
            **{name: part.tolist() for name, part in linear.items() if part is not None},
            **served_fields(self),
            "trees": stored_trees(self.trees),
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> TreeClassesModel:
        """Make the model from the plain data of a model file, every part checked."""
        trees, n_features = trees_from(fields)
        link = fields.get("link")
        if link not in LINKS:
            raise ModelError(f"link: expected {' or '.join(LINKS)}, got {link!r:.60}")
        labels, gains = read_numbers(fields, "labels"), read_numbers(fields, "worth")
        if not 1 <= len(labels) == len(gains) or (np.diff(labels) <= 0).any():
            raise ModelError("labels: expected different labels in order, and a gain for each of them")
        if len(trees) % outputs_of(len(labels), link):
            raise ModelError("expected the same number of trees for every sum")
        linear: dict[str, Any] = {name: read_numbers(fields, name) for name in LINEAR if name in fields}
        if linear and [len(part) for part in linear.values()] != [n_features, outputs_of(len(labels), link)]:
            raise ModelError("expected weights, one for each feature, and slopes, one for each sum")
        return cls(tuple(trees), n_features, labels, gains, link, **linear, **read_served(fields, n_features))


def outputs_of(n_labels: int, link: str) -> int:
    """Return the number of sums for a number of labels; at least one, even if the data has a single label."""
    return max(1, n_labels if link == "multi-class" else n_labels - 1)


def probabilities(sums: Floats, link: str) -> Floats:
    """Return the probabilities of the labels from the sums of trees, one row for each document."""
    if link == "multi-class":
        powers = np.exp(sums - sums.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))
    at_most = 0.5 * (1.0 + np.tanh(0.5 * sums))  # the logistic function, without overflow
    edges = np.concatenate((np.zeros((len(sums), 1)), at_most, np.ones((len(sums), 1))), axis=1)
    parts = np.maximum(np.diff(edges, axis=1), 0.0)
    return np.asarray(parts / parts.sum(axis=1, keepdims=True))


def expected(chances: Floats, gains: Floats) -> Floats:
    """Return the expected gain, added label by label, so that blocks do not change the rounding."""
    total = np.zeros(len(chances))
    for label, one in enumerate(gains):
        total += chances[:, label] * one
    return total
