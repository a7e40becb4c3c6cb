"""Elasticsearch's own learning to rank (8.12 and later, not the plugin): a trained model for ``_ml/trained_models``.

Trees only: ``lte`` in float64, ``default_left`` for missing. The definition scores like the one that eland, Elastic's
own converter, writes for the same model; it was not run on a server.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.deploy import cuts
from argrank.deploy.elasticsearch import query
from argrank.deploy.options import Files, Options, check_names, from_json, singles, to_json
from argrank.deploy.plain import Plain, Writer
from argrank.errors import ModelError
from argrank.models.forest import Builder, Forest

README = """\
1. Add the model:     PUT _ml/trained_models/{name}   with model.json
   Every feature needs its own query in "feature_extractors"; match_all is a placeholder. Keep names and order.
   Before Elasticsearch 8.15 add "input": {{"field_names": [the names of the features]}}.
2. Rescore with it: {{"rescore": {{"window_size": 100, "learning_to_rank": {{"model_id": "{name}", "params": {{}}}}}}}}
This format agrees with eland's; no server was run: verify before use.
   argrank verify MODEL.json LOGGED.csv --to elastic
"""


def write(plain: Plain, options: Options) -> Files:
    """Return the request body and the requests."""
    check_names(options.features, "elastic")
    if plain.forest is None:
        raise ModelError("elastic: expected trees, got a linear model; elasticsearch (the plugin) takes those")
    names = list(options.features)
    default = {"default_score": 0} if options.missing == "zero" else {}
    extractors = [
        {"query_extractor": {"feature_name": name, "query": query(options, place), **default}}
        for place, name in enumerate(names)
    ]
    ensemble = {
        "target_type": "regression",
        "feature_names": names,
        "trained_models": [{"tree": tree} for tree in _trees(plain.forest, names)],
        "aggregate_output": {"weighted_sum": {}},
    }
    body = {
        "description": "Exported by argrank",
        "inference_config": {"learning_to_rank": {"feature_extractors": extractors}},
        "definition": {"trained_model": {"ensemble": ensemble}},
    }
    return {"model.json": to_json(body), "README.txt": README.format(name=options.name).encode()}


def _trees(forest: Forest, names: list[str]) -> list[dict[str, Any]]:
    thresholds = [float(t) for t in cuts.writable(forest.cut).tolist()]
    values = singles(forest.value, "leaves")
    trees = []
    for root in forest.roots.tolist():
        order = [node for node, _ in forest.walk(root)]
        number = {node: i for i, node in enumerate(order)}
        structure: list[dict[str, Any]] = []
        for node in order:
            if node < 0:
                structure.append({"node_index": number[node], "leaf_value": values[~node]})
                continue
            structure.append(
                {
                    "node_index": number[node],
                    "split_feature": int(forest.feature[node]),
                    "threshold": thresholds[node],
                    "decision_type": "lte",
                    "default_left": bool(forest.nan_left[node]),
                    "left_child": number[int(forest.left[node])],
                    "right_child": number[int(forest.right[node])],
                }
            )
        trees.append({"feature_names": names, "tree_structure": structure})
    return trees


def simulate(files: Mapping[str, bytes], options: Options, X: Floats) -> Floats:
    """Score rows from the written file in float64, features rounded to float32 first."""
    builder = Builder()
    for model in from_json(files)["definition"]["trained_model"]["ensemble"]["trained_models"]:
        nodes = model["tree"]["tree_structure"]
        made = [
            builder.leaf(node["leaf_value"])
            if "leaf_value" in node
            else builder.node(node["split_feature"], node["threshold"], node["default_left"])
            for node in nodes
        ]
        for place, node in zip(made, nodes, strict=True):
            if place >= 0:
                builder.join(place, made[node["left_child"]], made[node["right_child"]])
        builder.roots.append(made[0])
    return builder.forest().sums(X.astype(np.float32).astype(np.float64), np.float64)


WRITER = Writer(write, simulate)
