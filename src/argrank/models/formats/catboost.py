"""CatBoost's JSON: oblivious trees, in which all splits of a level are the same, and ordinary trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank.errors import ModelError, is_finite, shown
from argrank.models.forest import DEEPEST, Builder
from argrank.models.formats.xgboost import Booster, read_json
from argrank.models.tree import tree_number

DEEPEST_OBLIVIOUS = 16


def parse(content: bytes) -> Booster:
    """Read a file of ``save_model(format="json")``; categories, texts and several outputs are not supported.

    Trees have ``x > cut`` to the right in float32.
    """
    document = read_json(content)
    if not isinstance(document, dict):
        raise ModelError("expected CatBoost's JSON")
    info = document.get("features_info")
    if not isinstance(info, dict):
        raise ModelError("features_info: expected an object")
    floats = info.get("float_features")
    if not isinstance(floats, list) or not floats:
        raise ModelError("features_info: expected float_features")
    if info.get("categorical_features") or info.get("text_features") or info.get("embedding_features"):
        raise ModelError("expected only numeric features, got categories, texts or embeddings")
    places, nan_left, names = _features(floats)
    scale, bias = _scale_and_bias(document.get("scale_and_bias"))
    builder = Builder()
    oblivious, free = document.get("oblivious_trees"), document.get("trees")
    trees = oblivious if oblivious is not None else free
    if not isinstance(trees, list) or not trees:
        raise ModelError("expected a list of trees")
    for number, tree in enumerate(trees):
        with tree_number(number):
            add = _oblivious if oblivious is not None else _free
            builder.roots.append(add(builder, tree, scale, places, nan_left))
    return Booster(builder.forest(np.float32), names, max(places) + 1, {"bias": bias})


def _features(floats: list[Any]) -> tuple[list[int], list[bool], tuple[str, ...] | None]:
    """Return the column of every float feature, whether NaN goes left there, and the names."""
    places, nan_left, names = [], [], []
    for one in floats:
        place = one.get("flat_feature_index") if isinstance(one, dict) else None
        if type(place) is not int or not 0 <= place < 10_000_000:
            raise ModelError(f"flat_feature_index: expected a whole number from 0 up, got {shown(place)}")
        treatment = one.get("nan_value_treatment", "AsIs")
        if treatment not in ("AsIs", "AsFalse", "AsTrue"):
            raise ModelError(f"nan_value_treatment: expected AsIs, AsFalse or AsTrue, got {shown(treatment)}")
        places.append(place)
        nan_left.append(treatment != "AsTrue")
        names.append(one.get("feature_id"))
    if len(set(places)) < len(places):
        raise ModelError("flat_feature_index: expected different numbers")
    whole = sorted(places) == list(range(len(places)))
    named = whole and all(isinstance(name, str) and name for name in names) and len(set(names)) == len(names)
    ordered = [name for _, name in sorted(zip(places, names, strict=True))] if named else None
    return places, nan_left, None if ordered is None else tuple(ordered)


def _scale_and_bias(given: Any) -> tuple[float, float]:
    if given is None:
        return 1.0, 0.0
    try:
        scale, bias = given
        bias = bias[0] if isinstance(bias, list) and len(bias) == 1 else bias
        scale, bias = float(scale), float(bias)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"scale_and_bias: expected a scale and one bias, got {shown(given)}") from error
    if not np.isfinite([scale, bias]).all():
        raise ModelError("scale_and_bias: expected finite numbers")
    return scale, bias


def _oblivious(builder: Builder, tree: Any, scale: float, places: list[int], nan_left: list[bool]) -> int:
    """Add a tree: bit i of a leaf's number is 1 if the value of split i is above its border."""
    splits = tree.get("splits") if isinstance(tree, dict) else None
    values = tree.get("leaf_values") if isinstance(tree, dict) else None
    splits = [] if splits is None else splits
    if not isinstance(splits, list) or not isinstance(values, list) or len(splits) > DEEPEST_OBLIVIOUS:
        raise ModelError(f"expected leaf_values and at most {DEEPEST_OBLIVIOUS} splits")
    if len(values) != 1 << len(splits):
        raise ModelError(f"leaf_values: expected {1 << len(splits)} numbers (one output), got {len(values)}")
    read = [_split(split, places, nan_left) for split in splits]
    numbers = [_number(value, "leaf_values") * scale for value in values]

    def below(level: int, leaf: int) -> int:
        if level < 0:
            return builder.leaf(numbers[leaf])
        node = builder.node(*read[level])
        builder.join(node, below(level - 1, leaf), below(level - 1, leaf | 1 << level))
        return node

    return below(len(splits) - 1, 0)


def _free(builder: Builder, tree: Any, scale: float, places: list[int], nan_left: list[bool], depth: int = 0) -> int:
    if not isinstance(tree, dict) or depth > DEEPEST:
        raise ModelError(f"expected splits of at most {DEEPEST} levels")
    if "split" not in tree:
        return builder.leaf(_number(tree.get("value"), "value") * scale)
    node = builder.node(*_split(tree["split"], places, nan_left))
    children = (_free(builder, tree.get(side), scale, places, nan_left, depth + 1) for side in ("left", "right"))
    builder.join(node, *children)
    return node


def _split(split: Any, places: list[int], nan_left: list[bool]) -> tuple[int, float, bool]:
    kind = split.get("split_type") if isinstance(split, dict) else None
    if kind != "FloatFeature":
        raise ModelError(f"split_type: expected FloatFeature, got {shown(kind)}")
    feature = split.get("float_feature_index")
    if type(feature) is not int or not 0 <= feature < len(places):
        raise ModelError(f"float_feature_index: expected a number below {len(places)}, got {shown(feature)}")
    return places[feature], _number(split.get("border"), "border"), nan_left[feature]


def _number(value: Any, name: str) -> float:
    if type(value) not in (int, float) or not is_finite(value):
        raise ModelError(f"{name}: expected finite numbers, got {shown(value)}")
    return float(value)
