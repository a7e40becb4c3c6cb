"""ListNet, RankCosine, LambdaRank, AdaRank, RankBoost: against published rows, another implementation, definitions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

import argrank as ar
from argrank.errors import ArgrankWarning, InputError, OptionError
from argrank.models.stumps import StumpsModel
from argrank.rankers.trace import Watcher
from argrank.trials.config import read_config

EXPERIMENT = Path(__file__).resolve().parents[2] / "experiments" / "letor" / "rivals.toml"


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(25, (4, 20), 5, random_state=2)


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("adarank-map", "rankboost")]


@pytest.mark.parametrize("name", ["listnet", "rank-svm, plain hinge", *SLOW])
def test_published_rows_of_letor_3(real_data, tmp_path, monkeypatch, name):
    monkeypatch.setenv("ARGRANK_DATA", str(real_data))
    config = read_config(EXPERIMENT)
    rankers = tuple(ranker for ranker in config.rankers if ranker.name == name)
    expected = tuple(row for row in config.expected if row.ranker == name)
    results = ar.run_experiment(replace(config, rankers=rankers, expected=expected), tmp_path, n_jobs=1, progress=False)
    assert {check.expected.ranker for check in results.checks} == {name}
    assert results.failures == []


def test_listnet_minimises_the_cross_entropy_of_top_one_probabilities(data):
    def total(w):
        value = 0.0
        for query in range(data.n_queries):
            rows = slice(data.indptr[query], data.indptr[query + 1])
            wanted, got = softmax(data.y[rows]), softmax(data.X[rows] @ w)
            value += wanted @ np.log(wanted / got) / data.n_queries
        return value + w @ w / (2 * 0.5)

    ranker = ar.make_ranker("listnet", C=0.5, tol=1e-10).fit(data)
    assert ranker.objective_ == pytest.approx(total(ranker.coef_), rel=1e-10)
    assert minimize(total, ranker.coef_).fun >= ranker.objective_ * (1 - 1e-8)


def test_rank_cosine_is_half_one_minus_the_cosine_times_a_constant_of_the_query():
    rng = np.random.default_rng(0)
    labels, scores = np.array([2.0, 0.0, 1.0, 0.0]), 1e6 * rng.standard_normal(4)
    gains = 2**labels - 1
    best = (np.sort(gains)[::-1] / np.log2(np.arange(2, 6))).sum()
    centred, of_scores = gains - gains.mean(), scores - scores.mean()
    cosine = centred @ of_scores / np.linalg.norm(centred) / np.linalg.norm(of_scores)
    value, _ = ar.objective("rank-cosine")(scores, ar.Dataset(np.eye(4), labels, group=[4]))
    assert value == pytest.approx(np.linalg.norm(centred) / best * (1 - cosine) / 2, rel=1e-9)


def lambdas(scores, labels, k):
    """Return LambdaRank's gradients and curvatures from the definition."""
    gains = 2.0**labels - 1
    order = np.argsort(-scores, kind="stable")
    discount = np.zeros(len(scores))
    discount[order[:k]] = 1 / np.log2(np.arange(2, min(k, len(scores)) + 2))
    best = (np.sort(gains)[::-1][:k] / np.log2(np.arange(2, min(k, len(gains)) + 2))).sum()
    slope, curvature = np.zeros(len(scores)), np.zeros(len(scores))
    for i in range(len(scores)):
        for j in range(len(scores)):
            if labels[i] > labels[j]:
                change = abs((gains[i] - gains[j]) * (discount[i] - discount[j])) / best
                chance = 1 / (1 + np.exp(scores[i] - scores[j]))
                slope[i] -= change * chance
                slope[j] += change * chance
                curvature[[i, j]] += change * chance * (1 - chance)
    return slope, curvature


def test_lambdas_are_those_of_lightgbm():
    """LightGBM's leaves are -gradient / curvature of their documents at the given scores."""
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(1)
    n, k = 12, 5
    scores, labels = rng.standard_normal(n), rng.permutation([3, 2, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0]).astype(float)
    slope, _ = lambdas(scores, labels, k)
    _, gradient = ar.objective("lambdarank", k=k)(scores, ar.Dataset(np.eye(n), labels, group=[n]))
    np.testing.assert_allclose(gradient, slope, rtol=1e-10, atol=1e-14)
    settings = {
        "objective": "lambdarank", "lambdarank_norm": False, "lambdarank_truncation_level": n, "eval_at": [k],
        "num_leaves": n, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0, "learning_rate": 1.0, "lambda_l2": 0.0,
        "min_data_in_bin": 1, "verbose": -1, "num_threads": 1, "boost_from_average": False,
    }  # fmt: skip
    whole = lambdas(scores, labels, n)  # LightGBM's truncation is of the pairs, not of the discounts: none of either
    train = lightgbm.Dataset(np.arange(n)[:, None].astype(float), labels, group=[n], init_score=scores)
    booster = lightgbm.train(settings, train, num_boost_round=1)
    leaves = booster.predict(np.arange(n)[:, None].astype(float))
    leaf = booster.predict(np.arange(n)[:, None].astype(float), pred_leaf=True).reshape(-1)
    assert len(np.unique(leaf)) > n / 2
    slopes, curvatures = (np.bincount(leaf, weights=part) for part in whole)
    np.testing.assert_allclose(leaves, -(slopes / curvatures)[leaf], rtol=2e-3)
    _, unclipped = ar.objective("lambdarank", k=None)(scores, ar.Dataset(np.eye(n), labels, group=[n]))
    np.testing.assert_allclose(unclipped, whole[0], rtol=1e-10, atol=1e-14)


