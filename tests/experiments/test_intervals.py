"""The intervals argrank shows cover the truth, on populations of every usual measure."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.intervals import coverage, pairs, power, weights
from experiments.intervals.others import bca, betting, korn_graubard, studentised
from experiments.intervals.populations import populations, real_queries
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


def test_differences_of_real_queries_are_covered(real_data, monkeypatch):
    monkeypatch.setenv("ARGRANK_DATA", str(real_data))
    found = list(coverage.rows(real_queries(), {"now": coverage.of_differences}, "difference"))
    assert len(found) == 10 * len(coverage.SIZES)
    assert [row for row in found if row["coverage"] < 0.93] == []


@pytest.mark.slow
def test_differences_of_hundreds_of_real_pairs_are_covered(real_data, monkeypatch):
    """Those of MQ2008 and OHSUMED were not used to choose the interval."""
    monkeypatch.setenv("ARGRANK_DATA", str(real_data))
    reported = {pairs.REPORTED: pairs.pairs()[pairs.REPORTED]}
    for row in pairs.rows(reported, {"now": coverage.of_differences}):
        assert row["number"] > 300
        assert row["below .93"] <= (0 if row["queries"] < 50 else 0.01)
        assert row["least"] > 0.91


@pytest.mark.slow
def test_intervals_of_tuned_weights_cover_and_are_as_wide_as_they_should_be():
    for row in weights.rows(100):
        assert row["coverage now"] >= 0.93
        assert 0.9 < row["width now"] < 1.2
        assert row["width before"] < 0.85 * row["width now"]


@pytest.mark.slow
def test_power_says_what_simulation_says():
    """Pilots of 200 queries promise a chance of .8 rightly; smaller ones promise too much on average, by so much.

    A pilot's variance is as often too small as too large, but the chance falls by more in the one case than it rises in
    the other. The bounds are the means of power.md, .05 (20 queries) and .03 (50) below .8 here, and three standard
    errors of a mean over 100 pilots.
    """
    given = populations(seed=1)
    short = {20: 0.05 + 3 * 0.017, 50: 0.03 + 3 * 0.011, 200: 0.01 + 3 * 0.006}
    for row in power.rows({name: given[name] for name in ("NDCG@10", "P@10")}, 100):
        assert row["within"] >= 0.8  # the share of pilots whose range holds the number of queries needed
        assert row["low"] < 0.8 < row["high"]
        assert 0.8 - short[row["pilot"]] <= row["power"] <= 0.82


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
