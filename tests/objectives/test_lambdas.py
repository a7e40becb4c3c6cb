"""LambdaRank's gradients: against swaps that ``evaluate`` values, all orders of ties, and LightGBM's own."""

from __future__ import annotations

import itertools

import lightgbm as lgb
import numpy as np
import pytest

import argrank as ar
from argrank.errors import InputError, OptionError
from argrank.objectives.lambdas import Lambdas, lambda_gradients
from argrank.rankers.boosted.trees._weak_learners import Growth
from argrank.rankers.boosted.trees.direct_rank_trees import DirectRankTrees

QUIET = {"verbosity": -1, "num_threads": 1}


def one_query(labels):
    return ar.Dataset(np.ones((len(labels), 1)), labels, group=[len(labels)])


def by_swapping(scores, labels, measure, truncation, sigmoid, weight=None):
    """Add up the pairs one by one; what a swap changes is asked of ``evaluate``."""
    weight = np.ones(len(labels)) if weight is None else weight
    data = one_query(labels)
    value = ar.evaluate(scores, data, measure).means[measure]
    ranking = np.argsort(-scores)
    binary = not measure.startswith(("ndcg", "dcg", "err"))
    gradient, hessian = np.zeros(len(scores)), np.zeros(len(scores))
    for i, j in itertools.combinations(range(len(scores)), 2):
        first, second = ranking[i], ranking[j]
        grades = (labels > 0).astype(float) if binary else labels
        if i >= truncation or grades[first] == grades[second]:
            continue
        swapped = scores.copy()
        swapped[[first, second]] = scores[[second, first]]
        delta = abs(ar.evaluate(swapped, data, measure).means[measure] - value) * weight[first] * weight[second]
        good, bad = (first, second) if labels[first] > labels[second] else (second, first)
        rho = 1 / (1 + np.exp(sigmoid * (scores[good] - scores[bad])))
        gradient[good] -= sigmoid * rho * delta
        gradient[bad] += sigmoid * rho * delta
        hessian[[good, bad]] += sigmoid**2 * rho * (1 - rho) * delta
    return gradient, hessian


@pytest.mark.parametrize("measure", ["ndcg", "dcg", "map", "map@4", "mrr", "mrr@3", "err", "err@4"])
def test_pairs_count_what_their_swap_changes(measure):
    rng = np.random.default_rng(1)
    for n in (2, 3, 5, 9):
        for truncation in (2, 30):
            if measure == "ndcg" and truncation < n:
                continue  # the ideal is cut at the truncation, as LightGBM does; evaluate would not
            labels = rng.integers(0, 4, n).astype(float)
            if not labels.any():
                labels[0] = 1.0
            scores = rng.permutation(n) + rng.random(n)
            prepared = Lambdas(measure, truncation, 1.5, False).prepare(one_query(labels))
            for got, expected in zip(
                prepared(scores), by_swapping(scores, labels, measure, truncation, 1.5), strict=True
            ):
                np.testing.assert_allclose(got, expected, atol=1e-12)


@pytest.mark.parametrize("measure", ["ndcg", "map", "mrr", "err"])
def test_pairs_weigh_the_product_of_their_rows(measure):
    rng = np.random.default_rng(5)
    labels, scores = np.array([0.0, 2, 1, 0, 3, 1, 0]), rng.permutation(7) + rng.random(7)
    weight = rng.integers(1, 5, 7) / 2
    data = ar.Dataset(np.ones((7, 1)), labels, group=[7], sample_weight=weight)
    expected = by_swapping(scores, labels, measure, 30, 1.0, weight / weight.mean())
    for got, one in zip(Lambdas(measure, 30, 1.0, False).prepare(data)(scores), expected, strict=True):
        np.testing.assert_allclose(got, one, atol=1e-12)
    twice = ar.Dataset(np.ones((7, 1)), labels, group=[7], sample_weight=np.full(7, 2.0))
    plain = Lambdas(measure, 30).prepare(one_query(labels))(scores)
    for got, one in zip(Lambdas(measure, 30).prepare(twice)(scores), plain, strict=True):
        assert got.tobytes() == one.tobytes()


