"""McRank: LightGBM's multi-class boosting, probabilities, derivatives by differences, both links, the linear start."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pytest
from scipy.optimize import minimize

import argrank as ar
from argrank.errors import ArgrankWarning, InputError, ModelError, OptionError
from argrank.models.tree_classes import LINKS, probabilities
from argrank.rankers.boosted.trees.mcrank import RIDGE, LabelChances, McRank, hessian, log_loss, slopes

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
    ranker = McRank(start=None, n_trees=15, n_leaves=8, learning_rate=0.1, **DRAWLESS).fit(data)
    parameters = {"objective": "multiclass", "num_class": 4, "num_leaves": 8, "boost_from_average": False}
    parameters |= {"verbosity": -1, "num_threads": 1}
    theirs = lgb.train(parameters, lgb.Dataset(data.X, data.y, params={"verbosity": -1}), 15).predict(data.X)
    np.testing.assert_allclose(ranker.predict_probabilities(data), theirs, atol=1e-4)


@pytest.mark.parametrize("start", [None, "linear"])
@pytest.mark.parametrize("link", LINKS)
def test_probabilities_and_scores(data, link, start):
    train, test = data.split(0.6, 0.4)
    ranker = McRank(link=link, start=start, gain="exp2", n_trees=30, learning_rate=0.1).fit(train, eval_set=test)
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


@pytest.mark.parametrize("start", [None, "linear"])
def test_two_labels_have_the_same_ranking_by_both_links(data, start):
    binary = ar.Dataset(data.X, data.y > 0, group=data.sizes)
    settings = {"start": start, "n_trees": 10, "learning_rate": 0.1, **DRAWLESS}
    one, other = (McRank(link=link, **settings).fit(binary) for link in LINKS)
    assert len(other.model_.trees) == 10
    assert np.corrcoef(one.predict(binary), other.predict(binary))[0, 1] > 0.99


@pytest.mark.filterwarnings("ignore:.*nothing to learn")
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
    with pytest.raises(OptionError, match="'multi-class' or 'ordinal'"):
        McRank(link="other").fit(data)
    with pytest.raises(InputError, match="100 different labels"):
        McRank().fit(data.X, np.arange(data.n_documents), group=data.sizes)


# ---- the linear start -----------------------------------------------------------------------------------------------


def weighed(link, n_labels=4):
    """Return rows of some labels with weights, a score that tells about them, and the loss."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, n_labels, 90).astype(float)
    data = ar.Dataset(np.eye(90)[:, :2], y, group=[40, 50], sample_weight=rng.random(90) + 0.1)
    return 30.0 + 4.0 * y + 6.0 * rng.standard_normal(90), data, LabelChances(np.unique(y), data, "linear", link)


@pytest.mark.parametrize("n_labels", [2, 4])
@pytest.mark.parametrize("link", LINKS)
def test_lines_make_the_labels_most_likely(link, n_labels):
    scores, data, loss = weighed(link, n_labels)
    standard = (scores - np.average(scores, weights=data.sample_weight)) / 5.0

    def value(lines):
        return loss.value(np.outer(standard, lines[: loss.n_outputs]) + lines[loss.n_outputs :])

    slope, constant = loss.lines(scores)
    best = minimize(value, np.zeros(2 * loss.n_outputs), tol=1e-10).fun
    assert loss.value(np.outer(scores, slope) + constant) == pytest.approx(best, rel=1e-4)


@pytest.mark.parametrize("link", LINKS)
def test_second_derivatives_of_lines(link):
    scores, data, loss = weighed(link)
    weight, which = data.sample_weight, data.y.astype(int)
    basis, rng = np.stack((np.ones(90), (scores - 30.0) / 10.0)), np.random.default_rng(2)
    lines = rng.standard_normal((2, loss.n_outputs))

    def gradient(at):
        return (basis @ (weight[:, None] * slopes(basis.T @ at.reshape(2, -1), which, link)[0])).ravel()

    found = hessian(basis, basis.T @ lines, weight, link)
    for place, step in enumerate(1e-5 * np.eye(lines.size)):
        rise = (gradient(lines.ravel() + step) - gradient(lines.ravel() - step)) / 2e-5
        np.testing.assert_allclose(found[place], rise, atol=1e-7)


