"""MART: LightGBM's own regression where the two are comparable; weights, gaps, early stopping, what is refused."""

from __future__ import annotations

import sys

import lightgbm as lgb
import numpy as np
import pytest
from sklearn.base import clone

import argrank as ar
from argrank.errors import ArgrankWarning, InputError, MissingExtraError, OptionError
from argrank.rankers.boosted.trees.mart import MART

QUIET = {"verbosity": -1, "num_threads": 1}
#: LightGBM's own defaults, which draw nothing.
PLAIN = {"learning_rate": 0.1, "feature_fraction": 1.0, "bagging_fraction": 1.0, "extra_trees": False}


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(60, (5, 40), 6, truth="nonlinear", random_state=3)


def lightgbm_regression(data, n_trees=40, weight=None, categorical="auto", **parameters):
    train = lgb.Dataset(data.X, data.y, weight=weight, categorical_feature=categorical, params=QUIET)
    return lgb.train({"objective": "regression", **QUIET, **parameters}, train, n_trees).predict(data.X)


def test_it_is_lightgbms_regression(data):
    ours = MART(**PLAIN | {"learning_rate": 0.2}, n_trees=40, n_leaves=12, min_documents=7).fit(data).predict(data)
    theirs = lightgbm_regression(data, num_leaves=12, learning_rate=0.2, min_data_in_leaf=7)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)  # LightGBM keeps gradients in float32


def test_it_is_lightgbms_regression_with_gaps_and_categories(data):
    rng = np.random.default_rng(0)
    X = data.X.copy()
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 2] = rng.integers(0, 12, len(X))
    y = data.y + np.isin(X[:, 2], [1, 5, 6])
    holey = ar.Dataset(X, y, group=data.sizes, feature_names=list("abcdef"))
    for columns in ([2], ["c"]):
        ours = MART(**PLAIN, n_trees=40, categorical_features=columns).fit(holey)
        assert any(tree.categories for tree in ours.model_.trees)
        np.testing.assert_allclose(ours.predict(holey), lightgbm_regression(holey, categorical=[2]), atol=1e-5)


def test_weights_of_rows_are_lightgbms(data):
    rows = np.random.default_rng(1).integers(1, 4, data.n_documents)
    ours = MART(**PLAIN, n_trees=40).fit(data.X, data.y, group=data.sizes, sample_weight=rows)
    np.testing.assert_allclose(ours.predict(data.X), lightgbm_regression(data, weight=rows), atol=1e-5)


def test_weights_of_rows_and_queries_multiply(data):
    rng = np.random.default_rng(1)
    rows, queries = rng.integers(1, 4, data.n_documents), rng.integers(1, 4, data.n_queries)
    both = rows * np.repeat(queries * (data.n_queries / queries.sum()), data.sizes)
    ours = MART(n_trees=20).fit(data.X, data.y, group=data.sizes, sample_weight=rows, query_weight=queries)
    same = MART(n_trees=20).fit(data.X, data.y, group=data.sizes, sample_weight=both)
    assert ours.predict(data.X).tobytes() == same.predict(data.X).tobytes()


def test_the_objective_is_the_squared_error_and_falls(data):
    ranker = MART(n_trees=30, bagging_fraction=1.0).fit(data)
    assert ranker.objective_ == pytest.approx(((ranker.predict(data) - data.y) ** 2).sum())
    assert (np.diff(ranker.trace_["objective"]) < 0).all()
    assert ranker.n_iter_ == len(ranker.model_.trees) == 30


def test_early_stopping_keeps_the_best_round_of_the_wanted_measure(data):
    train, valid = data.split(0.6, 0.4)
    ranker = MART(n_trees=200, learning_rate=0.3, scoring="map", early_stopping=15).fit(train, eval_set=valid)
    seen = ranker.trace_["validation"]
    assert ranker.n_iter_ == np.argmax(seen) + 1 == len(seen) - 15
    assert ranker.score(valid) == max(seen)
    full = MART(n_trees=int(ranker.n_iter_), learning_rate=0.3, scoring="map").fit(train)
    assert full.predict(valid).tobytes() == ranker.predict(valid).tobytes()


