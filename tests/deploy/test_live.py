"""Against the libraries themselves: they load what argrank writes, and argrank reads what they write.

A library that is not installed is skipped, and the reason is printed at the end of the run.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.deploy.conftest import random_tree

import argrank as ar
from argrank.data.prepare.normalise import Normaliser
from argrank.deploy.parity import made_rows, own_scores
from argrank.deploy.plain import plain
from argrank.models.linear import LinearModel
from argrank.models.sum import SumModel
from argrank.models.trees import TreesModel

random = np.random.default_rng(0)
X = random.normal(size=(2000, 6)).astype(np.float32)
X[random.random(X.shape) < 0.1] = np.nan
known = np.nan_to_num(X)
y = (known[:, 0] + known[:, 1] > 0).astype(int) + (known[:, 2] > 1)
SIZES = np.full(100, 20)


def the(package: str):
    return pytest.importorskip(package, reason=f"{package} is not installed: the live comparison was NOT run")


def on_borders(model):
    """Return rows on, below and above the model's cuts, and 2,000 ordinary ones."""
    return np.vstack([made_rows(plain(model, "as-trained")), X.astype(np.float64)])


def normalised(model: TreesModel) -> TreesModel:
    return TreesModel(model.trees, 5, normaliser=Normaliser("standard", np.arange(5.0), np.array([1, 2, 0, 3.7, 0.1])))


@pytest.fixture(params=["raw", "normalised", "one leaf"])
def model(request, forest):
    if request.param == "one leaf":
        return TreesModel((random_tree(np.random.default_rng(1), 5, 1), *forest.trees[:1]), 5)
    return forest if request.param == "raw" else normalised(forest)


def test_xgboost_predicts_the_simulated_bits(model, tmp_path):
    xgboost = the("xgboost")
    found = ar.export(model, "xgboost")
    found.write(tmp_path)
    booster = xgboost.Booster(model_file=str(tmp_path / "model.json"))
    rows = made_rows(plain(model, "as-trained"))
    names = [f"feature_{i}" for i in range(1, 6)]
    live = booster.predict(xgboost.DMatrix(rows, feature_names=names), output_margin=True)
    from argrank.deploy import xgboost as target

    assert np.array_equal(target.simulate(found.files, None, rows), live.astype(np.float64))


def test_onnxruntime_agrees(model):
    runtime = the("onnxruntime")
    the("onnx")
    rows = made_rows(plain(model, "as-trained"))
    session = runtime.InferenceSession(ar.export(model, "onnx").files["model.onnx"])
    (live,) = session.run(None, {"features": rows.astype(np.float32)})
    expected = own_scores(model, plain(model, "as-trained"), "as-trained", rows.astype(np.float32))
    np.testing.assert_allclose(live[:, 0], expected, atol=4e-6 * np.abs(expected).max())


def test_onnxruntime_agrees_on_linear_models_and_sums(forest):
    runtime = the("onnxruntime")
    the("onnx")
    linear = LinearModel(np.arange(5.0), normaliser=Normaliser("minmax", np.full(5, 3.0), np.array([1, 2, 3, 4, 0.0])))
    for one in (linear, SumModel((forest, linear), np.array([1.0, -0.5]))):
        found = ar.export(one, "onnx")
        assert found.parity.holds
        rows = made_rows(plain(one, "as-trained")).astype(np.float32)
        (live,) = runtime.InferenceSession(found.files["model.onnx"]).run(None, {"features": rows})
        expected = one.scores(rows)
        np.testing.assert_allclose(live[:, 0], expected, atol=4e-6 * np.abs(expected).max())


def test_onnxruntime_agrees_on_expected_gains(classes):
    runtime = the("onnxruntime")
    the("onnx")
    rows = made_rows(plain(classes, "as-trained")).astype(np.float32)
    (live,) = runtime.InferenceSession(ar.export(classes, "onnx").files["model.onnx"]).run(None, {"features": rows})
    np.testing.assert_allclose(live[:, 0], classes.scores(rows), atol=4e-6 * np.abs(classes.gains).max())