@pytest.mark.parametrize("link", LINKS)
def test_labels_that_the_score_tells_apart_have_finite_lines(link):
    data = ar.Dataset(np.eye(40)[:, :2], np.repeat([0, 1, 2, 3], 10), group=[40])
    loss = LabelChances(np.arange(4.0), data, "linear", link)
    slope, constant = loss.lines(np.arange(40.0))
    assert np.abs([slope, constant]).max() < 1e3
    chances = probabilities(np.outer(np.arange(40.0), slope) + constant, link)
    np.testing.assert_array_equal(chances.argmax(axis=1), data.y)


@pytest.mark.parametrize("link", LINKS)
def test_the_start_ranks_as_the_regression_does(link):
    data = ar.make_ranking(40, 20, 5, grades=4, noise=0.3, random_state=1)
    start = McRank(link=link, start="linear", n_trees=1, learning_rate=1e-12).fit(data)
    w = ar.make_ranker("regression", ridge=100.0).fit(data).coef_
    assert np.corrcoef(start.model_.weights, w)[0, 1] == pytest.approx(1.0)
    np.testing.assert_array_equal(np.argsort(start.predict(data)), np.argsort(data.X @ w))
    sums = start.model_.sums(data.X)  # where lines are the most likely, chances add up to the number of documents
    if link == "multi-class":
        found, counts = probabilities(sums, link), data.y[:, None] == np.arange(4)
    else:
        found, counts = 1 / (1 + np.exp(-sums)), data.y[:, None] <= np.arange(3)
    np.testing.assert_allclose(found.sum(axis=0), counts.sum(axis=0), atol=20 * RIDGE)  # constants are below 20


@pytest.mark.parametrize("link", LINKS)
def test_a_model_with_a_start_is_the_sum_by_hand(data, link, tmp_path):
    ranker = McRank(link=link, start="linear", n_trees=8, n_seeds=2, gain="exp2", normalise="standard").fit(data)
    model = ranker.model_
    X = model.normaliser.apply(data.X, data.indptr, None, np.float32).astype(np.float64)
    sums = np.outer(X @ model.weights, model.slopes)
    for number, tree in enumerate(model.trees):
        sums[:, number % model.n_outputs] += tree.value[tree.leaves(X.T)]
    chances = probabilities(sums, link)
    np.testing.assert_allclose(ranker.predict_probabilities(data), chances, atol=1e-12)
    np.testing.assert_allclose(ranker.predict(data), chances @ (2**ranker.labels_ - 1), atol=1e-12)
    assert ranker.objective_ == pytest.approx(log_loss(sums, data.y.astype(int), link, np.ones(len(X))), rel=1e-9)
    ranker.save(tmp_path / "model.json")
    assert ar.load_model(tmp_path / "model.json").predict(data).tobytes() == ranker.predict(data).tobytes()
    with pytest.raises(ModelError, match="no linear part"):
        model.to_lightgbm()


@pytest.mark.parametrize("link", LINKS)
def test_a_start_is_part_of_early_stopping(data, link):
    train, test = data.split(0.6, 0.4)
    ranker = McRank(link=link, start="linear", n_trees=60, learning_rate=0.4, early_stopping=5)
    ranker.fit(train, eval_set=test)
    assert ranker.score(test) == max(ranker.trace_["validation"])
    assert len(ranker.model_.trees) == ranker.model_.n_outputs * ranker.n_iter_
    held_out = ranker.fit(train).score(test)
    assert held_out > 0.5


@pytest.mark.filterwarnings("ignore:.*nothing to learn")
def test_there_is_no_start_where_values_are_missing_or_labels_equal(data):
    X = data.X.copy()
    X[0, 0] = np.nan
    plain, missing = (McRank(start=start, n_trees=3).fit(X, data.y, group=data.sizes) for start in (None, "linear"))
    assert missing.model_.weights is None
    assert missing.predict(X).tobytes() == plain.predict(X).tobytes()
    with pytest.warns(ArgrankWarning, match="no tree found a split"):
        alone = McRank(start="linear").fit(np.eye(3), [2, 2, 2], qid=[1, 1, 1])
    assert alone.model_.weights is None


def test_a_score_of_probabilities_has_no_direction_to_hold(data):
    with pytest.raises(OptionError, match="monotone"):
        McRank(monotone={0: 1}).fit(data)