def test_early_stopping_holds_queries_out_and_grows_what_it_found_on_all(data):
    ranker = MART(n_trees=60, learning_rate=0.3, early_stopping=5).fit(data)
    seen = ranker.trace_["validation"]
    assert ranker.n_iter_ == np.argmax(seen) + 1 < 60
    full = MART(n_trees=int(ranker.n_iter_), learning_rate=0.3).fit(data)
    assert full.predict(data).tobytes() == ranker.predict(data).tobytes()


def test_early_stopping_needs_a_measure_that_is_defined(data):
    with pytest.raises(InputError, match="a single query"):
        MART(early_stopping=5).fit(data.select([0]))
    with pytest.raises(InputError, match="NaN"):
        MART(early_stopping=5).fit(data, eval_set=ar.Dataset(data.X, np.zeros(data.n_documents), group=data.sizes))


def test_drawn_features_follow_the_seed(data):
    drawn = MART(**PLAIN | {"feature_fraction": 0.4}, n_trees=10)
    scores = [clone(drawn).set_params(random_state=s).fit(data).predict(data) for s in (0, 0, 1)]
    assert scores[0].tobytes() == scores[1].tobytes() != scores[2].tobytes()


def test_larger_data_has_the_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr("argrank.rankers.boosted.trees.lightgbm.SMALL_CELLS", 0)
    data = ar.make_ranking(60, 50, 8, truth="nonlinear", random_state=5)
    one, two = (MART(n_trees=5, n_jobs=n).fit(data).predict(data) for n in (1, 2))
    assert one.tobytes() == two.tobytes()


def test_importances_are_shares(data):
    ranker = MART(n_trees=10)
    assert not hasattr(ranker, "feature_importances_")
    ranker.fit(data)
    assert ranker.feature_importances_.sum() == pytest.approx(1.0)
    assert ranker.feature_importances_.shape == (6,)


def test_lightgbm_serves_the_model(data):
    ranker = MART(n_trees=10).fit(data)
    served = lgb.Booster(model_str=ranker.model_.to_lightgbm())
    np.testing.assert_allclose(served.predict(data.X), ranker.predict(data), rtol=0, atol=1e-12)


def test_data_without_a_split_gives_the_mean():
    with pytest.warns(ArgrankWarning, match="no tree found a split"):
        ranker = MART().fit([[1.0], [2.0], [3.0]], [0, 1, 2], qid=[1, 1, 1])
    assert ranker.predict([[5.0]]).tolist() == [1.0]
    assert ranker.objective_ == 2.0


def test_interrupting_keeps_what_was_grown(data, monkeypatch):
    from argrank.rankers.boosted.trees.seeded_boosters import LightGBMBoosters

    grow, calls = LightGBMBoosters.grow, []

    def interrupted(self, *arguments):
        calls.append(1)
        if len(calls) == 8:
            raise KeyboardInterrupt
        return grow(self, *arguments)

    monkeypatch.setattr(LightGBMBoosters, "grow", interrupted)
    with pytest.warns(ArgrankWarning, match="interrupted; the 7 earlier rounds"):
        ranker = MART(n_trees=20).fit(data)
    monkeypatch.undo()
    assert ranker.predict(data).tobytes() == MART(n_trees=7).fit(data).predict(data).tobytes()


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_trees": 0}, {"n_leaves": 1}, {"min_documents": 0}, {"feature_fraction": 0.0}, {"early_stopping": 0},
        {"categorical_features": [6]}, {"categorical_features": ["name"]}, {"random_state": -1}, {"n_leaves": 2.5},
    ],
)  # fmt: skip
def test_wrong_parameters_are_refused(data, wrong):
    with pytest.raises(OptionError):
        MART(**wrong).fit(data, eval_set=data)


def test_the_missing_extra_is_named(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(MissingExtraError, match=r"argrank\[trees\]"):
        clone(MART()).fit(data)
