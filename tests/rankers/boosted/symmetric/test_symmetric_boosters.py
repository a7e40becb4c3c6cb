"""The numbers of categories against loops over rows, and settled leaves against least squares."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import argrank as ar
from argrank.models.symmetric import MOST_CODES
from argrank.rankers.boosted.symmetric.symmetric_boosters import FOLDS, PRIOR, Encoded


def pairs_of_rows(seed, n_queries=60, size=6):
    """Every category has two rows; gradients are the labels' distances from the mean of their query."""
    rng = np.random.default_rng(seed)
    n = n_queries * size
    X = rng.permutation(np.repeat(np.arange(n // 2), 2)).astype(float)[:, None]
    y = rng.integers(0, 2, (n_queries, size))
    return ar.Dataset(X, y.ravel(), group=[size] * n_queries), (y.mean(axis=1, keepdims=True) - y).ravel()


def test_the_number_of_a_training_row_is_that_of_the_other_folds():
    data, gradient = pairs_of_rows(0)
    curvature = np.random.default_rng(1).uniform(0.5, 2.0, data.n_documents)
    found = Encoded.of(data, [0], gradient, curvature, np.ones(data.n_documents))
    fold, prior = np.repeat(np.arange(data.n_queries) % FOLDS, data.sizes), PRIOR * curvature.mean()
    for row, code in enumerate(data.X[:, 0]):
        same = data.X[:, 0] == code
        for number, own in ((found.codes[0][int(code)], same), (found.numbers[0][row], same & (fold != fold[row]))):
            expected = -gradient[own].sum() / (curvature[own].sum() + prior) if own.any() else np.nan
            np.testing.assert_allclose(number, expected, atol=1e-15)


def test_labels_of_the_own_query_do_not_change_a_bit_of_a_number():
    data, gradient = pairs_of_rows(0)
    ones = np.ones(data.n_documents)
    before = Encoded.of(data, [0], gradient, ones, ones).numbers[0]
    for query in range(data.n_queries):
        own = slice(data.indptr[query], data.indptr[query + 1])
        changed = gradient.copy()
        changed[own] = np.random.default_rng(query).normal(size=6)
        assert Encoded.of(data, [0], changed, ones, ones).numbers[0][own].tobytes() == before[own].tobytes()


def test_a_row_of_weight_two_is_two_rows_and_one_of_weight_zero_is_none():
    rng = np.random.default_rng(2)
    weight = rng.integers(0, 3, 300).astype(float)
    weight[::10] = 1
    X, gradient, twice = (
        rng.integers(0, 80, (300, 1)) * 1.0,
        rng.normal(size=300),
        np.repeat(np.arange(300), weight.astype(int)),
    )
    whole = ar.Dataset(X, np.ones(300), group=[10] * 30)
    repeated = ar.Dataset(X[twice], np.ones(len(twice)), qid=whole.qid[twice])
    ones = np.ones(len(twice))
    weighed = Encoded.of(whole, [0], weight * gradient, weight, weight)
    expected = Encoded.of(repeated, [0], gradient[twice], ones, ones)
    n_codes = len(expected.codes[0])
    np.testing.assert_allclose(weighed.codes[0][:n_codes], expected.codes[0], atol=1e-15)
    assert np.isnan(weighed.codes[0][n_codes:]).all()
    np.testing.assert_allclose(weighed.numbers[0][twice], expected.numbers[0], atol=1e-15)


def test_a_large_code_takes_the_memory_of_its_table_alone():
    X, ones = np.array([[0.0], [MOST_CODES - 1.0], [np.nan], [-3.0]] * 10), np.ones(40)
    data = ar.Dataset(X, np.tile([0.0, 1.0], 20), group=[4] * 10)
    tracemalloc.start()
    try:
        found = Encoded.of(data, [0], data.y - 0.5, ones, ones)
        assert tracemalloc.get_traced_memory()[1] < 1.1 * found.codes[0].nbytes
    finally:
        tracemalloc.stop()
    assert np.flatnonzero(np.isfinite(found.codes[0])).tolist() == [0, MOST_CODES - 1]
    assert np.isfinite(found.numbers[0]).tolist() == [True, True, False, False] * 10


def grown(n_trees=12, **parameters):
    """Boosters on differences within queries, with a further part, and the targets of the training rows."""
    train, part = ar.make_ranking(50, 30, 4, truth="nonlinear", random_state=5).split(0.7, 0.3)
    ranker = ar.make_ranker("symmetric-mart", n_trees=n_trees, depth=3, start=None, n_jobs=1, verbose=-1, **parameters)
    boosters, loss, _, _ = ranker.boosters(train, [part])
    for _ in range(n_trees):
        boosters.grow()
    return boosters, loss, train, part


def within_queries(columns, data):
    means = np.add.reduceat(columns, data.indptr[:-1]) / data.sizes.reshape(-1, *[1] * (columns.ndim - 1))
    return columns - np.repeat(means, data.sizes, axis=0)


def test_settled_values_are_those_of_least_squares_over_all_leaves():
    boosters, loss, train, _ = grown()
    model = boosters.model(boosters.sizes, 0.0)
    columns = []
    for number in range(len(model.values)):  # the indicator of every leaf, found by a model of this leaf alone
        for leaf in range(model.values.shape[1]):
            values = np.zeros_like(model.values)
            values[number, leaf] = 1.0
            columns.append(replace(model, values=values).scores(train.X))
    design = within_queries(np.stack(columns, axis=1), train)
    target = within_queries(train.y.astype(float), train)
    best = np.linalg.lstsq(design, target, rcond=None)[0]
    least = 0.5 * ((design @ best - target) ** 2).sum()
    before = loss.value(boosters.training_scores())
    boosters.settle(1000, 1e-9)
    found = loss.value(boosters.training_scores())
    assert -1e-9 < found - least < 1e-6 * (before - least)


@pytest.mark.parametrize("pull", [0.1, 10.0])
def test_every_pass_lowers_the_loss_with_the_penalty_on_moves(pull):
    values = []
    for passes in range(5):
        boosters, loss, _, _ = grown(n_seeds=2)
        before = boosters._forests
        boosters.settle(passes, pull)
        total = 0.0
        for old, new in zip(before, boosters._forests, strict=True):
            moves = sum(((b.values - a.values) ** 2).sum() for a, b in zip(old.trees, new.trees, strict=True))
            total += loss.value(new.scores[0][:, None]) + 0.5 * pull * moves
        values.append(total)
    assert (np.diff(values) < 0).all()


def test_scores_after_settling_are_those_of_the_model():
    boosters, _, train, part = grown(n_seeds=2)
    before = boosters.training_scores()
    boosters.settle(2, 1.0)
    model = boosters.model(boosters.sizes, 0.0)
    for data, scores in zip((train, part), (boosters.training_scores(), *boosters.scores()), strict=True):
        np.testing.assert_allclose(model.scores(data.X), scores[:, 0], rtol=0, atol=1e-12)
    assert np.abs(boosters.training_scores() - before).max() > 0.01
