"""The numbers of categories against loops over rows: whose labels they depend on, and what weights do."""

from __future__ import annotations

import tracemalloc

import numpy as np

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
