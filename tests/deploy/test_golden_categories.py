"""Models with categories and gaps score what LightGBM, XGBoost and ONNX Runtime once gave, in every target."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from tests.deploy.write_category_scores import PATH

import argrank as ar
from argrank.deploy.deployment import deployment
from argrank.models.linear import LinearModel
from argrank.models.trees import TreesModel

STORED = json.loads(PATH.read_text())
ROWS = pd.DataFrame(STORED["rows"], columns=["bm25", "price", "brand"])
TREES = TreesModel.from_dict(STORED["trees"]["model"])
LINEAR = LinearModel.from_dict(STORED["linear"]["model"])


def test_scores_are_those_of_other_libraries():
    np.testing.assert_allclose(TREES.predict(ROWS), STORED["trees"]["lightgbm"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(TREES.predict(ROWS), STORED["trees"]["xgboost"], rtol=0, atol=2e-6)
    np.testing.assert_allclose(LINEAR.predict(ROWS), STORED["linear"]["onnx"], rtol=0, atol=2e-6)
    assert len(set(STORED["trees"]["lightgbm"])) > 10
    assert ROWS.isna().any().tolist() == [False, True, True]


@pytest.mark.parametrize(
    "to",
    ["elastic", "elasticsearch", "lightgbm", "onnx", "opensearch", "python", "ranklib", "solr", "vespa", "xgboost"],
)
def test_every_target_gives_them(to):
    made = deployment(TREES, to, missing="zero" if to == "ranklib" else "as-trained")
    data = ar.Dataset(TREES._given(ROWS, None, None).X, group=[len(ROWS)])
    X = np.nan_to_num(data.X) if to == "ranklib" else data.X
    expected = np.array(STORED["trees"]["lightgbm"])
    kept = ~ROWS.isna().any(axis=1).to_numpy() if to == "ranklib" else np.ones(len(ROWS), bool)
    np.testing.assert_allclose((made.score(X) + made.constant)[kept], expected[kept], rtol=0, atol=2e-6)
