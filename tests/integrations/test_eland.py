"""Elasticsearch's own learning to rank: our definition of a model against that of eland, Elastic's converter."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import argrank as ar

pytest.importorskip("xgboost", reason="xgboost is not installed")
pytest.importorskip("eland", reason="eland is not installed: see make test-integrations")

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "guide" / "export.md").read_text("utf-8")


def scores(definition: dict[str, Any], X: Any) -> list[float]:
    """Score rows as Elasticsearch reads a definition: a sum over trees, ``lt`` or ``lte``, ``default_left`` for NaN."""
    found = []
    for row in X.tolist():
        total = 0.0
        for model in definition["trained_model"]["ensemble"]["trained_models"]:
            nodes = {node["node_index"]: node for node in model["tree"]["tree_structure"]}
            node = nodes[0]
            while "leaf_value" not in node:
                value, threshold = row[node["split_feature"]], node["threshold"]
                if value != value:
                    left = node["default_left"]
                else:
                    left = value <= threshold if node["decision_type"] == "lte" else value < threshold
                node = nodes[node["left_child" if left else "right_child"]]
            leaf = node["leaf_value"]  # eland writes a list of one
            total += leaf[0] if isinstance(leaf, list) else leaf
        found.append(total)
    return found


def test_our_definition_is_that_of_eland(tmp_path):
    from eland.ml.transformers import get_model_transformer
    from xgboost import XGBRanker

    data = ar.load_bundled().select(range(80))
    X = data.X.astype(np.float32)
    X[::7, 2] = np.nan
    names = list(data.feature_names or ())
    ranker = ar.make_ranker("mart", n_trees=12).fit(ar.Dataset(X, data.y, group=data.sizes, feature_names=names))
    ours = json.loads(ar.export(ranker, "elastic").files["model.json"])["definition"]
    ar.export(ranker, "xgboost").write(tmp_path)
    model = XGBRanker()
    model.load_model(tmp_path / "model.json")
    theirs = {"trained_model": get_model_transformer(model, feature_names=names).transform().to_dict()}
    ensembles = [one["trained_model"]["ensemble"] for one in (ours, theirs)]
    assert ensembles[0]["feature_names"] == ensembles[1]["feature_names"]
    for a, b in zip(*(one["trained_models"] for one in ensembles), strict=False):
        assert len(a["tree"]["tree_structure"]) == len(b["tree"]["tree_structure"])
    assert {"weighted_sum"} == set(ensembles[0]["aggregate_output"]) == set(ensembles[1]["aggregate_output"])
    rows = X[:400]
    difference = np.array(scores(ours, rows)) - np.array(scores(theirs, rows))
    assert np.ptp(difference) < 1e-6  # eland may add a constant, the base score
    np.testing.assert_allclose(scores(ours, rows), ranker.predict(rows), atol=1e-6)


def test_the_recipe_for_import_ltr_model(tmp_path, monkeypatch):
    """The block of the guide runs against a client that only records what it was sent."""
    import eland.ml

    sent: dict[str, Any] = {}
    monkeypatch.setattr(eland.ml.MLModel, "import_ltr_model", staticmethod(lambda **given: sent.update(given)))
    monkeypatch.chdir(tmp_path)
    ar.make_ranker("mart", n_trees=3).fit(ar.load_bundled().select(range(30))).save("model.json")
    (block,) = re.findall(r"```py\n(import eland.*?)```", PAGE, re.DOTALL)
    exec(compile(block, "export.md", "exec"), {})
    assert sent["model_id"] == "shop"
    assert [one.feature_name for one in sent["ltr_model_config"].feature_extractors] == list(
        ar.load_bundled().feature_names or ()
    )
    assert sent["model"].get_booster().num_boosted_rounds() == 3
