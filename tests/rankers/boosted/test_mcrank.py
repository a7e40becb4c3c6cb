"""McRank: LightGBM's multi-class boosting, probabilities, slopes by finite differences, both links."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pytest

import argrank as ar
from argrank.errors import ArgrankWarning, InputError, OptionError
from argrank.models.tree_classes import LINKS, probabilities
from argrank.rankers.boosted.mcrank import McRank, log_loss, slopes

DRAWLESS = {"feature_fraction": 1.0, "bagging_fraction": 1.0, "extra_trees": False}


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(80, (5, 40), 6, truth="nonlinear", grades=4, random_state=3)


@pytest.mark.parametrize("link", LINKS)
def test_slopes_are_the_derivatives_of_the_loss(link):
    rng = np.random.default_rng(0)
    which, weight = rng.integers(0, 4, 7), rng.random(7)
    sums = rng.standard_normal((7, 4 if link == "multi-class" else 3))
    gradient, hessian = slopes(sums, which, link)
    factor = 4 / 3 if link == "multi-class" else 1.0
    for place in np.ndindex(sums.shape):
        step = np.zeros_like(sums)
        step[place] = 1e-4
        low, here, high = (log_loss(sums + t * step, which, link, weight) for t in (-1, 0, 1))
        assert weight[place[0]] * gradient[place] == pytest.approx((high - low) / 2e-4, abs=1e-6)
        assert weight[place[0]] * hessian[place] == pytest.approx(factor * (high - 2 * here + low) / 1e-8, abs=1e-5)


def test_newtons_leaf_is_friedmans():
    """(K-1)/K sum r / sum |r| (1 - |r|) for the documents of a leaf."""
    rng = np.random.default_rng(1)
    which, sums = rng.integers(0, 3, 20), rng.standard_normal((20, 3))
    gradient, hessian = slopes(sums, which, "multi-class")
    r = (which[:, None] == np.arange(3)) - probabilities(sums, "multi-class")
    friedman = 2 / 3 * r.sum(axis=0) / (np.abs(r) * (1 - np.abs(r))).sum(axis=0)
    np.testing.assert_allclose(-gradient.sum(axis=0) / hessian.sum(axis=0), friedman)


def test_it_is_lightgbms_multi_class_boosting(data):
    ranker = McRank(n_trees=15, n_leaves=8, learning_rate=0.1, **DRAWLESS).fit(data)
    parameters = {"objective": "multiclass", "num_class": 4, "num_leaves": 8, "boost_from_average": False}
    parameters |= {"verbosity": -1, "num_threads": 1}
    theirs = lgb.train(parameters, lgb.Dataset(data.X, data.y, params={"verbosity": -1}), 15).predict(data.X)
    np.testing.assert_allclose(ranker.predict_probabilities(data), theirs, atol=1e-4)


@pytest.mark.parametrize("link", LINKS)
def test_probabilities_and_scores(data, link):
    train, test = data.split(0.6, 0.4)
    ranker = McRank(link=link, gain="exp2", n_trees=30, learning_rate=0.1).fit(train, eval_set=test)
    chances = ranker.predict_probabilities(test)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(ranker.predict(test), chances @ (2**ranker.labels_ - 1), atol=1e-12)
    nothing = ar.evaluate(np.zeros(test.n_documents), test, "ndcg@10").means["ndcg@10"]
    assert ranker.score(test) > nothing + 0.1
    assert (np.diff(ranker.trace_["objective"][::5]) < 0).all()
    assert ranker.trace_["validation"][-1] == ranker.score(test)
    assert len(ranker.model_.trees) == 30 * (4 if link == "multi-class" else 3)


def test_probabilities_come_in_the_callers_order(data):
    ranker = McRank(n_trees=5).fit(data)
    shuffled = np.random.default_rng(0).permutation(data.n_documents)
    qid = data.query_of_row[shuffled]
    expected = ranker.predict_probabilities(data)[shuffled]
    np.testing.assert_array_equal(ranker.predict_probabilities(data.X[shuffled]), expected)
    np.testing.assert_array_equal(ranker.predict_probabilities(data.X[shuffled], qid=qid), expected)
    scaled = McRank(n_trees=5, normalise="query-minmax").fit(data)
    np.testing.assert_array_equal(
        scaled.predict_probabilities(data.X[shuffled], qid=qid), scaled.predict_probabilities(data)[shuffled]
    )


def test_two_labels_have_the_same_ranking_by_both_links(data):
    binary = ar.Dataset(data.X, data.y > 0, group=data.sizes)
    one, other = (McRank(link=link, n_trees=10, learning_rate=0.1, **DRAWLESS).fit(binary) for link in LINKS)
    assert len(other.model_.trees) == 10
    assert np.corrcoef(one.predict(binary), other.predict(binary))[0, 1] > 0.99


def test_one_label_alone_is_certain():
    with pytest.warns(ArgrankWarning, match="no tree found a split"):
        ranker = McRank().fit(np.eye(3), [2, 2, 2], qid=[1, 1, 1])
    assert ranker.predict(np.eye(3)).tolist() == [2.0, 2.0, 2.0]


def test_early_stopping_counts_rounds(data):
    train, test = data.split(0.6, 0.4)
    ranker = McRank(n_trees=100, learning_rate=0.4, early_stopping=5).fit(train, eval_set=test)
    assert ranker.score(test) == max(ranker.trace_["validation"])
    assert len(ranker.model_.trees) == 4 * ranker.n_iter_


def test_wrong_parameters_are_refused(data):
    with pytest.raises(OptionError, match="multi-class or ordinal"):
        McRank(link="other").fit(data)
    with pytest.raises(InputError, match="100 different labels"):
        McRank().fit(data.X, np.arange(data.n_documents), group=data.sizes)
