"""Vespa: a rank profile with a linear expression, and trees as LightGBM's JSON.

Vespa's importer turns a split into ``feature < threshold`` though LightGBM means ``<=``, so thresholds are moved up by
one float32; it uses ``default_left`` for NaN. Categories are texts there: ``feature in ["acme", "zenith"]``. Written
from Vespa's source; not tested on Vespa.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.deploy import cuts
from argrank.deploy.linear_part import Linear
from argrank.deploy.options import OTHER_NAMES, Files, Options, check_names, from_json, singles, to_json
from argrank.deploy.plain import Plain, Writer
from argrank.errors import ModelError
from argrank.models.forest import Builder, Forest, nested

RANK_FEATURE = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*(\([^\s(){};#]*\))?(\.[A-Za-z0-9_.]+)?")
TERM = re.compile(r"(\S+) \* \(\((?:if \(isNan\(\S+\), 0\.0, (\S+)\)|(\S+)) - (\S+)\) / (\S+)\)")

PROFILE = """\
# Put this file at schemas/SCHEMA/{name}.profile and model.json (if there is one) into models/ of the application.
rank-profile {name} {{
    first-phase {{
        expression {{
            {expression}
        }}
    }}
}}
"""


def write(plain: Plain, options: Options) -> Files:
    """Return the rank profile, and the trees if there are some."""
    check_names(options.features, "vespa")
    odd = next((name for name in options.features if not RANK_FEATURE.fullmatch(name)), None)
    if odd is not None:
        raise ModelError(f"vespa: expected rank features such as bm25(title), got {odd!r}; {OTHER_NAMES}")
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", options.name):
        raise ModelError(f"vespa: expected a name of letters, digits and _, got {options.name!r}")
    terms, files = [], {}
    if plain.linear is not None:
        terms += _terms(plain.linear, options, plain.fills)
    if plain.forest is not None:
        terms.append('lightgbm("model.json")')
        files["model.json"] = to_json(_dump(plain.forest, options))
    expression = " +\n            ".join(terms) or "0.0"
    files[f"{options.name}.profile"] = PROFILE.format(name=options.name, expression=expression).encode()
    return files


def _terms(linear: Linear, options: Options, fills: bool) -> list[str]:
    """Return the terms; a missing value is 0 if trees add its value."""
    columns = (linear.weights.tolist(), linear.shift.tolist(), linear.scale.tolist())
    return [
        f"{_digits(weight)} * (({f'if (isNan({name}), 0.0, {name})' if fills else name} - {_digits(shift)}) / "
        f"{_digits(scale)})"
        for name, weight, shift, scale in zip(options.features, *columns, strict=True)
        if weight != 0
    ]


def _digits(value: float) -> str:
    """Return a number, in parentheses if it is negative."""
    return repr(value) if value >= 0 else f"({value!r})"


def _dump(forest: Forest, options: Options) -> dict[str, Any]:
    thresholds = [float(t) for t in cuts.writable(cuts.next_single(forest.cut)).tolist()]
    values = singles(forest.value, "leaves")

    def leaf(number: int) -> dict[str, Any]:
        return {"leaf_value": values[number]}

    def split(node: int, left: Any, right: Any) -> dict[str, Any]:
        members = forest.members.get(node)
        return {
            "split_feature": int(forest.feature[node]),
            "threshold": thresholds[node] if members is None else "||".join(map(str, members.tolist())),
            "decision_type": "<=" if members is None else "==",
            "default_left": bool(forest.nan_left[node]),
            "missing_type": "NaN",
            "left_child": left,
            "right_child": right,
        }

    texts = _texts(forest, options)
    infos = {options.features[i]: {"values": list(range(len(own)))} for i, own in texts.items()}
    trees = [
        {"tree_index": number, "shrinkage": 1, "tree_structure": forest.fold(root, leaf, split)}
        for number, root in enumerate(forest.roots.tolist())
    ]
    return {
        "name": "tree",
        "version": "v4",
        "num_class": 1,
        "num_tree_per_iteration": 1,
        "label_index": 0,
        "max_feature_idx": len(options.features) - 1,
        "objective": "regression",
        "average_output": False,
        "feature_names": list(options.features),
        "feature_infos": infos,
        "tree_info": trees,
        "pandas_categorical": list(texts.values()),
    }


def _texts(forest: Forest, options: Options) -> dict[int, list[str]]:
    """Return the texts of all features that are split by category, by feature; numbers are their own texts."""
    found = {}
    for feature, categories in forest.categories.items():
        texts = options.texts.get(feature, tuple(map(str, range(categories[-1] + 1))))
        odd = next((text for text in texts if '"' in text or "\\" in text), None)
        if odd is not None:
            raise ModelError(
                f"vespa: expected texts without quotes and backslashes in {options.features[feature]!r}, got {odd!r}"
            )
        found[feature] = list(texts)
    return found


def simulate(files: Mapping[str, bytes], options: Options, X: Floats) -> Floats:
    """Score rows from the written files in float64, features rounded to float32 first."""
    rows = X.astype(np.float32).astype(np.float64)
    place = {name: i for i, name in enumerate(options.features)}
    total = np.zeros(len(rows))
    for weight, guarded, bare, shift, scale in TERM.findall(files[f"{options.name}.profile"].decode()):
        numbers = [float(text.strip("()")) for text in (weight, shift, scale)]
        total += numbers[0] * ((np.nan_to_num(rows[:, place[guarded or bare]], nan=0.0) - numbers[1]) / numbers[2])
    if "model.json" not in files:
        return total

    def read(node: dict[str, Any]) -> Any:
        if "leaf_value" in node:
            return node["leaf_value"]
        children = node["left_child"], node["right_child"]
        cut = node["threshold"]
        if node["decision_type"] == "==":
            cut = frozenset(map(int, cut.split("||")))
        return node["split_feature"], cut, node["default_left"], *children

    builder = Builder()
    builder.roots = [nested(builder, tree["tree_structure"], read) for tree in from_json(files)["tree_info"]]
    return total + builder.forest().sums(rows, np.float64, strict=True)


WRITER = Writer(write, simulate)
