"""What XGBoost, CatBoost and ranx report for the same lists; golden/make_golden.py made the files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import argrank as ar

GOLDEN = Path(__file__).parent / "golden"
CATBOOST = {"NDCG": "nDCG", "DCG": "DCG", "MAP": "AP", "MRR": "RR", "PrecisionAt": "P", "RecallAt": "R"}


def cases(tool):
    return json.loads((GOLDEN / f"{tool}.json").read_text())["cases"]


def lists_of(case):
    lists = case["lists"]
    weights = lists["weights"] if case["weighted"] else None
    data = ar.Dataset(np.zeros((len(lists["labels"]), 1)), lists["labels"], group=lists["sizes"], query_weight=weights)
    return data, lists["scores"]


@pytest.mark.parametrize("case", cases("xgboost"))
def test_xgboost(case):
    data, scores = lists_of(case)
    found = ar.evaluate(scores, data, list(case["means"]), convention="xgboost").means
    # XGBoost holds weights as float32.
    tolerance = 1e-6 if case["weighted"] else 1e-12
    assert found == pytest.approx(case["means"], rel=0, abs=tolerance)


def test_xgboost_minus_is_the_minus_after_every_name():
    case = cases("xgboost")[0]
    data, scores = lists_of(case)
    names = [name[:-1] for name in case["means"] if name.endswith("-")]
    found = ar.evaluate(scores, data, names, convention="xgboost-").means
    assert found == pytest.approx({name: case["means"][name + "-"] for name in names}, rel=0, abs=1e-12)


@pytest.mark.parametrize("case", cases("catboost"))
def test_catboost(case):
    data, scores = lists_of(case)
    for told, expected in case["means"].items():
        word, _, rest = told.partition(":")
        options = dict(part.split("=") for part in rest.split(";"))
        name = CATBOOST[word]
        if options.get("type") == "Exp":
            name += "(gain='exp2')"
        if options["top"] != "-1":
            name += f"@{options['top']}"
        assert ar.evaluate(scores, data, name, convention="catboost").means[name] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("case", cases("ranx"))
def test_ranx(case):
    data, scores = lists_of(case)
    found = ar.evaluate(scores, data, list(case["per_query"]), convention="ranx").values
    for name, expected in case["per_query"].items():
        np.testing.assert_allclose(found[name], expected, rtol=0, atol=1e-12)
