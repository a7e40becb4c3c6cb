"""Regression: against scikit-learn and NumPy, and the identity of its objective."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

import argrank as ar
from argrank.errors import OptionError


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(40, (5, 20), 6, random_state=2)


def test_plain_least_squares_is_scikit_learns(data):
    ranker = ar.make_ranker("regression").fit(data)
    peer = LinearRegression().fit(data.X, data.y)
    np.testing.assert_allclose(ranker.coef_, peer.coef_, rtol=1e-9)
    assert ranker.intercept_ == pytest.approx(peer.intercept_, rel=1e-9)


@pytest.mark.parametrize("ridge", [0.1, 10.0, 1e4])
def test_ridge_is_scikit_learns(data, ridge):
    ranker = ar.make_ranker("regression", ridge=ridge).fit(data)
    peer = Ridge(alpha=ridge).fit(data.X, data.y)
    np.testing.assert_allclose(ranker.coef_, peer.coef_, rtol=1e-8)


def test_row_weights_are_scikit_learns(data):
    weight = np.random.default_rng(0).uniform(0, 2, data.n_documents)
    ranker = ar.make_ranker("regression").fit(data.X, data.y, group=data.sizes, sample_weight=weight)
    peer = LinearRegression().fit(data.X, data.y, sample_weight=weight)
    np.testing.assert_allclose(ranker.coef_, peer.coef_, rtol=1e-8)


def test_gains_are_fitted_when_asked(data):
    ranker = ar.make_ranker("regression", gain="exp2").fit(data)
    peer = LinearRegression().fit(data.X, 2**data.y - 1)
    np.testing.assert_allclose(ranker.coef_, peer.coef_, rtol=1e-9)
    table = ar.make_ranker("regression", gain=[0, 1, 3, 7, 15]).fit(data)
    np.testing.assert_allclose(table.coef_, peer.coef_, rtol=1e-9)


def test_the_shortest_weights_where_there_is_a_choice(data):
    X = np.column_stack([data.X, data.X[:, 0], np.ones(data.n_documents)])
    ranker = ar.make_ranker("regression").fit(X, data.y, group=data.sizes)
    centred = X - X.mean(axis=0)
    expected = np.linalg.pinv(centred) @ (data.y - data.y.mean())
    np.testing.assert_allclose(ranker.coef_, expected, rtol=1e-7, atol=1e-10)
    assert ranker.coef_[0] == pytest.approx(ranker.coef_[6])


def test_objective_and_risk_agree(data):
    ranker = ar.make_ranker("regression", ridge=3.0).fit(data)
    errors = data.X @ ranker.coef_ + ranker.intercept_ - data.y
    assert ranker.objective_ == pytest.approx(errors @ errors + 3.0 * ranker.coef_ @ ranker.coef_)
    value, gradient = ranker.risk(data).value_and_gradient(ranker.coef_)
    assert data.n_queries * value == pytest.approx(errors @ errors)
    np.testing.assert_allclose(data.n_queries * gradient + 6.0 * ranker.coef_, 0, atol=1e-8)


def test_a_negative_ridge_is_refused(data):
    with pytest.raises(OptionError, match="ridge"):
        ar.make_ranker("regression", ridge=-1.0).fit(data)
