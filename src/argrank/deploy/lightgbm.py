"""LightGBM's text form, normaliser folded into the thresholds; float64 throughout. Loaded by lightgbm in the tests."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from argrank._types import Floats
from argrank.deploy.options import Files, Options, check_names
from argrank.deploy.plain import Plain, Writer
from argrank.errors import ModelError
from argrank.models.forest import Forest
from argrank.models.formats import lightgbm as lightgbm_text
from argrank.models.tree import ZERO, Tree
from argrank.models.trees import tree_sums

NAN = 2  # the missing type of a split that has a way for NaN


def write(plain: Plain, options: Options) -> Files:
    """Return the model file, which ``lightgbm.Booster(model_file=…)`` loads."""
    check_names(options.features, "lightgbm")
    if plain.doubles is None:
        raise ModelError("lightgbm: expected trees, got a linear model")
    trees = [tree_of(plain.doubles, root) for root in plain.doubles.roots.tolist()]
    text = lightgbm_text.write(trees, plain.n_features, options.features, 1, "regression")
    return {"model.txt": text.encode()}


def tree_of(forest: Forest, root: int) -> Tree:
    """Return one tree of a forest as arrays of its own."""
    walk = [node for node, _ in forest.walk(root)]
    nodes, leaves = [node for node in walk if node >= 0], [node for node in walk if node < 0]
    if not nodes:
        return Tree.constant(float(forest.value[~root]))
    number = {node: i for i, node in enumerate(nodes)} | {leaf: -1 - i for i, leaf in enumerate(leaves)}
    greatest = float(np.finfo(np.float64).max)
    return Tree(
        forest.feature[nodes],
        np.clip(forest.cut[nodes].astype(np.float64), -greatest, greatest),
        forest.nan_left[nodes],
        np.full(len(nodes), NAN, np.int64),
        np.array([number[node] for node in forest.left[nodes].tolist()], np.int64),
        np.array([number[node] for node in forest.right[nodes].tolist()], np.int64),
        np.zeros(len(nodes)),
        forest.value[[~leaf for leaf in leaves]],
        np.zeros(len(leaves), np.int64),
        {number[node]: forest.members[node] for node in nodes if node in forest.members},
    )


def seen(X: Floats) -> Floats:
    """Return rows as LightGBM reads them: numbers up to 1e-35 count as 0."""
    return np.where(np.abs(X) <= ZERO, 0.0, X)


def simulate(files: Mapping[str, bytes], options: Options, X: Floats) -> Floats:
    """Score rows from the written text as LightGBM does: float64, trees in order."""
    return tree_sums(lightgbm_text.read(files["model.txt"].decode()).trees, seen(X))[:, 0]


WRITER = Writer(write, simulate, seen=seen)
