"""Additive regression trees: score = sum of one value per tree, predicted in NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from argrank._types import Floats, Integers
from argrank.errors import ModelError, OptionError
from argrank.models._flat import FlatTrees
from argrank.models.formats import lightgbm
from argrank.models.model import Model, Thresholded
from argrank.models.plain_data import read_served, served_fields
from argrank.models.stored_trees import stored_trees, trees_from
from argrank.models.tree import Tree


@dataclass(frozen=True, eq=False, repr=False)
class TreeModel(Thresholded, Model):
    """Base class of models of trees."""

    trees: tuple[Tree, ...]
    n_columns: int

    def _own_facts(self) -> list[tuple[str, str]]:
        return [("trees", f"{len(self.trees):,}")]

    def importances(self, kind: str = "gain") -> Floats:
        """Return what every feature contributed: the summed "gain" of its splits, or their number ("split")."""
        if kind not in ("gain", "split"):
            raise OptionError(f'importance: expected "gain" or "split", got {kind!r}')
        total = np.zeros(self.n_columns)
        for tree in self.trees:
            np.add.at(total, tree.feature, tree.gain if kind == "gain" else 1.0)
        return total


def tree_sums(trees: Sequence[Tree], X: Any, n_outputs: int = 1) -> Floats:
    """Return the sum of the trees' values for every row and output; tree i belongs to output i modulo ``n_outputs``."""
    return FlatTrees(trees, n_outputs).sums(X)


@dataclass(frozen=True, eq=False, repr=False)
class TreesModel(TreeModel):
    r"""Trees as plain arrays, the names of their features, and the normaliser applied before.

    Missing values and categories are handled as in LightGBM, and predictions agree with LightGBM's, which is not needed
    to predict or load.

    Examples
    --------
    >>> import numpy as np
    >>> model = TreesModel.from_lightgbm(
    ...     "tree\nfeature_names=bm25 price\n\nTree=0\nleaf_value=0.5 2.0\nsplit_feature=0\nthreshold=1.5\n"
    ...     "decision_type=2\nleft_child=-1\nright_child=-2\nsplit_gain=1.0\nleaf_count=3 4\n"
    ... )
    >>> model.predict(np.array([[1.0, 0.0], [3.0, 0.0]])).tolist()
    [0.5, 2.0]
    """

    kind: ClassVar[str] = "trees"

    @cached_property
    def _flat(self) -> FlatTrees:
        return FlatTrees(self.trees)

    def scores(self, X: Any, indptr: Integers | None = None) -> Floats:
        """Return the sum of the trees' values for every row."""
        X = self.normalised(X, indptr)
        return self._flat.sums(X)[:, 0]

    def _contributions(self, X: Any, indptr: Integers | None) -> Any:
        """Return each feature's contributions along the rows' paths through the trees."""
        return self._flat.contributions(X)

    def _shap_parts(self, X: Any, indptr: Integers | None) -> Floats:
        return self._flat.shap_values(X)

    def to_lightgbm(self) -> str:
        """Return LightGBM's text form: ``lightgbm.Booster(model_str=…)`` predicts the same from normalised features."""
        return lightgbm.write(self.trees, self.n_columns, self.column_names, 1, "regression")

    @classmethod
    def from_lightgbm(cls, booster: Any) -> TreesModel:
        """Convert a LightGBM booster (or its text form); its raw scores are this model's scores."""
        text = booster if isinstance(booster, str) else booster.model_to_string()
        read = lightgbm.read(text)
        if read.n_outputs != 1 or not read.trees:
            raise ModelError(f"expected trees with one output, got {read.n_outputs} outputs, {len(read.trees)} trees")
        return cls(tuple(read.trees), len(read.feature_names), feature_names=read.feature_names)

    def to_dict(self) -> dict[str, Any]:
        """Return trees, names and normaliser."""
        return {"n_features": self.n_columns, **served_fields(self), "trees": stored_trees(self.trees)}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> TreesModel:
        """Make the model from the plain data of a model file; every path through a tree is checked to end in a leaf."""
        trees, n_features = trees_from(fields)
        return cls(tuple(trees), n_features, **read_served(fields, n_features))
