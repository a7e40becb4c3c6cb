"""SoftRank: what it minimises, where it starts, what it reports."""

from __future__ import annotations

import numpy as np
import pytest

import argrank as ar


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(40, (20, 60), 5, random_state=2)


def test_the_objective_is_the_regularised_mean_of_what_expected_ndcg_lacks(data):
    ranker = ar.make_ranker("softrank", C=100.0, sigma=0.5, tol=1e-8).fit(data)
    value, gradient = ar.objective("softrank", sigma=0.5)(ranker.predict(data), data)
    w = ranker.coef_
    assert ranker.objective_ == pytest.approx(w @ w / 200.0 + value, rel=1e-12)
    slope = w / 100.0 + data.X.T @ gradient
    assert slope @ slope * 50.0 <= 1e-8 * ranker.objective_
    assert np.isnan(ranker.gap_)


def test_a_descent_starts_from_a_regression_since_equal_scores_have_no_slope():
    long = ar.make_ranking(10, 150, 5, random_state=2)
    nothing, slope = ar.objective("softrank")(np.zeros(long.n_documents), long)
    assert nothing > 0.9999
    assert np.abs(slope).max() < 1e-6
    ranker = ar.make_ranker("softrank", C=50.0, n_starts=1).fit(long)
    assert ar.objective("softrank")(ranker.predict(long), long)[0] < 0.6
    regression = ar.make_ranker("regression").fit(long).coef_
    for length in np.geomspace(1e-3, 1e3, 13):  # of the regression no length is better
        w = length * regression
        assert ranker.objective_ <= w @ w / 100.0 + ar.objective("softrank")(long.X @ w, long)[0]


def test_the_width_of_the_noise_is_the_scale_of_the_weights(data):
    one, two = (ar.make_ranker("softrank", sigma=s, C=200.0 * s**2, n_starts=1, tol=1e-9).fit(data) for s in (1.0, 2.0))
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-8)
    np.testing.assert_allclose(two.coef_, 2 * one.coef_, rtol=1e-3)


def test_any_product_is_optimised_and_reported(data):
    product = {"a": (3.0, 2.0, 1.0), "b": lambda y: np.asarray(y) > 2}
    ranker = ar.make_ranker("softrank", C=200.0, **product).fit(data)
    lacking, _ = ar.objective("softrank", sigma=1e-6, **product)(ranker.predict(data), data)
    relevant = np.minimum(np.add.reduceat(data.y > 2, data.indptr[:-1]), 3)
    assert ranker.score(data) == pytest.approx(np.array([0.0, 3.0, 5.0, 6.0])[relevant].mean() - lacking, rel=1e-9)
