"""LogRank's rankers: objective_ as the paper scales it, true gaps, several measures, the sample's memory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

import argrank as ar
from argrank.errors import OptionError
from argrank.rankers.cheap_models import feature_spreads, rank_svm_weights

NAMES = ["log-mle", "log-gain", "log-loss", "log-combined", "log-convex"]
MEASURES = ["auc", "map", "ndcg@10", "mrr@10", "err@10"]


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(20, 12, 4, random_state=5)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("measure", MEASURES)
def test_the_objective_is_w_squared_over_2c_plus_the_risk(data, name, measure):
    C, trained = 30.0, {} if name == "log-mle" else {"measure": measure}
    ranker = ar.make_ranker(name, C=C, n_jobs=1, **trained).fit(data)
    value, gradient = ranker.risk(data).value_and_gradient(ranker.coef_)
    w = ranker.coef_
    assert ranker.objective_ == pytest.approx(w @ w / (2 * C) + value, rel=1e-12)
    slope = w / C + gradient
    assert C / 2 * slope @ slope <= 1e-3 * abs(ranker.objective_)
    if name in ("log-mle", "log-convex"):
        assert ranker.gap_ == pytest.approx(C / 2 * slope @ slope, rel=1e-6)
    else:
        assert np.isnan(ranker.gap_)


@pytest.mark.parametrize("name", NAMES[1:])
def test_by_default_the_model_stays_near_rank_svm(data, name):
    ranker = ar.make_ranker(name, tol=1e-9).fit(data)
    start = rank_svm_weights(data, 1)
    scores, within = data.X @ start, np.repeat(np.arange(data.n_queries), data.sizes)
    means = np.bincount(within, scores) / data.sizes
    value, gradient = ranker.risk(data).value_and_gradient(start)
    assert pytest.approx(0.03 * np.mean((scores - means[within]) ** 2) / value, rel=1e-9) == ranker.C_
    units = feature_spreads(data, 1)
    after, slope = ranker.risk(data).value_and_gradient(ranker.coef_)
    away = units * (ranker.coef_ - start)
    assert ranker.objective_ == pytest.approx(away @ away / (2 * ranker.C_) + after, rel=1e-12)
    assert 0 < np.linalg.norm(away) < np.linalg.norm(units * start)
    assert after < value
    assert np.linalg.norm(away / ranker.C_ + slope / units) < 0.3 * np.linalg.norm(gradient / units)
    distance = np.linalg.norm(away) / np.linalg.norm(units * start)
    assert ranker.stayed_ == ("RankSVM", pytest.approx(distance, rel=1e-9), "", None, None)
    assert f"stayed near RankSVM: its weights are {100 * distance:.2g} %" in ranker.summary()
    assert ar.make_ranker(name, C=1.0).fit(data).stayed_ is None


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_the_likelihood_is_the_papers_by_default_on_features_of_any_scale(data, scale):
    """Around 0 and not around another method, minimised to the end: SciPy finds no lower objective."""
    X = data.X * np.array([scale, 1.0, 1.0 / scale, 1.0])
    scaled = ar.Dataset(X, data.y, group=data.sizes)
    ranker = ar.make_ranker("log-mle").fit(scaled)
    risk, units = ranker.risk(scaled), feature_spreads(scaled, 1)

    def objective(v):
        value, gradient = risk.value_and_gradient(v / units)
        return v @ v / (2 * ranker.C_) + value, v / ranker.C_ + gradient / units

    truth = minimize(objective, np.zeros(4), jac=True, method="BFGS", options={"gtol": 1e-10})
    assert (ranker.C_, ranker.stayed_) == (10.0, None)
    assert ranker.objective_ == pytest.approx(truth.fun, rel=1e-8)
    np.testing.assert_allclose(units * ranker.coef_, truth.x, rtol=0, atol=1e-3 * np.linalg.norm(truth.x))
    np.testing.assert_allclose(ranker.predict(scaled), ar.make_ranker("log-mle").fit(data).predict(data), atol=1e-3)


def test_spreads_of_features_are_those_around_the_means_of_queries(data):
    weight = np.random.default_rng(0).integers(1, 4, data.n_queries)
    X = data.X * (np.abs(data.X) > 0.5)
    X[:, 1] = 0.1 * np.repeat(np.arange(data.n_queries), data.sizes)  # constant within queries
    weighted = [
        ar.Dataset(kind(X), data.y, group=data.sizes, query_weight=weight) for kind in (np.asarray, sparse.csr_matrix)
    ]
    parts = np.split(X, np.cumsum(data.sizes)[:-1])
    repeated = [part - part.mean(axis=0) for part, n in zip(parts, weight, strict=True) for _ in range(n)]
    expected = np.sqrt((np.vstack(repeated) ** 2).mean(axis=0))
    expected[1] = 0.0
    for one in weighted:
        np.testing.assert_allclose(feature_spreads(one, 1), expected, rtol=1e-12)
        assert feature_spreads(one, 1)[1] == 0


def test_mle_is_what_convex_loss_for_auc_tends_to(data):
    """The margin rho / pairs vanishes with rho."""
    one = ar.make_ranker("log-mle", C=1.0, tol=1e-12).fit(data).coef_
    other = ar.make_ranker("log-convex", C=1.0, measure="AUC(graded=True)", rho=1e-9, tol=1e-12).fit(data).coef_
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)


def test_several_measures_train_together_and_the_first_is_reported(data):
    ranker = ar.make_ranker("log-convex", measure=["map", "ndcg@5"], weights=[1.0, 3.0]).fit(data)
    assert ranker.score(data) == ar.evaluate(ranker.predict(data), data, "map").means["map"]
    alone = ar.make_ranker("log-convex", measure="map").fit(data)
    assert np.abs(ranker.coef_ - alone.coef_).max() > 1e-6
    with pytest.raises(OptionError, match="2 numbers from 0 up"):
        ar.make_ranker("log-convex", measure=["map", "ndcg@5"], weights=[1.0]).fit(data)


def test_rho_lets_the_loss_be_heard(data):
    """Unscaled phi is far larger than a loss of at most 1 (Figure 8); a tiny rho leaves L1 of the sample."""
    fits = {rho: ar.make_ranker("log-convex", rho=rho, tol=1e-9).fit(data).coef_ for rho in (1e-6, 1.0, 30.0)}
    assert np.linalg.norm(fits[30.0] - fits[1e-6]) > 3 * np.linalg.norm(fits[1.0] - fits[1e-6]) > 0


def test_the_samples_memory_is_reported(data):
    ranker = ar.make_ranker("log-convex", n_samples=30).fit(data)
    assert ranker.sample_sizes_.shape == (data.n_queries,)
    assert (ranker.sample_sizes_ <= 31).all()
    assert 40 * ranker.sample_sizes_.sum() < ranker.sample_bytes_ < 120 * ranker.sample_sizes_.sum()
    assert ar.make_ranker("log-convex", measure="auc").fit(data).sample_bytes_ == 0


def test_another_seed_is_another_sample(data):
    one, again, other = (ar.make_ranker("log-convex", random_state=seed).fit(data).coef_ for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, again)
    assert np.abs(one - other).max() > 0
