"""The learning-to-rank plugins of Elasticsearch and OpenSearch: a feature set and a model, ready to be posted.

Trees are ``model/xgboost+json``: ``x < split_condition`` in float32, NaN goes to ``missing``, other keys are errors.
Linear models are ``model/linear``; every normaliser is written as ``standard``, since ``min_max`` refuses a negative
minimum and the arithmetic is the same. Both were compared with the plugins' own code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats
from argrank.deploy import cuts
from argrank.deploy.linear_part import Linear
from argrank.deploy.options import Files, Options, check_names, from_json, singles, to_json
from argrank.deploy.plain import Plain, Writer
from argrank.errors import ModelError
from argrank.models.forest import Builder, Forest, nested

MOST_FEATURES = 10_000  # of a feature set, in both plugins

README = """\
1. Make the store, once:            PUT _ltr
2. Say what the features are:       POST _ltr/_featureset/{name}              with featureset.json
   Every feature needs its own query in "template"; match_all is a placeholder. Keep names and order.
   Columns of categories (brand=acme) already have one, on a keyword field.
3. Add the model:                   POST _ltr/_featureset/{name}/_createmodel with model.json
4. Rescore with it:
   {{"rescore": {{"window_size": 100, "query": {{"rescore_query": {{"sltr": {{"params": {{"keywords": "..."}}, \
"model": "{name}"}}}}}}}}}}
5. Log features and scores of some documents, and compare:  argrank verify MODEL.json LOGGED.csv --to opensearch
"""


def write(plain: Plain, options: Options) -> Files:
    """Return the feature set, the model and the requests."""
    check_names(options.features, "elasticsearch and opensearch")
    if len(options.features) > MOST_FEATURES:
        raise ModelError(f"expected at most {MOST_FEATURES:,} features in a feature set, got {len(options.features):,}")
    body: dict[str, Any]
    if plain.linear is not None:
        body = {"type": "model/linear"}
        if plain.linear.normalises:
            body["feature_normalizers"] = normalizers(plain.linear, options)
        body["definition"] = json.dumps(weights(plain.linear, options))
    elif plain.forest is not None:
        trees = definition(plain.forest, options)
        body = {"type": "model/xgboost+json", "definition": json.dumps(trees, separators=(",", ":"))}
    features = [
        {"name": name, "params": [], "template_language": "mustache", "template": query(options, place)}
        for place, name in enumerate(options.features)
    ]
    return {
        "featureset.json": to_json({"featureset": {"features": features}}, indent=1),
        "model.json": to_json({"model": {"name": options.name, "model": body}}),
        "README.txt": README.format(name=options.name).encode(),
    }


def query(options: Options, place: int) -> dict[str, Any]:
    """Return the query of a column: 1 or 0 for a category; else a placeholder.

    A plain term query gives no score if it does not match, which some versions pass to the model as "missing".
    """
    if place not in options.terms:
        return {"match_all": {}}
    term = options.terms[place]
    if "{{" in term.name:
        raise ModelError(f"expected a field and a text without {{{{, which begins a parameter, got {term.name!r}")
    matches = {"constant_score": {"filter": {"term": {term.field: term.value}}, "boost": 1}}
    return {"bool": {"must": {"match_all": {"boost": 0}}, "should": matches}}


def weights(linear: Linear, options: Options) -> dict[str, float]:
    """Return the weights by name, without those of 0."""
    values = singles(linear.weights, "weights")
    return {name: value for name, value in zip(options.features, values, strict=True) if value != 0}


def normalizers(linear: Linear, options: Options) -> dict[str, Any]:
    """Return mean and deviation of every feature with a nonzero weight."""
    columns = (singles(linear.weights, "weights"), singles(linear.shift, "shift"), singles(linear.scale, "scale"))
    return {
        name: {"standard": {"mean": mean, "standard_deviation": deviation}}
        for name, weight, mean, deviation in zip(options.features, *columns, strict=True)
        if weight != 0
    }


def definition(forest: Forest, options: Options) -> list[dict[str, Any]]:
    """Return the trees as nested objects; nodes are numbered from the root down, left before right."""
    conditions = [float(t) for t in cuts.writable(cuts.next_single(forest.cut)).tolist()]
    values = singles(forest.value, "leaves")
    return [_tree(forest, root, conditions, values, options.features) for root in forest.roots.tolist()]


def _tree(
    forest: Forest, root: int, conditions: list[float], values: list[float], names: tuple[str, ...]
) -> dict[str, Any]:
    places = {node: (number, depth) for number, (node, depth) in enumerate(forest.walk(root))}

    def leaf(number: int) -> dict[str, Any]:
        return {"nodeid": places[~number][0], "leaf": values[number]}

    def split(node: int, yes: dict[str, Any], no: dict[str, Any]) -> dict[str, Any]:
        return {
            "nodeid": places[node][0],
            "depth": places[node][1],
            "split": names[forest.feature[node]],
            "split_condition": conditions[node],
            "yes": yes["nodeid"],
            "no": no["nodeid"],
            "missing": (yes if forest.nan_left[node] else no)["nodeid"],
            "children": [yes, no],
        }

    tree: dict[str, Any] = forest.fold(root, leaf, split)
    return tree


def simulate(files: Mapping[str, bytes], options: Options, X: Floats) -> Floats:
    """Score rows from the written files with the plugins' arithmetic: float32, in the order of the feature set."""
    model = from_json(files)["model"]["model"]
    said = json.loads(model["definition"])
    rows = X.astype(np.float32)
    place = {name: i for i, name in enumerate(options.features)}
    if model["type"] == "model/linear":
        norms = {name: fields["standard"] for name, fields in model.get("feature_normalizers", {}).items()}
        return linear_sums(
            rows,
            [(place[name], weight) for name, weight in said.items()],
            {place[name]: (one["mean"], one["standard_deviation"]) for name, one in norms.items()},
        )

    def read(node: dict[str, Any]) -> Any:
        if "leaf" in node:
            return node["leaf"]
        missing_left = node["missing"] == node["yes"]
        return place[node["split"]], node["split_condition"], missing_left, *node["children"]

    builder = Builder()
    builder.roots = [nested(builder, tree, read) for tree in said]
    return builder.forest(np.float32).sums(rows, np.float32, strict=True)


def linear_sums(
    rows: NDArray[np.float32], weights: list[tuple[int, float]], norms: Mapping[int, tuple[float, float]]
) -> Floats:
    """Return sums as Lucene's float arithmetic makes them: missing is 0, every product and sum rounded to float32."""
    total = np.zeros(len(rows), np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        for column, weight in sorted(weights):
            x = np.nan_to_num(rows[:, column], nan=0.0, posinf=np.inf, neginf=-np.inf)
            if column in norms:
                mean, deviation = norms[column]
                x = (x - np.float32(mean)) / np.float32(deviation)
            total += np.float32(weight) * x
    return total.astype(np.float64)


WRITER = Writer(write, simulate)
