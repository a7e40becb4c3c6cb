"""Models with categories go to every target: by sets where it knows them, else by columns of 0 and 1."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.deploy.conftest import random_tree
from tests.models.test_symmetric import random_forest

import argrank as ar
from argrank.deploy.deployment import deployment
from argrank.deploy.one_hot import Column, columns_for, computed, unrolled
from argrank.deploy.parity import made_rows
from argrank.deploy.plain import plain
from argrank.deploy.registry import fitted_to
from argrank.errors import ModelError
from argrank.models.trees import TreesModel

SETS = ("lightgbm", "onnx", "python", "vespa")
ONE_HOT = ("elastic", "elasticsearch", "opensearch", "ranklib", "solr", "xgboost")
TEXTS = tuple(f"b{i:02d}" for i in range(40))


def forest_with_sets(seed, n_trees=10, n_leaves=12, n_categories=40):
    """Return trees on three numbers, a brand and a shop, half of their splits by category."""
    random = np.random.default_rng(seed)
    trees = []
    for _ in range(n_trees):
        tree = random_tree(random, 5, n_leaves)
        for node in range(n_leaves - 1):
            if tree.feature[node] >= 3:
                most = n_categories if tree.feature[node] == 3 else 3
                size = random.integers(1, max(2, most // 2))
                tree.categories[node] = np.sort(random.choice(most, size, replace=False))
        trees.append(tree)
    names = ("bm25", "price", "age", "brand", "shop")
    return TreesModel(
        tuple(trees), 5, feature_names=names, categories={"brand": TEXTS[:n_categories], "shop": ("a b", "c", "d")}
    )


@pytest.fixture(scope="module")
def model():
    return forest_with_sets(0)


def symmetric_with_tables(seed):
    """Return symmetric trees on the same columns; brands and shops are asked by numbers of their own."""
    random = np.random.default_rng(seed)
    brands = np.where(random.random(40) < 0.1, np.nan, random.normal(size=40))
    forest = random_forest(seed, 8, 4, {3: brands, 4: np.array([0.2, -0.4, 0.9])}, 5)
    sets = forest_with_sets(seed, 1)
    return replace(forest, feature_names=sets.feature_names, categories=sets.categories)


@pytest.mark.parametrize("to", [*SETS, *ONE_HOT])
@pytest.mark.parametrize("missing", ["as-trained", "zero"])
def test_every_target_keeps_the_scores_of_symmetric_trees(to, missing):
    found = ar.export(symmetric_with_tables(1), to, missing="zero" if to == "ranklib" else missing)
    assert found.parity.holds, str(found.parity)
    assert found.parity.on_cuts < 1e-5


@pytest.fixture(scope="module")
def trained():
    """Return a ranker of trees and its data: numbers, missing ones, a flag, a brand of 40 values."""
    random = np.random.default_rng(3)
    n = 1200
    brand = random.integers(0, 40, n)
    effect = random.normal(size=40)
    X = np.column_stack([random.gamma(2, 3, n), random.lognormal(3, 1, n), random.random(n) < 0.3, brand]).astype(float)
    label = np.clip(np.round(effect[brand] + X[:, 0] / 6 + random.normal(size=n) * 0.5), 0, 4)
    X[random.random(n) < 0.1, 1] = np.nan
    X[random.random(n) < 0.05, 3] = np.nan
    names = ("bm25", "price", "in_stock", "brand")
    data = ar.Dataset(
        X, label, np.repeat(np.arange(60), 20), feature_names=names, categories={"brand": TEXTS}
    )  # fmt: skip
    return ar.make_ranker("mart", n_trees=30, n_leaves=15).fit(data), data


@pytest.mark.parametrize("to", [*SETS, *ONE_HOT])
@pytest.mark.parametrize("missing", ["as-trained", "zero"])
def test_every_target_keeps_the_scores(model, to, missing):
    found = ar.export(model, to, missing="zero" if to == "ranklib" else missing)
    assert found.parity.holds, str(found.parity)
    assert found.parity.on_cuts < 1e-5


@pytest.mark.parametrize("to", [*SETS, *ONE_HOT])
def test_a_trained_model_goes_everywhere_and_reorders_nothing(trained, to):
    ranker, data = trained
    assert any(tree.categories for tree in ranker.model_.trees)
    assert set(ar.targets(ranker)) == {*SETS, *ONE_HOT}
    single = data.with_features(data.X.astype(np.float32))
    found = ar.export(ranker, to, check=single, missing="zero" if to == "ranklib" else "as-trained")
    assert found.parity.holds, str(found.parity)
    assert found.parity.reordered == 0 or to == "ranklib"
    assert found.parity.measure_before == pytest.approx(found.parity.measure_after, abs=1e-12)


# ---- the targets' own libraries ----------------------------------------------------------------------------------


def test_xgboost_scores_columns_of_categories(trained, tmp_path):
    xgboost = pytest.importorskip("xgboost")
    ranker, data = trained
    made = deployment(ranker, "xgboost")
    ar.export(ranker, "xgboost").write(tmp_path)
    rows = np.vstack([made_rows(made.parts), data.X])
    matrix = xgboost.DMatrix(computed(rows, made.columns), feature_names=list(made.options.features))
    live = xgboost.Booster(model_file=str(tmp_path / "model.json")).predict(matrix, output_margin=True)
    assert np.array_equal(made.score(rows), live.astype(np.float64))
    np.testing.assert_allclose(live, ranker.model_.scores(rows.astype(np.float32)), atol=1e-5)


def test_lightgbm_knows_the_sets(trained, tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    ranker, data = trained
    ar.export(ranker, "lightgbm").write(tmp_path)
    rows = np.vstack([made_rows(plain(ranker.model_, "as-trained")), data.X])
    live = lightgbm.Booster(model_file=str(tmp_path / "model.txt")).predict(rows)
    np.testing.assert_allclose(live, ranker.model_.scores(rows), atol=1e-12)


def test_onnxruntime_follows_chains_of_equals(trained, model):
    runtime = pytest.importorskip("onnxruntime")
    for one in (trained[0].model_, model, forest_with_sets(4, n_categories=2)):
        rows = made_rows(plain(one, "as-trained")).astype(np.float32)
        (live,) = runtime.InferenceSession(ar.export(one, "onnx").files["model.onnx"]).run(None, {"features": rows})
        expected = one.scores(rows)
        np.testing.assert_allclose(live[:, 0], expected, atol=4e-6 * np.abs(expected).max())


def test_the_python_file_takes_texts(trained):
    ranker, data = trained
    names: dict = {}
    exec(ar.export(ranker, "python").files["model.py"], names)
    expected = ranker.predict(data)
    for row, score in list(zip(data.X.tolist(), expected, strict=True))[:100]:
        brand = None if np.isnan(row[3]) else TEXTS[int(row[3])]
        said = {"bm25": row[0], "price": row[1], "in_stock": row[2], "brand": brand}
        assert names["score"](said) == pytest.approx(score, abs=1e-12)
        assert names["score"](row) == pytest.approx(score, abs=1e-12)
    assert names["score"]({**said, "brand": "never seen"}) == names["score"]({**said, "brand": None})


# ---- what training prepared ---------------------------------------------------------------------------------------

RANKERS = {
    "regression": {"ridge": 1.0},
    "regression, normalised": {"ridge": 1.0, "normalise": "standard"},
    "mart": {"n_trees": 10},
    "rankboost": {"n_rounds": 10},
    "mcrank": {"n_trees": 3, "start": "linear"},
}


def prepared(name, data, target=None):
    ranker = ar.make_ranker(name.partition(",")[0], **RANKERS[name])
    return (ranker if target is None else fitted_to(ranker, target)).fit(data)


@pytest.mark.parametrize("name", RANKERS)
def test_medians_flags_and_columns_of_texts_are_part_of_what_is_exported(trained, name):
    ranker = prepared(name, trained[1])
    data = trained[1].with_features(trained[1].X.astype(np.float32))
    names: dict = {}
    found = ar.export(ranker, "python", check=data)
    assert found.parity.holds
    exec(found.files["model.py"], names)
    rows = trained[1].X.tolist()
    np.testing.assert_allclose([names["score"](row) for row in rows], ranker.predict(trained[1]), atol=1e-12)
    for to in ar.targets(ranker):
        parity = ar.export(ranker, to, check=data, missing="zero" if to == "ranklib" else "as-trained").parity
        assert parity.holds, f"{to}: {parity}"
        assert parity.reordered == 0, f"{to}: {parity}"


def test_onnxruntime_fills_in_missing_values(trained):
    runtime = pytest.importorskip("onnxruntime")
    rows = trained[1].X.astype(np.float32)
    for name in ("regression", "regression, normalised", "mcrank", "rankboost"):
        model = prepared(name, trained[1]).model_
        session = runtime.InferenceSession(ar.export(model, "onnx").files["model.onnx"])
        expected = model.scores(rows)
        live = session.run(None, {"features": rows})[0][:, 0]
        np.testing.assert_allclose(live, expected, atol=4e-6 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["regression", "regression, normalised", "mart", "rankboost"])
@pytest.mark.parametrize("to", ONE_HOT)
def test_what_is_trained_for_a_target_goes_there(trained, name, to):
    if name.startswith("regression") and to in ("elastic", "xgboost"):
        pytest.skip("takes trees alone")
    ranker = prepared(name, trained[1], to)
    data = trained[1].with_features(trained[1].X.astype(np.float32))
    missing = "zero" if to == "ranklib" and name == "mart" else "as-trained"
    found = ar.export(ranker, to, check=data, missing=missing)
    assert found.parity.holds, str(found.parity)
    assert found.parity.reordered == 0
    assert any("brand has categories" in note for note in found.notes)


def test_a_linear_model_that_fills_in_medians_is_told_how_to_be_trained(trained):
    with pytest.raises(
        ModelError, match=r"opensearch cannot express the missing values of this linear model.*--target opensearch"
    ):
        ar.export(prepared("regression", trained[1]), "opensearch")
    assert set(ar.targets(prepared("regression", trained[1]))) == {"onnx", "python", "vespa"}


def test_stumps_of_medians_go_to_ranklib_only_as_zeros(trained):
    ranker = prepared("rankboost", trained[1])
    with pytest.raises(ModelError, match='missing="zero"'):
        ar.export(ranker, "ranklib")
    assert "missing values only as 0" in ar.targets(ranker)["ranklib"]
    assert "columns of 0 and 1" in ar.targets(trained[0])["opensearch"]


# ---- unrolling ---------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 20), st.integers(1, 15))
def test_nested_tests_decide_as_the_sets_do(seed, n_categories, n_leaves):
    model = forest_with_sets(seed, 3, n_leaves + 1, n_categories)
    parts = plain(model, "as-trained")
    columns = columns_for(5, {3: [], 4: [], **parts.categories})
    flat = unrolled(parts.forest, columns)
    assert not flat.members
    rows = made_rows(parts)
    assert np.array_equal(flat.sums(computed(rows, columns), np.float64), parts.forest.sums(rows, np.float64))
    assert np.array_equal(parts.forest.sums(rows.astype(np.float32), np.float64), model.scores(rows.astype(np.float32)))


def test_a_split_by_one_category_stays_one_split():
    tree = random_tree(np.random.default_rng(0), 1, 2)
    tree.categories[0] = np.array([2])
    parts = plain(TreesModel((tree,), 1), "as-trained")
    columns = columns_for(1, parts.categories)
    assert columns == (Column(0, 2),)
    assert len(unrolled(parts.forest, columns).feature) == 1


def test_categories_that_are_decided_are_asked_for_no_more():
    tree = random_tree(np.random.default_rng(1), 1, 8)
    for node in range(7):
        tree.categories[node] = np.arange(4)
    parts = plain(TreesModel((tree,), 1), "as-trained")
    flat = unrolled(parts.forest, columns_for(1, parts.categories))
    assert len(flat.feature) == 4


# ---- what is written ---------------------------------------------------------------------------------------------


def test_opensearch_is_given_queries_that_always_match(trained):
    files = ar.export(trained[0], "opensearch", features=["bm25", "price", "in_stock", "brand.keyword"]).files
    features = json.loads(files["featureset.json"])["featureset"]["features"]
    template = {one["name"]: one["template"] for one in features}
    assert template["price"] == {"match_all": {}}
    assert template["brand.keyword=b07"] == {
        "bool": {
            "must": {"match_all": {"boost": 0}},
            "should": {"constant_score": {"filter": {"term": {"brand.keyword": "b07"}}, "boost": 1}},
        }
    }
    assert "brand.keyword" not in template
    used = json.loads(json.loads(files["model.json"])["model"]["model"]["definition"])
    assert {split["split"] for tree in used for split in splits(tree)} <= set(template)


def splits(node):
    if "split" in node:
        yield node
        for child in node["children"]:
            yield from splits(child)


def test_solr_is_given_filters_that_are_0_where_they_do_not_match(model):
    features = json.loads(ar.export(model, "solr").files["features.json"])
    found = {one["name"]: one for one in features}
    assert found["shop=a b"]["params"] == {"fq": ["{!term f=shop}a b"]}
    assert "defaultValue" not in found["shop=a b"]
    assert found["price"]["defaultValue"] == "NaN"


def test_elastic_asks_the_same_query_as_the_plugin(model):
    body = json.loads(ar.export(model, "elastic").files["model.json"])
    extractors = body["inference_config"]["learning_to_rank"]["feature_extractors"]
    named = {one["query_extractor"]["feature_name"]: one["query_extractor"]["query"] for one in extractors}
    assert named["shop=c"]["bool"]["should"]["constant_score"]["filter"] == {"term": {"shop": "c"}}


def test_vespa_is_given_the_texts(model):
    said = json.loads(ar.export(model, "vespa").files["model.json"])
    assert said["pandas_categorical"] == [list(TEXTS), ["a b", "c", "d"]]
    assert list(said["feature_infos"]) == ["brand", "shop"]
    found = json.dumps(said["tree_info"])
    assert '"decision_type": "=="' in found
    assert '"default_left": true, "missing_type": "NaN"' in found


def test_notes_say_what_to_send(model):
    assert any("shop was a text in training; give onnx its number: 'a b' is 0, 'c' is 1" in note
               for note in ar.export(model, "onnx").notes)  # fmt: skip
    assert any("on a keyword field 'shop'" in note for note in ar.export(model, "opensearch").notes)
    assert any("the caller of the model has to compute them" in note for note in ar.export(model, "xgboost").notes)
    assert any("brand is a text, as in training" in note for note in ar.export(model, "python").notes)


@pytest.mark.parametrize(("to", "text"), [("opensearch", "{{x}}"), ("elastic", "{{x}}"), ("solr", "${x}"),
                                          ("vespa", 'say "x"'), ("xgboost", "a[0]")])  # fmt: skip
def test_texts_that_an_engine_would_take_for_its_own_signs_are_refused(model, to, text):
    odd = replace(model, categories={"brand": TEXTS, "shop": (text, "c", "d")})
    with pytest.raises(ModelError, match="expected"):
        ar.export(odd, to)


def test_made_up_names_are_not_those_that_xgboost_counts_from_0():
    forest = TreesModel((random_tree(np.random.default_rng(0), 2, 2),), 2)
    learner = json.loads(ar.export(forest, "xgboost").files["model.json"])["learner"]
    assert learner["feature_names"] == ["feature_1", "feature_2"]
    for names, warned in (("f1", "f2"), True), (("f0", "f1"), False), (("feature_1", "f_2"), False):
        notes = ar.export(forest, "xgboost", features=names).notes
        assert any("f1 is feature 1 here, but eland reads f1 as feature 2" in note for note in notes) == warned
