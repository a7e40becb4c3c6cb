"""Base class of rankers whose trees LightGBM grows: its parameters, continuing from a model, callbacks, clusters."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from argrank._declared import Count32, NotNegative
from argrank._files import check_path, refuse_endless
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.data.prepare.normalise import Normaliser
from argrank.data.prepare.preparation import Preparation
from argrank.engines import is_distributed
from argrank.errors import InputError, OptionError, shown
from argrank.models.files import load_model
from argrank.models.linear import LinearModel
from argrank.models.model import Model, fitted_model
from argrank.models.sum import SumModel
from argrank.models.tree import Tree
from argrank.models.trees import TreesModel
from argrank.rankers.base_ranker import BaseRanker
from argrank.rankers.boosted.trees.boosted_ranker import LeafwiseRanker
from argrank.rankers.boosted.trees.boosting import Boosters, Loss, Starts, State
from argrank.rankers.boosted.trees.gradient_boosted_ranker import GradientBoostedRanker, mapping
from argrank.rankers.boosted.trees.lightgbm import (
    common_parameters,
    feature_columns,
    further_parameters,
    load_lightgbm,
)
from argrank.rankers.boosted.trees.linear_start import joined
from argrank.rankers.boosted.trees.seeded_boosters import LightGBMBoosters
from argrank.rankers.checkpoint import Checkpoint
from argrank.rankers.trace import Outcome, Watcher


@dataclass(eq=False, repr=False, kw_only=True)
class LightGBMRanker(GradientBoostedRanker, LeafwiseRanker):
    """Trees that LightGBM grows on the gradients of a loss; missing values are handled by LightGBM.

    The defaults regularise: a small rate, random rows, features and cuts for every tree. They gained as much over
    LightGBM's defaults as a better loss does.

    Parameters
    ----------
    max_depth
        Most splits between root and leaf; None for no limit. Set it if prediction time matters.
    l1, l2
        Penalties on the values of the leaves. Raise ``l2`` first if training is far better than validation.
    interactions : sequence of sequences of feature names or column numbers, optional
        Groups of features that may be combined on a path to a leaf; by default all may.
    init_model : ranker, model, LightGBM booster or file of a model, optional
        Continue from this model: the first tree starts from its scores. It replaces ``start``. Texts and dates of the
        data are matched to those that it was trained on; new texts are added.
    callbacks : sequence of callables, optional
        Called like LightGBM's (``lightgbm.log_evaluation``, ``record_evaluation``, ``reset_parameter``, …), with
        ``scoring`` on every ``eval_set``.
    lightgbm_params : dict, optional
        Further parameters for LightGBM, by any of its names. Unknown ones are an error, and so are those that have a
        parameter here, such as ``monotone``.
    random_state
        Seeds the draws of rows, features and cuts.
    """

    max_depth: Count32 | None = None
    l1: NotNegative = 0.0
    interactions: Sequence[Sequence[int | str]] | None = None
    init_model: Any = None
    callbacks: Sequence[Callable[[Any], Any]] | None = None
    lightgbm_params: Mapping[str, Any] | None = None

    @property
    def _callbacks(self) -> Sequence[Callable[[Any], Any]] | None:
        return self.callbacks

    def _boosters(self, data: Dataset, parts: Sequence[Dataset], loss: Loss, starts: Starts, kept: State) -> Boosters:
        categorical = feature_columns("categorical_features", self.categorical_features, data)
        return LightGBMBoosters(data, parts, self._parameters(data), categorical, self._seeds(), loss, starts, kept)

    def finished_model(
        self, boosters: LightGBMBoosters, sizes: Sequence[int], start: Model | None, offset: float, data: Dataset
    ) -> Model:
        """Return the model of the given number of rounds of each booster."""
        trees = boosters.trees(sizes) or [Tree.constant(0.0, data.n_documents)]
        trees[0] = trees[0].with_values(trees[0].value + offset)
        return joined(start, trees, data.n_features)

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        if not is_distributed(data):
            return super()._train(data, watcher, start)
        from argrank.rankers.boosted.trees import _cluster_trees

        self._check()
        return _cluster_trees.train(self, cast(Any, data), self._seeds(), watcher)

    def _fit(
        self,
        data: Dataset,
        validations: list[Dataset],
        start: Floats | None = None,
        keeper: Checkpoint | None = None,
    ) -> BaseRanker:
        model = self._given_model()
        return super()._fit(data if model is None else coded_like(model, data), validations, start, keeper)

    def _preparation(self, data: Dataset) -> Preparation | None:
        model = self._given_model()
        found = super()._preparation(data) if model is None else model.preparation
        if found is not None and len(found.texts) and self.interactions is not None:
            raise OptionError("interactions: expected none if columns are derived from texts (prepare), got some")
        return found

    def _scaling(self, data: Dataset) -> Normaliser | None:
        model = self._given_model()
        if model is None:
            return super()._scaling(data)
        own = None if model.normaliser is None else model.normaliser.name
        if self.normalise not in (None, own):
            raise OptionError(f"normalise: expected that of init_model, {shown(own)}, got {shown(self.normalise)}")
        return model.normaliser

    def _given_model(self) -> Model | None:
        return None if self.init_model is None else read_model(self.init_model)

    def _start_model(self, data: Dataset, loss: Loss) -> Model | None:
        given = self._given_model()
        if given is not None:
            if given.width != data.n_features or given.column_names not in (None, data.feature_names):
                expected = ", ".join(given.feature_names or ()) or f"{given.n_features} of them"
                raise InputError(f"init_model: expected the features that it was trained on, {expected}")
            return replace(given, normaliser=None, preparation=None)  # the data is already prepared and normalised
        return super()._start_model(data, loss)

    def _parameters(self, data: Dataset) -> dict[str, Any]:
        parameters = {
            **common_parameters(data, self.n_jobs),
            "learning_rate": float(self.learning_rate),
            "num_leaves": int(self.n_leaves),
            "max_depth": -1 if self.max_depth is None else int(self.max_depth),
            "min_data_in_leaf": int(self.min_documents),
            "lambda_l1": float(self.l1),
            "lambda_l2": float(self.l2),
            "feature_fraction": float(self.feature_fraction),
            "bagging_fraction": float(self.bagging_fraction),
            "bagging_freq": 1 if 1 <= self.bagging_fraction * data.n_documents < data.n_documents else 0,
            "extra_trees": bool(self.extra_trees),
            "force_col_wise": True,
        }
        if self.monotone is not None:
            parameters["monotone_constraints"] = self._signs(data).astype(int).tolist()
        if self.interactions is not None:
            if not isinstance(self.interactions, list | tuple):
                raise OptionError(
                    f"interactions: expected a list of groups of features, got {shown(self.interactions)}"
                )
            groups = [feature_columns("interactions", group, data) for group in self.interactions]
            parameters["interaction_constraints"] = groups
        return {**parameters, **further_parameters(mapping("lightgbm_params", self.lightgbm_params))}

    def _check(self) -> None:
        super()._check()
        load_lightgbm()
        further_parameters(mapping("lightgbm_params", self.lightgbm_params))

    def _summary(self, data: Dataset) -> dict[str, Any]:
        summary = super()._summary(data)
        if self.init_model is not None:
            summary["parameters"]["init_model"] = type(self.init_model).__name__
        return summary


def read_model(given: Any) -> Model:
    """Return the model of a ranker, of a file of ours or of LightGBM, or of a LightGBM booster."""
    model = fitted_model(given)
    if isinstance(model, str | os.PathLike):
        check_path(model)
        refuse_endless(model)
        try:
            content = Path(model).read_bytes()
        except OSError as error:
            raise InputError(f"init_model: {os.fspath(model)}: cannot be read: {error.strerror}") from error
        is_text = content.startswith(b"tree\n")
        model = _from_lightgbm(content.decode("utf-8", "replace")) if is_text else load_model(model)
    elif hasattr(model, "model_to_string"):
        model = _from_lightgbm(model)
    if not isinstance(model, TreesModel | SumModel | LinearModel):
        raise OptionError(
            f"init_model: expected a model of trees, a linear one or a sum of both, got {type(model).__name__}"
        )
    return model


def coded_like(model: Model, data: Dataset) -> Dataset:
    """Return data with texts and dates coded as a model codes them; texts that it does not know come after its own."""
    names = data.feature_names
    if is_distributed(data) or names is None or names != model.feature_names:
        return data
    given = data.categories or {}
    known = {
        name: (*texts, *(text for text in given.get(name, ()) if text not in texts))
        for name, texts in (model.categories or {}).items()
    }
    return data._like(replace(model, categories=known or None))


def _from_lightgbm(booster: Any) -> TreesModel:
    model = TreesModel.from_lightgbm(booster)
    unnamed = all(name == f"Column_{i}" for i, name in enumerate(model.feature_names or ()))
    return replace(model, feature_names=None) if unnamed else model
