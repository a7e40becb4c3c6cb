"""XGBoost's saved models, JSON or UBJSON: boosted trees (gbtree, dart) with one output."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from argrank._json import parse_json
from argrank._types import Integers
from argrank.errors import ModelError, shown
from argrank.models.forest import Builder, Forest
from argrank.models.formats import ubjson

MOST_FEATURES = 10_000_000


class Booster(NamedTuple):
    """Trees with ``x < cut`` in float32, and the names of the features, if the file has them."""

    forest: Forest
    names: tuple[str, ...] | None
    n_features: int
    base_score: str


def parse(content: bytes) -> Booster:
    """Read a file of ``Booster.save_model``; models that would score differently are not supported."""
    is_json = content.lstrip()[1:].lstrip()[:1] in (b'"', b"}")  # UBJSON has a length there
    document = read_json(content) if is_json else ubjson.loads(content)
    learner = _get(document, "learner", dict)
    booster = _get(learner, "gradient_booster", dict)
    kind, drops = booster.get("name"), None
    if kind == "dart":
        drops = _numbers(_get(booster, "weight_drop", list), None, "weight_drop")
        booster = _get(booster, "gbtree", dict)
    elif kind != "gbtree":
        raise ModelError(f"expected boosted trees (gbtree or dart), got {shown(kind)}")
    param = _get(learner, "learner_model_param", dict)
    if _whole(param.get("num_class", "0"), "num_class") > 1 or _whole(param.get("num_target", "1"), "num_target") > 1:
        raise ModelError("expected a model with one output, got several classes or targets")
    n_features = _whole(param.get("num_feature"), "num_feature")
    if not 1 <= n_features <= MOST_FEATURES:
        raise ModelError(f"num_feature: expected a number from 1 to {MOST_FEATURES:,}, got {n_features}")
    trees = _get(_get(booster, "model", dict), "trees", list)
    if not trees:
        raise ModelError("expected at least one tree, got none")
    factors = np.ones(len(trees)) if drops is None else drops
    if len(factors) != len(trees):
        raise ModelError(f"weight_drop: expected {len(trees)} numbers, got {len(factors)}")
    builder = Builder()
    for number, (tree, factor) in enumerate(zip(trees, factors.tolist(), strict=True)):
        with tree_number(number):
            builder.roots.append(_tree(builder, tree, factor, n_features))
    return Booster(builder.forest(np.float32), _names(learner, n_features), n_features, str(param.get("base_score")))


@contextlib.contextmanager
def tree_number(number: int) -> Iterator[None]:
    """Let an error say which tree it is about."""
    try:
        yield
    except ModelError as error:
        raise ModelError(f"tree {number}: {error}") from error


def _tree(builder: Builder, tree: Any, factor: float, n_features: int) -> int:
    if not isinstance(tree, dict):
        raise ModelError("expected an object of arrays")
    if _whole(_get(tree, "tree_param", dict).get("size_leaf_vector", "1"), "size_leaf_vector") > 1:
        raise ModelError("expected leaves of one number, got vectors")
    if len(tree.get("categories_nodes") or []) or any(tree.get("split_type") or []):
        raise ModelError("expected splits by number, got categories")
    left = _numbers(_get(tree, "left_children", list), None, "left_children")
    right, feature, numbers, default = (
        _numbers(_get(tree, name, list), len(left), name)
        for name in ("right_children", "split_indices", "split_conditions", "default_left")
    )
    inner = left >= 0
    order = _order(left, right)
    if (feature[inner] < 0).any() or (feature[inner] >= n_features).any():
        raise ModelError(f"split_indices: expected numbers from 0 to {n_features - 1}")
    made: dict[int, int] = {}
    for node in order:
        if inner[node]:
            made[node] = builder.node(int(feature[node]), float(numbers[node]), bool(default[node]))
        else:
            made[node] = builder.leaf(float(np.float32(numbers[node]) * np.float32(factor)))
    for node in order:
        if inner[node]:
            builder.join(made[node], made[int(left[node])], made[int(right[node])])
    return made[0]


def _order(left: Integers, right: Integers) -> list[int]:
    """Return the nodes of a tree, parents before children, left before right; raise if it is not a tree."""
    n, inner = len(left), left >= 0
    if n == 0 or ((right >= 0) != inner).any() or max(left.max(), right.max()) >= n:
        raise ModelError("left_children, right_children: expected numbers of nodes, both or none")
    if not np.array_equal(np.sort(np.concatenate((left[inner], right[inner]))), np.arange(1, n)):
        raise ModelError("expected every node but the first as a child of one other; pruned files are not read")
    waiting, order = [0], []
    while waiting:
        node = waiting.pop()
        order.append(node)
        if inner[node]:
            waiting += [int(right[node]), int(left[node])]
    if len(order) != n:
        raise ModelError("expected all nodes below the first")
    return order


def _names(learner: dict[str, Any], n_features: int) -> tuple[str, ...] | None:
    names = learner.get("feature_names") or None
    if names is None:
        return None
    if not isinstance(names, list) or len(names) != n_features or not all(isinstance(name, str) for name in names):
        raise ModelError(f"feature_names: expected {n_features} names")
    return tuple(names)


def read_json(content: bytes) -> Any:
    """Return a JSON document, or raise that it is none."""
    try:
        return parse_json(content, "model")
    except (ValueError, RecursionError) as error:
        raise ModelError(f"expected JSON: {error}") from error


def _get(fields: Any, name: str, kind: type) -> Any:
    value = fields.get(name) if isinstance(fields, dict) else None
    if not isinstance(value, kind):
        raise ModelError(f"{name}: expected {'an object' if kind is dict else 'a list'}, got {shown(value)}")
    return value


def _numbers(values: list[Any], length: int | None, name: str) -> Any:
    """Return an array of finite numbers, of whole ones as float64 too: a node's number is far below 2^53."""
    if length is not None and len(values) != length:
        raise ModelError(f"{name}: expected {length} numbers, got {len(values)}")
    if not all(type(value) in (int, float, bool) for value in values):
        raise ModelError(f"{name}: expected numbers")
    try:
        array = np.array(values, np.float64)
    except OverflowError as error:
        raise ModelError(f"{name}: expected numbers within float64") from error
    whole = name not in ("split_conditions", "weight_drop")
    if not np.isfinite(array).all() or (whole and (array != np.floor(array)).any()):
        raise ModelError(f"{name}: expected finite numbers{', whole ones' if whole else ''}")
    return array.astype(np.int64) if whole else array


def _whole(value: Any, name: str) -> int:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"{name}: expected a whole number, got {shown(value)}") from error
