"""Weights of a blend against a general optimiser."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import argrank as ar
from argrank.trials.auto.blend import Likelihood, blend_weights, standardised


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(130, (1, 9), 4, grades=3, noise=1.0, random_state=3)


def by_hand(w, Z, data):
    """The objective, query by query."""
    total = 3.0 * ((w - w.mean()) ** 2).sum()
    for begin, end in zip(data.indptr[:-1], data.indptr[1:], strict=True):
        gains = 2.0 ** data.y[begin:end] - 1
        if gains.sum() > 0:
            scores = Z[begin:end] @ w
            total -= gains @ (scores - np.log(np.exp(scores).sum())) / gains.sum()
    return total


@pytest.mark.parametrize("seed", range(2))
def test_weights_are_the_least_of_the_objective(data, seed):
    rng = np.random.default_rng(seed)
    columns = [
        data.X[:, 0],
        -data.X[:, 1],
        rng.standard_normal(data.n_documents),
        data.y + rng.random(data.n_documents),
    ]
    Z, _ = standardised(columns, data)
    w = blend_weights(Z, data)
    assert (w >= 0).all()
    best = minimize(by_hand, np.ones(4), args=(Z, data), method="L-BFGS-B", bounds=[(0, None)] * 4, tol=1e-12)
    assert by_hand(w, Z, data) <= best.fun + 1e-7
    np.testing.assert_allclose(w, best.x, atol=1e-3)


def test_value_and_slopes(data):
    Z, _ = standardised([data.X[:, 0], data.X[:, 1]], data)
    problem, w = Likelihood.of(Z, data), np.array([0.4, 1.3])
    assert problem.value(w) == pytest.approx(by_hand(w, Z, data))
    gradient, hessian = problem.slopes(w)
    for i, step in enumerate(np.eye(2) * 1e-5):
        assert gradient[i] == pytest.approx((problem.value(w + step) - problem.value(w - step)) / 2e-5, rel=1e-5)
        rise = problem.slopes(w + step)[0] - problem.slopes(w - step)[0]
        np.testing.assert_allclose(hessian[i], rise / 2e-5, rtol=1e-5)


def test_members_that_say_nothing_get_equal_weights(data):
    Z, deviations = standardised([np.ones(data.n_documents), np.zeros(data.n_documents)], data)
    assert deviations.tolist() == [0.0, 0.0]
    assert blend_weights(Z, data).tolist() == [1.0, 1.0]