def test_an_interrupted_adarank_keeps_its_rounds(data, monkeypatch):
    expected, looked = ar.make_ranker("adarank", n_rounds=3).fit(data), Watcher.__call__

    def stop(self, *arguments):
        if len(self.trace) == 3:
            raise KeyboardInterrupt
        return looked(self, *arguments)

    monkeypatch.setattr(Watcher, "__call__", stop)
    with pytest.warns(ArgrankWarning, match="the 3 earlier rounds were kept"):
        ranker = ar.make_ranker("adarank", n_rounds=9).fit(data)
    np.testing.assert_array_equal(ranker.coef_, expected.coef_)
    assert (ranker.objective_, ranker.n_iter_) == (expected.objective_, 3)


def test_adarank_follows_its_definition(data):
    """Two rounds by hand."""
    ranker = ar.make_ranker("adarank", measure="map", n_rounds=2).fit(data)

    def per_query(scores):
        values = ar.evaluate(scores, data, "map").values["map"]
        return np.where(np.isfinite(values), values, 0.0), np.isfinite(values)

    signed = [(j, sign) for sign in (1.0, -1.0) for j in range(data.n_features)]
    weak = [per_query(sign * data.X[:, j])[0] for j, sign in signed]
    counted = per_query(data.X[:, 0])[1]
    chances, weights, before = counted / counted.sum(), np.zeros(data.n_features), None
    for _ in range(2):
        means = [-1.0 if number == before else chances @ values for number, values in enumerate(weak)]
        before = int(np.argmax(means))
        j, sign = signed[before]
        weights[j] += sign * 0.5 * np.log((1 + means[before]) / (1 - means[before]))
        left = counted * np.exp(-per_query(data.X @ weights)[0])
        chances = left / left.sum()
    np.testing.assert_allclose(ranker.coef_, weights, rtol=1e-12)
    assert ranker.objective_ == pytest.approx(left.sum() / counted.sum(), rel=1e-12)
    assert ranker.trace_["objective"][-1] == ranker.objective_


def test_rankboost_follows_its_definition_pair_by_pair(data):
    """Three rounds with an explicit weight for every pair and every threshold of every feature."""
    data = data.select(np.arange(15))  # no feature has more values than there are thresholds
    y, X = data.y, data.X
    query = data.query_of_row
    pairs = [(i, j) for i in range(len(y)) for j in range(len(y)) if query[i] == query[j] and y[i] > y[j]]
    better, worse = np.array(pairs).T
    weight, scores = np.full(len(pairs), 1 / len(pairs)), np.zeros(len(y))
    values = [np.unique(X[:, j]) for j in range(X.shape[1])]
    assert max(map(len, values)) <= 256
    for rounds in (1, 2, 3):
        best = (0.0, 0, 0.0)
        for j in range(X.shape[1]):
            for threshold in values[j][:-1]:
                above = X[:, j] > threshold
                margin = weight @ (above[better].astype(float) - above[worse])
                if abs(margin) > abs(best[0]) + 1e-14:
                    best = (margin, j, threshold)
        step = 0.5 * np.log((1 + best[0]) / (1 - best[0]))
        scores += step * (X[:, best[1]] > best[2])
        weight = np.exp(scores[worse] - scores[better])
        ranker = ar.make_ranker("rankboost", n_rounds=rounds).fit(data)
        assert ranker.objective_ == pytest.approx(weight.mean(), rel=1e-9)
        np.testing.assert_allclose(ranker.predict(data), scores, atol=1e-9)
        weight /= weight.sum()
    assert (np.diff(ranker.trace_["objective"]) < 0).all()


def test_rankboost_with_many_values_takes_quantiles():
    big = ar.make_ranking(40, 30, 2, random_state=4)
    ranker = ar.make_ranker("rankboost", n_rounds=30).fit(big)
    assert isinstance(ranker.model_, StumpsModel)
    assert ranker.objective_ < 0.8
    assert not hasattr(ranker, "coef_")


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("adarank", {"n_rounds": 0}, "n_rounds: expected"),
        ("rankboost", {"n_rounds": 1.5}, "n_rounds: expected"),
        ("lambdarank", {"learning_rate": 0.0}, "learning_rate: expected"),
        ("lambdarank", {"k": 0}, "k: expected a whole number from 1 up"),
        ("listnet", {"C": -1.0}, "C: expected"),
        ("listnet", {"gain": "cubic"}, "unknown gain"),
    ],
)
def test_unusable_parameters_are_refused(data, name, parameters, message):
    with pytest.raises(OptionError, match=message):
        ar.make_ranker(name, **parameters).fit(data)


def test_lambdarank_stands_features_of_tiny_spread(data):
    """Steps are measured in features of unit spread: shrinking along a tiny one must not overshoot."""
    tiny = data.with_features(data.X * [1.0, 1e-6, 1.0, 1e-3, 1.0])
    with pytest.warns(ArgrankWarning, match="differ greatly"):
        ranker = ar.make_ranker("lambdarank").fit(tiny)
    assert np.isfinite(ranker.coef_).all()
    without = ar.make_ranker("lambdarank").fit(data.with_features(data.X * [1.0, 0.0, 1.0, 0.0, 1.0]))
    assert ranker.score(tiny) >= without.score(data) - 0.01


def test_weights_that_overflow_are_told_with_what_helps(data):
    risk = ar.make_ranker("lambdarank").fit(data).risk(data)
    with pytest.raises(InputError, match=r"overflow.*normalise='standard'.*learning_rate"), np.errstate(all="ignore"):
        risk.value_and_gradient(np.full(5, 1e308))
