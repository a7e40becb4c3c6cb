"""A small OpenSearch plugin for tests: it reads exported files, computes features of products, logs and scores.

It shares no code with argrank. Numbers are float32; a missing feature takes the "missing" branch of trees and counts 0
in linear models, as in the plugin since July 2026.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

Product = dict[str, Any]


def responses(folder: Path, products: dict[str, list[tuple[str, Product]]]) -> list[dict[str, Any]]:
    """Return what a log holds for each query: the response with the features and scores of its products."""
    features = json.loads((folder / "featureset.json").read_text())["featureset"]["features"]
    model = json.loads((folder / "model.json").read_text())["model"]["model"]
    found = []
    for qid, listed in products.items():
        hits = []
        for docid, product in listed:
            values = {one["name"]: value_of(one, product) for one in features}
            logged = [
                {"name": name} if np.isnan(x) else {"name": name, "value": float(x)} for name, x in values.items()
            ]
            fields = {"_ltrlog": [{"log_entry1": logged}]}
            hits.append({"_id": docid, "_score": float(score(model, values)), "fields": fields})
        found.append({"qid": qid, "response": {"hits": {"hits": hits}}})
    return found


def value_of(feature: dict[str, Any], product: Product) -> np.float32:
    """Return a product's field of the feature's name, or 1 or 0 where its query asks for a term."""
    if "bool" in feature["template"]:
        ((field, text),) = feature["template"]["bool"]["should"]["constant_score"]["filter"]["term"].items()
        return np.float32(product[field] == text)
    value = product[feature["name"]]
    return np.float32(np.nan if value is None else value)


def score(model: dict[str, Any], values: dict[str, np.float32]) -> np.float32:
    """Return the score of a model, added up in float32."""
    total, said = np.float32(0), json.loads(model["definition"])
    if model["type"] == "model/linear":
        norms = model.get("feature_normalizers", {})
        for name, x in values.items():
            if name in said:
                x = np.float32(0) if np.isnan(x) else x
                if name in norms:
                    norm = norms[name]["standard"]
                    x = (x - np.float32(norm["mean"])) / np.float32(norm["standard_deviation"])
                total += np.float32(said[name]) * x
        return total
    for node in said:
        while "leaf" not in node:
            x = values[node["split"]]
            way = "missing" if np.isnan(x) else "yes" if x < np.float32(node["split_condition"]) else "no"
            node = next(child for child in node["children"] if child["nodeid"] == node[way])
        total += np.float32(node["leaf"])
    return total
