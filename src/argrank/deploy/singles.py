"""Models for engines that store features as float32: rounding a feature never changes a row's branch.

A threshold half-way between 3.014 and 3.016 is the value 3.015 itself, which float32 rounds to the other side. So
thresholds are moved to the borders between float32 numbers: ``x <= t`` and ``float32(x) <= t`` are then the same for
every x.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from argrank._types import Floats
from argrank.deploy.cuts import double_of_single
from argrank.deploy.registry import TARGETS
from argrank.models.model import Model
from argrank.models.stumps import StumpsModel
from argrank.models.sum import SumModel
from argrank.models.symmetric import SymmetricTrees
from argrank.models.tree_classes import TreeClassesModel
from argrank.models.trees import TreesModel

SLACK = 4  # units in the last place by which LightGBM's threshold may exceed the middle of two values


def suited(model: Model, target: str) -> Model:
    """Return the model for the target: with thresholds between float32 numbers, if the target uses float32."""
    return between_singles(model) if TARGETS[target].singles else model


def between_singles(model: Model) -> Model:
    """Return a model whose scores of raw features do not depend on whether these are rounded to float32 first."""
    if model.normaliser is not None:  # compared values are not the rounded ones
        return model
    if isinstance(model, SumModel):
        return replace(model, members=tuple(between_singles(member) for member in model.members))
    if isinstance(model, StumpsModel):
        return replace(model, thresholds=_between(model.thresholds))
    if isinstance(model, SymmetricTrees):
        numeric = ~np.isin(model.features, list(model.codes))  # categories are compared by their own numbers
        return replace(model, cuts=np.where(numeric, _between(model.cuts.ravel()).reshape(numeric.shape), model.cuts))
    if isinstance(model, TreesModel | TreeClassesModel):
        ends = np.cumsum([len(tree.threshold) for tree in model.trees])[:-1]
        moved = np.split(_between(np.concatenate([tree.threshold for tree in model.trees])), ends)
        trees = [replace(tree, threshold=own) for tree, own in zip(model.trees, moved, strict=True)]
        return replace(model, trees=tuple(trees))
    return model


def _between(thresholds: Floats) -> Floats:
    """Return for every threshold the greatest float64 that rounds to the same float32, or to a smaller one."""
    with np.errstate(over="ignore", invalid="ignore"):
        cut = (thresholds - SLACK * np.spacing(np.abs(thresholds))).astype(np.float32)
    moved = double_of_single(lambda x: np.asarray(x <= cut), len(cut))
    return np.where(np.isfinite(cut), moved, thresholds)