@pytest.mark.parametrize("truncation", [1, 3, 30])
def test_equal_scores_count_as_the_mean_over_their_orders(truncation):
    rng = np.random.default_rng(2)
    labels = np.array([0.0, 2.0, 1.0, 0.0, 3.0, 1.0])
    prepared = Lambdas("ndcg@10", truncation, 1.0, False).prepare(one_query(labels))
    for scores in (np.zeros(6), np.array([1.0, 1.0, 1.0, 0.0, 0.0, 2.0])):
        orders = list(itertools.permutations(range(6)))
        apart = [prepared(scores + 1e-9 * np.array(order)) for order in orders]
        for got, expected in zip(prepared(scores), np.mean(apart, axis=0), strict=True):
            np.testing.assert_allclose(got, expected, atol=1e-7)
    shuffled = rng.permutation(6)
    again = Lambdas("ndcg@10", truncation).prepare(one_query(labels[shuffled]))(np.zeros(6))
    plain = Lambdas("ndcg@10", truncation).prepare(one_query(labels))(np.zeros(6))
    np.testing.assert_allclose(again[0], plain[0][shuffled], atol=1e-15)


@pytest.mark.parametrize("norm", [True, False])
def test_a_tree_is_that_of_lightgbms_lambdarank(norm):
    data = ar.make_ranking(60, (10, 60), 8, truth="nonlinear", random_state=3)
    scores = np.random.default_rng(0).standard_normal(data.n_documents)
    train = lgb.Dataset(data.X, data.y, group=data.sizes, init_score=scores, params=QUIET)
    parameters = {"objective": "lambdarank", "learning_rate": 1.0, "lambdarank_norm": norm, **QUIET}
    theirs = lgb.train(parameters, train, 1).predict(data.X)
    gradient, hessian = Lambdas("ndcg@10", normalised=norm).prepare(data)(scores)
    settings = DirectRankTrees(feature_fraction=1.0, extra_trees=False, n_jobs=1)
    grown = Growth(data, settings).next(gradient, hessian)
    np.testing.assert_allclose(grown.output, theirs, atol=2e-3)  # LightGBM looks the logistic function up in a table


def test_weights_of_queries_and_any_number_of_threads(monkeypatch):
    monkeypatch.setattr("argrank.data.grouping.BLOCK_ROWS", 50)
    plain = ar.make_ranking(20, (3, 30), 2, random_state=1)
    weight = np.arange(1.0, 21.0)
    data = ar.Dataset(plain.X, plain.y, group=plain.sizes, query_weight=weight)
    scores = np.round(np.random.default_rng(0).standard_normal(data.n_documents), 1)
    one, two = (Lambdas("map").prepare(data, n_jobs)(scores) for n_jobs in (1, 2))
    assert one[0].tobytes() == two[0].tobytes()
    bare = Lambdas("map").prepare(plain)(scores)
    share = np.repeat(weight * 20 / weight.sum(), plain.sizes)
    np.testing.assert_allclose(one[0], bare[0] * share)
    np.testing.assert_allclose(one[1], bare[1] * share)


@pytest.mark.parametrize("measure", ["ndcg@5", "map", "mrr@3", "err@4"])
def test_compiled_and_plain_agree(measure, monkeypatch):
    data = ar.make_ranking(5, (1, 12), 2, random_state=4)
    prepared = Lambdas(measure, 4).prepare(data)
    scores = np.round(np.random.default_rng(0).standard_normal(data.n_documents))
    compiled = prepared(scores)
    monkeypatch.setattr("argrank.objectives.lambdas.lambda_gradients", lambda_gradients.function)
    for got, expected in zip(prepared(scores), compiled, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-15)


def test_what_has_no_lambdas_is_refused():
    data = one_query(np.array([0.0, 1.0, 5.0]))
    for wrong in ({"measure": "auc"}, {"truncation": 0}, {"sigmoid": 0.0}, {"measure": "err@5"}):
        with pytest.raises((OptionError, InputError)):
            Lambdas(**wrong).prepare(data)
