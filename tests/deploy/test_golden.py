"""The files and the bits that the engines' own code gave: OpenSearch LTR, Elasticsearch LTR, Solr, RankLib."""

from __future__ import annotations

import json

import numpy as np
import pytest

import argrank as ar
from argrank.deploy.options import Options
from argrank.deploy.registry import writer

NAMES = ("linear, None", "linear, standard", "linear, minmax", "trees", "trees, standard",
         "trees trained with missing values", "stumps")  # fmt: skip
TARGETS = ("opensearch", "elasticsearch", "solr", "ranklib")


def exported(model, to):
    return ar.export(model, to, name="m", missing="zero" if to == "ranklib" else "as-trained")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("to", TARGETS)
def test_scores_are_the_engines_to_the_bit(name, to, cases, golden, rows, rows_missing):
    model, case = cases[name]
    if to not in case:
        pytest.skip(f"the golden file has no {to} scores of this model")
    files = exported(model, to).files
    options = Options("m", tuple(golden["names"]))
    assert np.array_equal(writer(to).simulate(files, options, rows), case[to])
    if f"{to}_missing" in case:
        assert np.array_equal(writer(to).simulate(files, options, rows_missing), case[f"{to}_missing"])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("to", TARGETS)
def test_files_are_those_the_engines_loaded(name, to, cases):
    model, case = cases[name]
    if to not in case:
        pytest.skip(f"the golden file has no {to} scores of this model")
    files = exported(model, to).files
    if to == "ranklib":
        assert files["model.txt"].decode() == case["ranklib_model"]
    elif to == "solr":
        assert json.loads(files["model.json"]) | {"store": "s"} == case["solr_model"]
    else:
        body = json.loads(files["model.json"])["model"]["model"]
        assert json.loads(body["definition"]) == case["elasticsearch_definition"]
        assert body.get("feature_normalizers") == case.get("elasticsearch_normalizers")


@pytest.mark.parametrize("name", NAMES)
def test_model_files_of_the_first_version_load_and_score(name, cases, rows):
    """The policy for model files: a file of one version loads in all later ones, with the same scores."""
    model, case = cases[name]
    np.testing.assert_allclose(model.predict(rows.astype(np.float32)), case["argrank"], rtol=0, atol=1e-12)
