"""What rankers of trees on gradients share: growth, a linear start, several seeds, early stopping, explanations."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import numpy as np

from argrank._declared import Above, AtLeast, AtMost, Below, Count32, NotNegative, Positive, Share
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
from argrank.rankers.boosted.trees._rounds import Growing
from argrank.rankers.boosted.trees.boosted_ranker import BoostedRanker, row_weights
from argrank.rankers.boosted.trees.lightgbm import (
    common_parameters,
    feature_columns,
    further_parameters,
    load_lightgbm,
    seed_of,
)
from argrank.rankers.boosted.trees.linear_start import joined, linear_start
from argrank.rankers.boosted.trees.seeded_boosters import Boosters, Loss
from argrank.rankers.outcome import Outcome
from argrank.rankers.parameters import check_parameters
from argrank.rankers.trace import Watcher
from argrank.solvers.problem import Stop


@dataclass(eq=False, repr=False, kw_only=True)
class GradientBoostedRanker(BoostedRanker):
    """Trees that LightGBM grows on the gradients of a loss; missing values go where LightGBM sends them.

    The defaults regularise: a small rate, random rows, features and cuts for every tree. They gained as much over
    LightGBM's defaults as another loss would.

    Parameters
    ----------
    n_trees
        Number of rounds, one tree each. Large data needs more of them: set it high and let
        ``early_stopping`` end the fit.
    bagging_fraction
        Share of the documents, drawn anew for every tree, that it is grown on. Raise it where there
        are few documents.
    extra_trees
        Whether a split tries one random cut of each feature instead of all cuts, which is faster and overfits less.
        Turn it off to have LightGBM's usual splits.
    max_depth
        Most splits between root and leaf; None for no limit. Set it where the time of a prediction counts.
    l1, l2
        Penalties on the values of the leaves. Raise ``l2`` first where training is far better than
        validation.
    monotone : mapping of feature name or column number to 1 or -1, optional
        Features with which the score may only rise (1) or only fall (-1); a linear start keeps to it, too.
    interactions : sequence of sequences of feature names or column numbers, optional
        Groups of features that may meet on the way to a leaf; none by default: all may.
    start
        Grow on what a ridge regression leaves over; the model is then the sum of both. Where values are missing and
        for categorical features there is no linear part.
    n_seeds
        Number of boosters whose mean is the model; they differ in what they draw. More are steadier, and
        cost as many times the training and the prediction.
    init_model : ranker, model, LightGBM booster or file of a model, optional
        Continue from this model; its scores are what the first tree starts from. It replaces ``start``.
    early_stopping
        Stop when ``scoring`` on the first ``eval_set`` has not improved for this many rounds; keep the best round.
        Without an ``eval_set`` a share of the queries is held out; the number of rounds found is then grown on all.
    holdout
        Share of the queries that is held out to stop by, between 0 and 1. It is used only with ``early_stopping`` and
        without an ``eval_set``.
    callbacks : sequence of callables, optional
        Called like LightGBM's (``lightgbm.log_evaluation``, ``record_evaluation``, ``reset_parameter``, …), with
        ``scoring`` on every ``eval_set``.
    lightgbm_params : dict, optional
        Further parameters for LightGBM, by any of its names; unknown ones are refused.
    random_state
        Seeds the draws of rows, features and cuts.
    verbose
        -1 hides the progress bar; 1 records the objective after every round even where that costs more than a tree.
    """

    n_trees: Count32 = 180
    learning_rate: Positive = 0.05
    feature_fraction: Share = 0.5
    bagging_fraction: Share = 0.6
    extra_trees: bool = True
    max_depth: Count32 | None = None
    l1: NotNegative = 0.0
    l2: NotNegative = 0.0
    monotone: Mapping[int | str, int] | None = None
    interactions: Sequence[Sequence[int | str]] | None = None
    start: Literal["linear"] | None = None
    n_seeds: Annotated[int, AtLeast(1), AtMost(1000)] = 1
    init_model: Any = None
    holdout: Annotated[float, Above(0), Below(1)] = 0.2
    callbacks: Sequence[Callable[[Any], Any]] | None = None
    lightgbm_params: Mapping[str, Any] | None = None

    @abstractmethod
    def _loss(self, data: Dataset) -> Loss:
        """Return what is minimised on the data."""

    def boosters(
        self, data: Dataset, parts: Sequence[Dataset], kept: Mapping[str, Any] | None = None
    ) -> tuple[Boosters, Loss, Model | None, float]:
        """Return boosters at their start, or as they were kept.

        Returned with them are the loss, the model that they start from and the constant on top of it.
        """
        load_lightgbm()
        self._check()
        loss = self._loss(data)
        model = self._start_model(data, loss)
        begin = self._begin(model, data)
        offset = loss.offset(begin)
        starts = None
        if model is not None or offset != 0.0:
            starts = [scores + offset for scores in (begin, *(self._begin(model, one) for one in parts))]
        seeds = self._seeds()
        categorical = feature_columns("categorical_features", self.categorical_features, data)
        return (
            Boosters(data, parts, self._parameters(data), categorical, seeds, loss, starts, kept),
            loss,
            model,
            offset,
        )

    def _begin(self, start: Model | None, data: Dataset) -> Floats:
        """Return what the outputs of the rows begin with."""
        return np.zeros(data.n_documents) if start is None else start.scores(data.X, data.indptr)

    def _seeds(self) -> list[int]:
        further = [seed_of(self.random_state, number) for number in range(1, self.n_seeds)]
        return [int(self.random_state), *further]

    def finished_model(
        self, boosters: Boosters, sizes: Sequence[int], start: Model | None, offset: float, data: Dataset
    ) -> Model:
        """Return the model of the given number of rounds of each booster."""
        trees = boosters.trees(sizes) or [Tree.constant(0.0, data.n_documents)]
        trees[0] = trees[0].with_values(trees[0].value + offset)
        return joined(start, trees, data.n_features)

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        self._check()
        if is_distributed(data):
            from argrank.rankers.boosted.trees import _cluster_trees

            return _cluster_trees.train(self, cast(Any, data), self._seeds(), watcher)
        if self.early_stopping is None or watcher.validations:
            return Growing(self, data, watcher, self.n_trees, self.early_stopping, self.callbacks).run()
        if data.n_queries < 2:
            raise InputError("early_stopping: expected an eval_set, or queries to hold out, got a single query")
        found: Outcome | None = None
        rest, held = data.split(1.0 - self.holdout, self.holdout, random_state=self.random_state)
        done = watcher.finished()
        if done is None:
            search = Watcher(type(self).__name__, self._validations([held]), self.verbose)
            search.trace, search.keeper = watcher.trace, watcher.keeper
            with search:
                found = Growing(self, rest, search, self.n_trees, self.early_stopping, self.callbacks).run()
            done = {"n_iter": found.n_iter}
            if found.stop is not Stop.INTERRUPTED:
                watcher.finish(done)
        silent = Watcher(type(self).__name__, [], -1)
        silent.keeper = watcher.keeper
        grown = Growing(self, data, silent, max(1, done["n_iter"]), None, None).run()
        return grown if found is None or found.stop.is_done else grown._replace(stop=found.stop, note=found.note)

    def _preparation(self, data: Dataset) -> Preparation | None:
        model = self._given_model()
        found = super()._preparation(data) if model is None else model.preparation
        if found is not None and len(found.texts) and self.interactions is not None:
            raise OptionError("interactions: expected none where columns are made of texts (prepare), got some")
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
            return replace(given, normaliser=None, preparation=None)  # the data is prepared and normalised by now
        if self.start is None:
            return None
        left_out = feature_columns("categorical_features", self.categorical_features, data)
        linear = linear_start(data, row_weights(data), self._signs(data), left_out, self.n_jobs)
        return None if linear is None else LinearModel(linear.weights * loss.scale(linear.scores(data.X)))

    def _signs(self, data: Dataset) -> Floats:
        """Return 1, -1 or 0 for every feature: how the score may move with it."""
        signs = np.zeros(data.n_features)
        for feature, sign in _mapping("monotone", self.monotone).items():
            if isinstance(sign, bool) or not isinstance(sign, int | np.integer) or sign not in (1, -1):
                raise OptionError(f"monotone: expected 1 or -1 for {feature!r}, got {shown(sign)}")
            signs[feature_columns("monotone", [feature], data)] = sign
        return signs

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
        return {**parameters, **further_parameters(_mapping("lightgbm_params", self.lightgbm_params))}

    def _check(self) -> None:
        check_parameters(self)
        further_parameters(_mapping("lightgbm_params", self.lightgbm_params))

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


def _from_lightgbm(booster: Any) -> TreesModel:
    model = TreesModel.from_lightgbm(booster)
    unnamed = all(name == f"Column_{i}" for i, name in enumerate(model.feature_names or ()))
    return replace(model, feature_names=None) if unnamed else model


def _mapping(name: str, given: Any) -> Mapping[Any, Any]:
    """Return a parameter that is a mapping, or None for an empty one."""
    if given is not None and not isinstance(given, Mapping):
        raise OptionError(f"{name}: expected a dict, got {shown(given)}")
    return given or {}
