"""Estimators and fitted models of other libraries in trials, comparisons and reports."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import argrank as ar
from argrank.errors import InputError
from argrank.models.trees import TreesModel


@pytest.fixture(scope="module")
def data():
    made = ar.make_ranking(24, 10, 4, random_state=0)
    shuffled = np.random.default_rng(0).permutation(made.n_documents)
    return ar.Dataset(made.X[shuffled], made.y[shuffled], made.qid[shuffled], feature_names=["a", "b", "c", "d"])


class Column:
    """Anything with predict."""

    def predict(self, X):
        return np.asarray(X)[:, 0]


def lightgbm():
    return pytest.importorskip("lightgbm").LGBMRanker(n_estimators=5, min_child_samples=2, verbose=-1)


def xgboost():
    return pytest.importorskip("xgboost").XGBRanker(n_estimators=5)


def catboost():
    return pytest.importorskip("catboost").CatBoostRanker(
        iterations=5, verbose=False, allow_writing_files=False, loss_function="YetiRank"
    )


def pipeline():
    return make_pipeline(StandardScaler(), Ridge())


def pipeline_of_ranker():
    return make_pipeline(StandardScaler(), lightgbm())


EVERY = pytest.mark.parametrize("make", [lightgbm, xgboost, catboost, pipeline, pipeline_of_ranker, Ridge])
FIT = {"lightgbm": "group", "xgboost": "qid", "catboost": "group_id"}


def fitted(make, data, named):
    import pandas as pd

    X = pd.DataFrame(data.X, columns=list(data.feature_names)) if named else data.X
    queries = {"group": data.sizes, "qid": data.query_of_row, "group_id": data.query_of_row}
    own = {FIT[make.__name__]: queries[FIT[make.__name__]]} if make.__name__ in FIT else {}
    if make is pipeline_of_ranker:
        own = {"lgbmranker__group": data.sizes}
    return make().fit(X, data.y, **own), X


@EVERY
def test_unfitted_ones_are_trained_in_a_benchmark(make, data):
    found = ar.benchmark(data, "ndcg@10", {"theirs": make(), "ours": "regression"}, n_folds=3, progress=False)
    assert list(found.systems) == ["theirs", "ours"]
    folds = list(ar.QueryKFold(3, letor=True).folds(data))
    by_hand, _ = fitted(make, folds[0].train, named=True)
    test = folds[0].test
    import pandas as pd

    scores = by_hand.predict(pd.DataFrame(test.X, columns=list(test.feature_names)))
    np.testing.assert_allclose(found.folds["theirs"][0].scores, scores)
    assert type(found.ranker("theirs")) is type(by_hand)


@EVERY
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.filterwarnings("error::UserWarning")  # features reach them as they were fitted
def test_fitted_ones_are_compared_and_reported(make, named, data, tmp_path):
    model, X = fitted(make, data, named)
    scores = data.to_caller(np.asarray(model.predict(X)))
    found = ar.compare({"theirs": model, "ours": data.to_caller(data.X[:, 0])}, data, "ndcg@10")
    assert found.means["theirs"] == ar.evaluate(scores, data, "ndcg@10").means
    assert "theirs" in ar.write_report(tmp_path / "r.html", data, {"theirs": model}).read_text("utf-8")


def test_fitted_ones_are_tested_as_they_are_and_never_chosen(data):
    model, _ = fitted(lightgbm, data, named=True)
    rankers = {"theirs": model, "column": Column(), "ours": "regression"}
    found = ar.benchmark(data, "ndcg@10", rankers, n_folds=3, progress=False)
    assert found.means["theirs"]["ndcg@10"] == pytest.approx(
        ar.compare({"a": model, "b": Column()}, data, "ndcg@10").means["a"]["ndcg@10"]
    )
    assert found.best == "ours"
    assert np.isnan(found.validation["theirs"])
    assert "theirs, fold 1: already fitted: tested without training" in repr(found)
    assert found.ranker("theirs") is model


def test_named_features_are_found_by_name(data):
    model, _ = fitted(lightgbm, data, named=True)
    turned = ar.Dataset(data.to_pandas()[["d", "qid", "b", "label", "a", "c"]].assign(more=0.0))
    first, second = (ar.compare({"m": model, "c": Column()}, one, "map").means["m"] for one in (data, turned))
    assert first == second
    lacking = ar.Dataset(data.to_pandas().drop(columns="a"))
    with pytest.raises(InputError, match="'m': X: expected a feature 'a', as in training, got b, c, d"):
        ar.compare({"m": model, "c": Column()}, lacking, "map")


@pytest.mark.parametrize("make", [lightgbm, xgboost, pipeline])
def test_unfitted_ones_are_named_in_a_comparison(make, data, tmp_path):
    with pytest.raises(InputError, match=r"'mine': expected a fitted model, got .* before fit"):
        ar.compare({"mine": make(), "column": Column()}, data, "map")
    with pytest.raises(InputError, match="'mine': expected a fitted model"):
        ar.write_report(tmp_path / "r.html", data, {"mine": make()})


def test_their_errors_are_told_and_do_not_cost_the_others(data):
    class Broken(Ridge):
        def fit(self, X, y, sample_weight=None):
            raise TypeError("no such thing")

    found = ar.benchmark(data, "map", {"broken": Broken(), "ours": "regression"}, n_folds=3, progress=False)
    assert list(found.systems) == ["ours"]
    assert "Broken: fit failed: TypeError: no such thing" in found.notes[0]
    narrow = Ridge().fit(data.X[:, :2], data.y)
    with pytest.raises(InputError, match="'narrow': Ridge could not score 4 features: ValueError"):
        ar.compare({"narrow": narrow, "column": Column()}, data, "map")


def test_parameters_of_theirs_are_selected(data):
    train, valid = data.split(0.6, 0.4)
    found = ar.select(Ridge(), {"alpha": [1e-3, 1e9]}, train, valid, "map")
    assert isinstance(found.ranker, Ridge)
    assert len(found.points) == 2


def test_imported_models_without_names_take_named_data(data):
    booster, X = fitted(lightgbm, data, named=False)
    model = TreesModel.from_lightgbm(booster.booster_)
    assert model.feature_names == ("Column_0", "Column_1", "Column_2", "Column_3")
    np.testing.assert_allclose(model.predict(data), data.to_caller(booster.predict(X)))
