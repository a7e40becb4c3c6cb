"""XGBoost's saved models, JSON or UBJSON: boosted trees (gbtree, dart) with one output."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np

from argrank._json import parse_json
from argrank._memory import check_memory
from argrank._types import Integers
from argrank.errors import ModelError, shown
from argrank.models.forest import Builder, Forest
from argrank.models.tree import tree_number

MOST_FEATURES = 10_000_000


class Booster(NamedTuple):
    """Trees with ``x < cut`` in float32, and the names of the features, if the file has them.

    ``left_out`` is the constant of all scores that is not in the trees, by the library's name for it.
    """

    forest: Forest
    names: tuple[str, ...] | None
    n_features: int
    left_out: dict[str, Any]


def parse(content: bytes) -> Booster:
    """Read a file of ``Booster.save_model``; models that would score differently are not supported."""
    is_json = content.lstrip()[1:].lstrip()[:1] in (b'"', b"}")  # UBJSON has a length there
    document = read_json(content) if is_json else read_ubjson(content)
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
    left_out = {"base_score": str(param.get("base_score"))}
    return Booster(builder.forest(np.float32), _names(learner, n_features), n_features, left_out)


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


NUMBERS = {b"i": ">i1", b"U": ">u1", b"I": ">i2", b"l": ">i4", b"L": ">i8", b"d": ">f4", b"D": ">f8"}
PLAIN = {b"Z": None, b"T": True, b"F": False}
DEEPEST = 100
COSTS = {b"[": 96, b"{": 240, b"S": 60}  # bytes that Python needs for each, in addition to 10 per byte of the file


def read_ubjson(content: bytes) -> Any:
    """Return the value of a UBJSON document; raise if it is damaged or would not fit into memory.

    UBJSON is the binary form of JSON that XGBoost saves: objects, arrays (also of one type), texts and numbers.
    """
    n_values = sum(cost * content.count(mark) for mark, cost in COSTS.items())
    check_memory("model", 10.0 * len(content) + n_values, "take a smaller file")
    try:
        value, _ = _value(content, 0, 0)
    except (IndexError, struct.error, UnicodeDecodeError, ValueError) as error:
        raise ModelError(f"expected JSON or UBJSON, got bytes that are neither: {error}") from error
    return value


def _value(content: bytes, at: int, depth: int) -> tuple[Any, int]:
    return _typed(content, at + 1, content[at : at + 1], depth)


def _typed(content: bytes, at: int, mark: bytes, depth: int) -> tuple[Any, int]:
    if depth > DEEPEST:
        raise ValueError("nested too deep")
    if mark in PLAIN:
        return PLAIN[mark], at
    if mark in NUMBERS:
        kind = np.dtype(NUMBERS[mark])
        if at + kind.itemsize > len(content):
            raise ValueError("the end is missing")
        return np.frombuffer(content, kind, 1, at)[0].item(), at + kind.itemsize
    if mark == b"S":
        return _text(content, at)
    if mark == b"[":
        return _array(content, at, depth)
    if mark == b"{":
        return _object(content, at, depth)
    raise ValueError(f"unknown mark {mark!r}")


def _length(content: bytes, at: int) -> tuple[int, int]:
    length, at = _value(content, at, DEEPEST)
    if type(length) is not int or not 0 <= length <= len(content):
        raise ValueError("a length beyond the end")
    return length, at


def _text(content: bytes, at: int) -> tuple[str, int]:
    length, at = _length(content, at)
    if at + length > len(content):
        raise ValueError("a text beyond the end")
    return content[at : at + length].decode("utf-8"), at + length


def _array(content: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    mark = b""
    if content[at : at + 1] == b"$":
        mark, at = content[at + 1 : at + 2], at + 2
    if content[at : at + 1] == b"#":
        length, at = _length(content, at + 1)
        if mark in NUMBERS:
            kind = np.dtype(NUMBERS[mark])
            return np.frombuffer(content, kind, length, at).tolist(), at + length * kind.itemsize
        if mark in PLAIN:
            raise ValueError("a list of values that take no space")
        values = []
        for _ in range(length):
            value, at = _typed(content, at, mark, depth + 1) if mark else _value(content, at, depth + 1)
            values.append(value)
        return values, at
    values = []
    while content[at : at + 1] != b"]":
        value, at = _value(content, at, depth + 1)
        values.append(value)
    return values, at + 1


def _object(content: bytes, at: int, depth: int) -> tuple[dict[str, Any], int]:
    fields: dict[str, Any] = {}
    while content[at : at + 1] != b"}":
        name, at = _text(content, at)
        fields[name], at = _value(content, at, depth + 1)
    return fields, at + 1
