"""Models of other libraries: stored files score as their libraries did; altered ones end in one clear line."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import numpy as np
import pytest

import argrank as ar
from argrank.errors import ArgrankError, ModelError, OptionError

STORED = Path(__file__).parent / "stored"
IMPORTS = json.loads((STORED / "imports.json").read_text())
ROWS = np.array([[np.nan if x is None else x for x in row] for row in IMPORTS["rows"]])
FILES = sorted(IMPORTS["scores"])


def copy(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    return path


def refused(path, words="not imported"):
    with pytest.raises(ModelError, match=words) as caught:
        ar.import_model(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", FILES)
def test_stored_models_score_as_their_library_did(name):
    model = ar.import_model(STORED / name)
    difference = model.predict(ROWS) - IMPORTS["scores"][name]
    assert np.ptp(difference) < 1e-6  # XGBoost adds its base_score
    assert list(model.feature_names) == IMPORTS["names"]


@pytest.mark.parametrize("name", FILES)
def test_imported_models_save_load_and_export(name, tmp_path):
    model = ar.import_model(STORED / name)
    model.save(tmp_path / "model.json")
    again = ar.load_model(tmp_path / "model.json")
    assert np.array_equal(model.predict(ROWS), again.predict(ROWS))
    for to in ("solr", "opensearch", "xgboost", "lightgbm", "python"):
        assert ar.export(again, to).parity.holds
    assert again.importances("split").sum() > 0


def test_what_argrank_writes_it_reads(forest, tmp_path):
    rows = np.random.default_rng(0).normal(size=(200, 5))
    for to, name in (("xgboost", "model.json"), ("lightgbm", "model.txt"), ("ranklib", "model.txt")):
        found = ar.export(forest, to, missing="zero")
        path = copy(tmp_path, name, found.files[name])
        again = ar.import_model(path)
        np.testing.assert_allclose(again.predict(rows.astype(np.float32)), forest.predict(rows.astype(np.float32)),
                                   atol=1e-5)  # fmt: skip


def test_ranklib_linear_text(tmp_path):
    path = copy(tmp_path, "model.txt", b"## Coordinate Ascent\n1:0.5 2:2\n")
    assert ar.import_model(path).predict([[1.0, 1.0]]).tolist() == [2.5]
    assert ar.import_model(path, "ranklib").n_features == 2


@pytest.mark.parametrize("name", FILES)
def test_a_cut_off_file_ends_in_one_line(name, tmp_path):
    content = (STORED / name).read_bytes()
    content = content.partition(b"end of trees")[0]  # what LightGBM writes after that decides nothing
    for share in (0.0, 0.1, 0.5, 0.9):
        refused(copy(tmp_path, name, content[: int(share * len(content))]))


@pytest.mark.parametrize("name", FILES)
def test_altered_bytes_never_leave_as_another_error(name, tmp_path):
    random = np.random.default_rng(0)
    content = (STORED / name).read_bytes()
    for _ in range(150):
        damaged = bytearray(content)
        for place in random.integers(0, len(damaged), 3):
            damaged[place] = random.integers(0, 256)
        path = copy(tmp_path, name, bytes(damaged))
        with contextlib.suppress(ArgrankError):
            ar.import_model(path).predict(np.zeros((1, 4)))


def altered(tmp_path, change):
    document = json.loads((STORED / "xgboost.json").read_text())
    change(document["learner"], document["learner"]["gradient_booster"]["model"]["trees"][0])
    return copy(tmp_path, "model.json", json.dumps(document).encode())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda learner, tree: learner["gradient_booster"].update(name="gblinear"), "boosted trees"),
        (lambda learner, tree: learner["learner_model_param"].update(num_class="3"), "one output"),
        (lambda learner, tree: learner["learner_model_param"].update(num_feature="x"), "num_feature"),
        (lambda learner, tree: learner.update(feature_names=["a"]), "feature_names: expected 4"),
        (lambda learner, tree: tree.update(split_type=[1] * len(tree["split_type"])), "categories"),
        (lambda learner, tree: tree["split_indices"].__setitem__(0, 9), "split_indices"),
        (lambda learner, tree: tree["left_children"].__setitem__(0, 0), "child of one other"),
        (lambda learner, tree: tree["right_children"].__setitem__(0, 99), "numbers of nodes"),
        (lambda learner, tree: tree["split_conditions"].__setitem__(0, "x"), "split_conditions: expected numbers"),
        (lambda learner, tree: tree["split_conditions"].pop(), "split_conditions: expected"),
        (lambda learner, tree: learner["gradient_booster"]["model"].update(trees=[]), "at least one tree"),
    ],
)
def test_altered_xgboost_models_are_refused(change, words, tmp_path):
    refused(altered(tmp_path, change), words)


def test_altered_catboost_models_are_refused(tmp_path):
    original = json.loads((STORED / "catboost.json").read_text())

    def check(words, change):
        document = json.loads(json.dumps(original))
        change(document)
        refused(copy(tmp_path, "c.json", json.dumps(document).encode()), words)

    check("leaf_values", lambda d: d["oblivious_trees"][0]["leaf_values"].pop())
    check("FloatFeature", lambda d: d["oblivious_trees"][0]["splits"][0].update(split_type="OnlineCtr"))
    check("border", lambda d: d["oblivious_trees"][0]["splits"][0].update(border=None))
    check("float_feature_index", lambda d: d["oblivious_trees"][0]["splits"][0].update(float_feature_index=77))
    check("only numeric features", lambda d: d["features_info"].update(categorical_features=[{}]))
    check("scale_and_bias", lambda d: d.update(scale_and_bias=[1, [0, 0]]))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("threshold=", "threshold=nan "),
        ("leaf_value=", "leaf_value=inf x "),
        ("split_feature=", "split_feature=77 "),
        ("left_child=", "left_child=0 "),
        ("num_tree_per_iteration=1", "num_tree_per_iteration=2"),
        ("num_tree_per_iteration=1", "num_tree_per_iteration=x"),
        ("feature_names=bm25 title", "feature_names=bm25 bm25"),
        ("decision_type=", "decision_type=1 "),
    ],
)
def test_altered_lightgbm_models_are_refused(old, new, tmp_path):
    text = (STORED / "lightgbm.txt").read_text()
    assert old in text
    refused(copy(tmp_path, "l.txt", text.replace(old, new, 1).encode()))


@pytest.mark.parametrize(
    "body",
    [
        "<ensemble></ensemble>",
        "<ensemble><tree weight='1'><split></split></tree></ensemble>",
        "<ensemble><tree weight='x'><split><output>1</output></split></tree></ensemble>",
        "<ensemble><tree weight='1'><split><output>nan</output></split></tree></ensemble>",
        "<!DOCTYPE a [<!ENTITY b 'c'>]><ensemble><tree weight='1'><split><output>1</output></split></tree></ensemble>",
        "<ensemble><tree weight='1'><split><feature>0</feature><threshold>1</threshold><split pos='left'><output>1"
        "</output></split><split pos='right'><output>1</output></split></split></tree></ensemble>",
    ],
)
def test_malformed_ranklib_trees_are_refused(body, tmp_path):
    refused(copy(tmp_path, "model.txt", f"## LambdaMART\n\n<ensemble>{body}".replace("<ensemble><", "<", 1).encode()))


def test_other_files_and_formats(tmp_path):
    refused(copy(tmp_path, "x.bin", b"\x00\x01"), "expected a model of XGBoost")
    refused(tmp_path / "absent", "No such file")
    with pytest.raises(OptionError, match="did you mean xgboost"):
        ar.import_model(tmp_path / "absent", "xgbost")
