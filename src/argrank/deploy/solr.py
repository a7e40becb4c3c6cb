"""Solr's learning to rank: a feature store and a model store.

Solr tests ``x <= threshold + 1e-6`` in float32, so thresholds are inverted exactly. For trees it needs all numbers as
texts, for linear models the weights as numbers. Tested against Solr's own classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.deploy import cuts
from argrank.deploy.elasticsearch import linear_sums
from argrank.deploy.linear_part import Linear
from argrank.deploy.options import Files, Options, check_names, from_json, singles, to_json
from argrank.deploy.plain import Plain, Writer
from argrank.errors import ModelError
from argrank.models.forest import Builder, Forest, nested

PACKAGE = "org.apache.solr.ltr"
README = """\
1. Say what the features are:   curl -XPUT 'http://localhost:8983/solr/COLLECTION/schema/feature-store' \
--data-binary @features.json -H 'Content-type:application/json'
   Every feature needs its own query in "params"; the constant is a placeholder. Keep the names.
   Columns of categories (brand=acme) already have one, which filters by a string field.
2. Add the model:               curl -XPUT 'http://localhost:8983/solr/COLLECTION/schema/model-store' \
--data-binary @model.json -H 'Content-type:application/json'
3. Rescore with it:             rq={{!ltr model={name} reRankDocs=100}}
4. Log features and scores with fl=[features] and score, and compare:
   argrank verify MODEL.json LOGGED.csv --to solr
"""


def write(plain: Plain, options: Options) -> Files:
    """Return the features, the model and the requests."""
    check_names(options.features, "solr")
    model = {"class": "", "name": options.name, "store": options.name}
    keeps_missing = plain.forest is not None and options.missing == "as-trained"
    if plain.linear is not None:
        model |= _linear(plain.linear, options)
    elif plain.forest is not None:
        model |= _trees(plain.forest, options)
    features = [_feature(options, place, keeps_missing) for place in range(len(options.features))]
    return {
        "features.json": to_json(features, indent=1),
        "model.json": to_json(model),
        "README.txt": README.format(name=options.name).encode(),
    }


def misses(plain: Plain) -> Floats | None:
    """Return how far below every cut Solr's test is, 0 if some threshold plus 1e-6 equals it exactly."""
    if plain.forest is None:
        return None
    cut = cuts.writable(plain.forest.cut)
    hit = (cuts.writable(cuts.solr_threshold(plain.forest.cut)) + cuts.SOLR_SLACK).astype(np.float32)
    return np.where(np.isfinite(plain.forest.cut), np.abs(hit.astype(np.float64) - cut), 0.0)


def _feature(options: Options, place: int, keeps_missing: bool) -> dict[str, Any]:
    """Return the definition of a column: a filter for a category, which is 1 or else 0; else a placeholder."""
    name = options.features[place]
    fields: dict[str, Any] = {"store": options.name, "name": name, "class": f"{PACKAGE}.feature.SolrFeature"}
    if place in options.terms:
        term = options.terms[place]
        if "${" in term.name or any(mark in term.field for mark in " '\"}"):
            raise ModelError(f"solr: expected a plain field, and texts without ${{, got {term.name!r}")
        return {**fields, "params": {"fq": [f"{{!term f={term.field}}}{term.value}"]}}
    fields |= {"params": {"q": "{!func}0"}}
    return {**fields, "defaultValue": "NaN"} if keeps_missing else fields


def _linear(linear: Linear, options: Options) -> dict[str, Any]:
    columns = (singles(linear.weights, "weights"), singles(linear.shift, "shift"), singles(linear.scale, "scale"))
    features: list[dict[str, Any]] = []
    weights = {}
    for name, weight, mean, deviation in zip(options.features, *columns, strict=True):
        if weight == 0:
            continue
        weights[name] = weight
        norm = {"class": f"{PACKAGE}.norm.StandardNormalizer", "params": {"avg": repr(mean), "std": repr(deviation)}}
        features.append({"name": name, "norm": norm} if linear.normalises else {"name": name})
    return {"class": f"{PACKAGE}.model.LinearModel", "features": features, "params": {"weights": weights}}


def _trees(forest: Forest, options: Options) -> dict[str, Any]:
    thresholds = [float(t) for t in cuts.writable(cuts.solr_threshold(forest.cut)).tolist()]
    values = singles(forest.value, "leaves")
    keeps_missing = options.missing == "as-trained"

    def leaf(number: int) -> dict[str, Any]:
        return {"value": repr(values[number])}

    def split(node: int, left: Any, right: Any) -> dict[str, Any]:
        fields = {"feature": options.features[forest.feature[node]], "threshold": repr(thresholds[node])}
        missing = {"missing": "left" if forest.nan_left[node] else "right"} if keeps_missing else {}
        return {**fields, **missing, "left": left, "right": right}

    params: dict[str, Any] = {"isNullSameAsZero": False} if keeps_missing else {}
    params["trees"] = [{"weight": "1", "root": forest.fold(root, leaf, split)} for root in forest.roots.tolist()]
    features = [{"name": name} for name in options.features]
    return {"class": f"{PACKAGE}.model.MultipleAdditiveTreesModel", "features": features, "params": params}


def simulate(files: Mapping[str, bytes], options: Options, X: Floats) -> Floats:
    """Score rows from the written model with Solr's arithmetic: float32, in the order of the model's features."""
    model = from_json(files)
    rows = X.astype(np.float32)
    place = {name: i for i, name in enumerate(options.features)}
    if model["class"].endswith("LinearModel"):
        norms = {place[one["name"]]: one["norm"]["params"] for one in model["features"] if "norm" in one}
        weights = [(place[name], weight) for name, weight in model["params"]["weights"].items()]
        pairs = {column: (float(one["avg"]), float(one["std"])) for column, one in norms.items()}
        return linear_sums(rows, weights, pairs)
    zero = model["params"].get("isNullSameAsZero", True)

    def read(node: dict[str, Any]) -> Any:
        if "value" in node:
            return float(node["value"])
        with np.errstate(over="ignore"):
            slack = np.float32(float(node["threshold"])) + cuts.SOLR_SLACK
        left = slack >= 0 if zero else node["missing"] == "left"
        return place[node["feature"]], slack, left, node["left"], node["right"]

    builder = Builder()
    builder.roots = [nested(builder, tree["root"], read) for tree in model["params"]["trees"]]
    return builder.forest(np.float32).sums(rows, np.float32)


WRITER = Writer(write, simulate, misses=misses)
