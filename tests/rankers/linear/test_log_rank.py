"""LogRank's rankers: objective_ as the paper scales it, true gaps, several measures, the sample's memory."""

from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.errors import OptionError

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


def test_mle_is_what_convex_loss_for_auc_tends_to(data):
    """The margin rho / pairs vanishes with rho."""
    one = ar.make_ranker("log-mle", tol=1e-12).fit(data).coef_
    other = ar.make_ranker("log-convex", measure="AUC(graded=True)", rho=1e-9, tol=1e-12).fit(data).coef_
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)


def test_several_measures_train_together_and_the_first_is_reported(data):
    ranker = ar.make_ranker("log-convex", measure=["map", "ndcg@5"], weights=[1.0, 3.0]).fit(data)
    assert ranker.score(data) == ar.evaluate(ranker.predict(data), data, "map").means["map"]
    alone = ar.make_ranker("log-convex", measure="map").fit(data)
    assert np.abs(ranker.coef_ - alone.coef_).max() > 1e-6
    with pytest.raises(OptionError, match="2 numbers from 0 up"):
        ar.make_ranker("log-convex", measure=["map", "ndcg@5"], weights=[1.0]).fit(data)


def test_rho_lets_the_loss_be_heard(data):
    """Unscaled phi drowns a loss of at most 1 (Figure 8); a tiny rho leaves L1 of the sample."""
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
