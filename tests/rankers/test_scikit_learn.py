"""Rankers in scikit-learn's searches: right numbers, or an error that says how to get them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score

import argrank as ar
from argrank.errors import ArgrankWarning, InputError

GRID = {"C": [0.01, 1.0]}


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(30, (5, 12), 4, noise=1.0, random_state=3)


@pytest.fixture(scope="module")
def by_hand(data):
    """The mean over folds of the mean over queries, at C = 1."""
    values = []
    for train, test in GroupKFold(3).split(data.X, data.y, data.qid):
        ranker = ar.make_ranker("rank-svm", C=1.0).fit(data.X[train], data.y[train], qid=data.qid[train])
        judged = ar.Dataset(data.X[test], data.y[test], data.qid[test])
        values.append(ar.evaluate(ranker.predict(judged), judged, "ndcg@10").means["ndcg@10"])
    return np.mean(values)


@pytest.mark.parametrize("scoring", [None, "p@5"])
@pytest.mark.parametrize("name", ["orm", "svm-ndcg", "smooth-grad"])
def test_score_counts_labels_as_training_does(name, scoring):
    graded = ar.make_ranking(20, 12, 3, grades=5, random_state=0)
    ranker = ar.make_ranker(name, measure="p@5", relevant_at=3.0, scoring=scoring).fit(graded, eval_set=graded)
    reported = ar.evaluate(ranker.predict(graded), graded, "p@5", relevant_at=1 if scoring else 3).means["p@5"]
    assert (ranker.score(graded), ranker.trace_[-1]["validation"]) == (reported, reported)


def test_score_without_queries_names_the_ways(data):
    ranker = ar.make_ranker("rank-svm").fit(data)
    with pytest.raises(InputError, match=r"column 'qid'.*enable_metadata_routing=True.*qid='single'"):
        ranker.score(data.X, data.y)
    with pytest.raises(InputError, match="expected query ids"):
        ranker.score(ar.Dataset(data.X, data.y, data.qid).to_pandas().drop(columns="qid"))
    single = ar.Dataset(data.X, data.y, "single")
    assert ranker.score(data.X, data.y, qid="single") == ranker.score(single)
    assert ranker.score(data.X, data.y, qid=data.qid) == ranker.score(data) != ranker.score(single)
    assert ranker.score(data.to_pandas()) == ranker.score(data)


def test_a_search_without_routing_gives_no_finite_wrong_score(data):
    """All rows of a fold as one query would be another number; scikit-learn turns the error into NaN."""
    search = GridSearchCV(ar.make_ranker("rank-svm"), GRID, cv=GroupKFold(3), refit=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(data.X, data.y, groups=data.qid, qid=data.qid)
    assert np.isnan(search.cv_results_["mean_test_score"]).all()
    assert any("enable_metadata_routing=True" in str(one.message) for one in caught)
    assert not any(issubclass(one.category, FitFailedWarning) for one in caught)
    search.set_params(error_score="raise")
    with pytest.raises(InputError, match="expected query ids"):
        search.fit(data.X, data.y, groups=data.qid, qid=data.qid)


def test_a_search_with_routing_has_the_mean_over_queries(data, by_hand):
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(ar.make_ranker("rank-svm"), GRID, cv=GroupKFold(3), error_score="raise")
        search.fit(data.X, data.y, groups=data.qid, qid=data.qid)
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize("column", ["qid", "query_id"])
def test_a_search_over_a_frame_needs_no_routing(data, by_hand, column):
    frame = data.to_pandas().rename(columns={"qid": column})
    X, y = frame.drop(columns="label"), frame["label"]
    search = GridSearchCV(ar.make_ranker("rank-svm"), GRID, cv=GroupKFold(3), error_score="raise")
    search.fit(X, y, groups=frame[column])
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(by_hand, rel=1e-12)
    ranker = ar.make_ranker("rank-svm", C=1.0)
    values = cross_val_score(ranker, X, y, groups=frame[column], cv=GroupKFold(3), error_score="raise")
    assert values.mean() == pytest.approx(by_hand, rel=1e-12)


def test_a_feature_called_rating_is_no_label_beside_labels(data, caplog):
    frame = data.to_pandas().rename(columns={"f1": "rating"})
    X, y = frame.drop(columns="label"), frame["label"]
    ranker = ar.make_ranker("regression").fit(X, y)
    assert "rating" in ranker.model_.feature_names
    assert ranker.score(X, y) == ranker.score(frame)
    assert "rating" not in caplog.text


def test_fit_without_queries_keeps_its_warning(data):
    with pytest.warns(ArgrankWarning, match="all rows are taken as one query"):
        ar.make_ranker("regression").fit(data.X, data.y)
    ar.make_ranker("regression").fit(data.X, data.y, qid="single")


def test_a_dataset_in_a_search_is_refused_with_the_way(data):
    search = GridSearchCV(ar.make_ranker("rank-svm"), GRID, cv=GroupKFold(3))
    with pytest.raises(InputError, match=r"got a Dataset; give data.X, data.y and qid=data.qid .*to_pandas"):
        search.fit(data)


@pytest.fixture(scope="module")
def shop():
    """Brand says more than price, but is a text."""
    import pandas as pd

    rng = np.random.default_rng(0)
    brand = rng.choice(["acme", "best", "cheap"], 400)
    frame = pd.DataFrame({"brand": brand, "price": rng.normal(size=400), "qid": np.repeat(np.arange(40), 10)})
    return frame.assign(label=np.where(brand == "best", 2, 0) + (frame["price"] > 0.5))


def test_trees_learn_from_texts_and_keep_them(shop, tmp_path):
    ranker = ar.make_ranker("lambda-mart", n_trees=20, n_leaves=4).fit(shop)
    assert ranker.score(shop) > 0.95
    ranker.save(tmp_path / "m.json")
    loaded = ar.load_model(tmp_path / "m.json")
    expected = ranker.predict(shop)
    some = shop[shop["brand"] != "acme"]  # other numbers for the same texts
    for part, wanted in ((shop, expected), (some, expected[some.index])):
        np.testing.assert_array_equal(loaded.predict(part), wanted)
        np.testing.assert_array_equal(loaded.predict(ar.Dataset(part)), wanted)
    unknown = loaded.predict(some.assign(brand="new"))  # like a missing value
    np.testing.assert_array_equal(unknown, loaded.predict(some.assign(brand=None)))
    with pytest.raises(InputError, match="column 'brand': expected texts, as in training, got numbers"):
        loaded.predict(ar.Dataset(some.assign(brand=1.0)))
    numbers = ar.make_ranker("regression").fit(shop.assign(brand=1.0))
    with pytest.raises(InputError, match="column 'brand': expected a finite number, got 'cheap' in row 0"):
        numbers.predict(shop)


def test_validation_sets_and_tables_have_their_own_numbers_for_texts(shop, tmp_path):
    train, valid = shop[shop["qid"] < 30], shop[(shop["qid"] >= 30) & (shop["brand"] != "acme")]
    ranker = ar.make_ranker("lambda-mart", n_trees=5).fit(ar.Dataset(train), eval_set=ar.Dataset(valid))
    assert ranker.trace_["validation"][-1] == pytest.approx(ranker.score(valid))
    for name in ("shop.csv", "shop.parquet"):
        ar.dump(ar.Dataset(shop), tmp_path / name)
        again = ar.load(tmp_path / name)
        assert again.categories == ar.Dataset(shop).categories
        np.testing.assert_array_equal(again.X, ar.Dataset(shop).X)


def test_linear_rankers_take_texts_unless_told_to_refuse_them(shop):
    with pytest.raises(InputError, match=r"column 'brand': RankSVM takes numbers, got texts; leave .*trees"):
        ar.make_ranker("rank-svm", prepare=None).fit(shop)
    found = ar.benchmark(ar.Dataset(shop), "ndcg@10", ["mart", "regression"], n_folds=3, progress=False)
    assert list(found.systems) == ["mart", "regression"]
