"""The intervals argrank shows cover the truth, on populations of every usual measure."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.intervals import coverage, power, weights
from experiments.intervals.others import bca, betting, korn_graubard, studentised
from experiments.intervals.populations import populations
from scipy import stats

from argrank.evaluation.intervals import mean_intervals


@pytest.mark.parametrize(
    ("figure", "kind"),
    [("mean", mean_intervals), ("difference", coverage.of_differences)],
    ids=lambda one: str(one)[:10],
)
def test_intervals_cover_on_every_measure_and_segment(figure, kind):
    found = list(coverage.rows(populations(seed=1), {"now": kind}, figure))
    assert len(found) == 10 * len(coverage.SIZES)
    assert [row for row in found if row["coverage"] < 0.93] == []


@pytest.mark.slow
def test_intervals_of_tuned_weights_cover_and_are_as_wide_as_they_should_be():
    for row in weights.rows(100):
        assert row["coverage now"] >= 0.93
        assert 0.9 < row["width now"] < 1.2
        assert row["width before"] < 0.85 * row["width now"]


@pytest.mark.slow
def test_power_says_what_simulation_says():
    """Pilots of 200 queries promise a chance of .8 rightly, smaller ones within what their own noise allows."""
    given = populations(seed=1)
    for row in power.rows({name: given[name] for name in ("NDCG@10", "P@10")}, 100):
        assert row["within"] >= 0.8  # the share of pilots whose range holds the number of queries needed
        assert row["low"] < 0.8 < row["high"]
        if row["pilot"] == 200:
            assert row["power"] == pytest.approx(0.8, abs=0.03)


def test_the_bootstrap_it_replaced_is_scipys():
    values = np.random.default_rng(3).exponential(1, (30, 4))
    for column, found in zip(values.T, bca(values), strict=True):
        expected = stats.bootstrap((column,), np.mean, n_resamples=1000, rng=np.random.default_rng(0))
        np.testing.assert_allclose(found, expected.confidence_interval, rtol=0.01)


def test_the_others_are_what_they_are_called():
    hits = (np.arange(40) < 9).astype(float)[:, None]
    exact = stats.binomtest(9, 40).proportion_ci()
    low, high = korn_graubard(hits)[0]
    assert low < exact.low + 0.005  # wider by Student's quantile
    assert high > exact.high - 0.005
    assert high - low < 1.1 * (exact.high - exact.low)
    normal = np.random.default_rng(0).normal(0.5, 0.1, (200, 1))
    t = stats.ttest_1samp(normal[:, 0], 0).confidence_interval()
    np.testing.assert_allclose(studentised(normal)[0], t, atol=0.003)
    drawn = np.random.default_rng(1).beta(1, 3, (30, 400))
    ends = betting(drawn)
    assert ((ends[:, 0] <= 0.25) & (ends[:, 1] >= 0.25)).mean() >= 0.95
    assert (ends[:, 1] - ends[:, 0]).mean() < 0.5