def test_lightgbm_predicts_the_same(model, tmp_path):
    lightgbm = the("lightgbm")
    ar.export(model, "lightgbm").write(tmp_path)
    rows = made_rows(plain(model, "as-trained"))
    live = lightgbm.Booster(model_file=str(tmp_path / "model.txt")).predict(rows)
    np.testing.assert_allclose(live, own_scores(model, plain(model, "as-trained"), "as-trained", rows), atol=1e-12)


def test_the_python_file_runs_alone(model):
    names: dict = {}
    exec(ar.export(model, "python").files["model.py"], names)
    rows = made_rows(plain(model, "as-trained"))
    expected = own_scores(model, plain(model, "as-trained"), "as-trained", rows)
    np.testing.assert_allclose([names["score"](row.tolist()) for row in rows], expected, atol=1e-12)
    row = {f"feature_{i}": value for i, value in enumerate(rows[0], 1) if not np.isnan(value)}
    assert names["score"](row) == pytest.approx(expected[0])


def test_the_python_file_gives_expected_gains(classes):
    names: dict = {}
    exec(ar.export(classes, "python").files["model.py"], names)
    rows = made_rows(plain(classes, "as-trained"))
    np.testing.assert_allclose([names["score"](row.tolist()) for row in rows], classes.scores(rows), atol=1e-12)


@pytest.mark.parametrize("booster", ["gbtree", "dart"])
@pytest.mark.parametrize("suffix", ["json", "ubj"])
def test_xgboost_is_imported(booster, suffix, tmp_path):
    xgboost = the("xgboost")
    options = {"objective": "rank:ndcg", "max_depth": 4, "booster": booster, "nthread": 1}
    if booster == "dart":
        options["rate_drop"] = 0.2
    trained = xgboost.train(options, xgboost.DMatrix(X, y, group=SIZES), 15)
    trained.save_model(tmp_path / f"model.{suffix}")
    found = ar.import_model(tmp_path / f"model.{suffix}")
    rows = on_borders(found)
    rows = np.vstack([rows, rows + random.normal(size=rows.shape) * 1e-8])  # doubles that float32 rounds
    difference = found.scores(rows) - trained.predict(xgboost.DMatrix(rows), output_margin=True)
    assert np.ptp(difference) < 5e-6
    assert ar.export(found, "solr").parity.holds


def test_lightgbm_is_imported(tmp_path):
    lightgbm = the("lightgbm")
    options = {"objective": "lambdarank", "num_leaves": 15, "verbose": -1, "num_threads": 1}
    trained = lightgbm.train(options, lightgbm.Dataset(X, y, group=SIZES), 20)
    trained.save_model(tmp_path / "model.txt")
    found = ar.import_model(tmp_path / "model.txt")
    rows = on_borders(found)
    rows[np.abs(rows) <= 1e-35] = 0.0  # LightGBM takes them for 0
    np.testing.assert_allclose(found.scores(rows), trained.predict(rows), atol=1e-12)
    assert ar.export(found, "opensearch").parity.holds


@pytest.mark.parametrize("more", [{}, {"grow_policy": "Lossguide"}, {"nan_mode": "Max"}])
def test_catboost_is_imported(more, tmp_path):
    catboost = the("catboost")
    options = {"loss_function": "YetiRank", "iterations": 15, "depth": 4, "verbose": 0, "thread_count": 1}
    trained = catboost.CatBoost({**options, "allow_writing_files": False, **more})
    trained.fit(catboost.Pool(X, y, group_id=np.repeat(np.arange(100), 20)))
    trained.save_model(str(tmp_path / "model.json"), format="json")
    found = ar.import_model(tmp_path / "model.json")
    rows = on_borders(found)
    rows = np.vstack([rows, rows + random.normal(size=rows.shape) * 1e-8])
    assert np.ptp(found.scores(rows) - trained.predict(rows)) < 1e-9
    assert ar.export(found, "solr").parity.holds
