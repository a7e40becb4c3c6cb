"""SmoothGrad as a ranker: annealing, start, both inner solvers."""

from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.errors import OptionError


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(60, (5, 25), 6, noise=0.7, random_state=4)


@pytest.mark.parametrize("solver", ["l-bfgs", "cg"])
def test_it_improves_on_the_regression_it_starts_from(data, solver):
    regression = ar.make_ranker("regression").fit(data)
    ranker = ar.make_ranker("smooth-grad", solver=solver, C=100.0, w0="regression").fit(data)
    assert ranker.score(data) > regression.score(data)
    risk = ranker.risk(data)
    start = risk.at_scores(risk.scores(regression.coef_))[0]
    assert ranker.objective_ < start  # at the start the regulariser is 0
    away = ranker.coef_ - regression.coef_
    value = risk.at_scores(risk.scores(ranker.coef_))[0] + away @ away / 200.0
    assert ranker.objective_ == pytest.approx(value, rel=1e-12)


def test_sigma_is_halved_from_the_spread_of_the_scores(data):
    ranker = ar.make_ranker("smooth-grad", halvings=3).fit(data)
    sigma = ranker.trace_["sigma"]
    assert ranker.sigma_ == sigma[-1]
    assert np.unique(sigma)[::-1] == pytest.approx(ranker.sigma_ * np.array([8.0, 4.0, 2.0, 1.0]))
    for one in np.unique(sigma):
        assert (np.diff(ranker.trace_["objective"][sigma == one]) <= 0).all()


def test_a_small_c_stays_at_w0(data):
    w0 = np.arange(6.0)
    ranker = ar.make_ranker("smooth-grad", w0=w0, C=1e-9).fit(data)
    np.testing.assert_allclose(ranker.coef_, w0, atol=1e-6)
    with pytest.raises(OptionError, match="6 finite weights"):
        ar.make_ranker("smooth-grad", w0=[1.0]).fit(data)
    with pytest.raises(OptionError, match="l-bfgs"):
        ar.make_ranker("smooth-grad", solver="bundle").fit(data)


def test_by_default_the_scale_of_the_features_has_no_say(data):
    options = {"halvings": 2, "w0": "regression"}  # RankSVM itself depends on it
    plain = ar.make_ranker("smooth-grad", **options).fit(data)
    wild = np.geomspace(1e-3, 1e4, data.n_features)
    scaled = ar.make_ranker("smooth-grad", **options).fit(data.with_features(data.X * wild))
    np.testing.assert_allclose(scaled.coef_ * wild, plain.coef_, rtol=1e-3, atol=1e-4 * np.abs(plain.coef_).max())
    assert pytest.approx(plain.C_, rel=1e-6) == scaled.C_
    assert scaled.objective_ == pytest.approx(plain.objective_, rel=1e-5)
