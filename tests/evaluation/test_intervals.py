"""Intervals cover, agree with the test of their row, and equal known ones where those exist."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import argrank as ar
from argrank.evaluation.intervals import difference_intervals, mean_interval, mean_intervals
from argrank.evaluation.significance import p_values, randomisation


def skewed(n_queries: int, n_pairs: int, seed: int) -> np.ndarray:
    """Differences on a coarse grid, so that many tie and some are 0."""
    rng = np.random.default_rng(seed)
    return np.round(rng.exponential(0.2, (n_queries, n_pairs)) - np.linspace(0, 0.3, n_pairs), 1)


@pytest.mark.parametrize("level", [0.05, 0.2])
@pytest.mark.parametrize("test", ["t", "randomisation"])
@pytest.mark.parametrize("n_queries", [2, 5, 8, 16, 17, 60])
def test_an_interval_leaves_out_zero_just_where_p_is_significant(test, n_queries, level):
    differences = skewed(n_queries, 80, n_queries)
    p = p_values(differences, test, 499, 3, reach=2.0)
    low, high = difference_intervals(differences, test, reach=2.0, level=level, n_resamples=499, random_state=3).T
    np.testing.assert_array_equal((low > 0) | (high < 0), p <= level)


@pytest.mark.parametrize("n_queries", [7, 40])
def test_the_randomisation_interval_is_what_the_test_does_not_reject(n_queries):
    differences = np.random.default_rng(1).laplace(0.3, 1, (n_queries, 20))
    ends = difference_intervals(differences, "randomisation", n_resamples=499)
    for end, outwards in zip(ends.T, (-1, 1), strict=True):
        assert (randomisation(differences - (end - outwards * 1e-9), 499) > 0.05).all()
        assert (randomisation(differences - (end + outwards * 1e-9), 499) <= 0.05).all()


def test_five_queries_are_too_few_for_randomisation():
    differences = np.arange(1.0, 6.0)[:, None]  # the least p is 2 / 32
    assert np.isnan(difference_intervals(differences, "randomisation")).all()
    assert difference_intervals(differences, "randomisation", reach=6.0).tolist() == [[-6, 6]]


def test_means_of_zeros_and_ones_are_nearly_wilsons():
    values = (np.arange(4000) < 300).astype(float)
    expected = stats.binomtest(300, 4000).proportion_ci(method="wilson")
    np.testing.assert_allclose(mean_interval(values), expected, rtol=2e-3)


@pytest.mark.parametrize("n", [1, 5, 50])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_equal_values_have_the_interval_of_clopper_and_pearson(value, n):
    found = mean_interval(np.full(n, value))
    if n == 1:
        assert np.isnan(found).all()
    else:
        np.testing.assert_allclose(found, stats.binomtest(int(value) * n, n).proportion_ci(), atol=1e-12)


def test_the_ends_solve_the_score_equation():
    values = np.random.default_rng(0).beta(2, 5, 30)
    mean, n = values.mean(), 30
    phi = (n * values.var(ddof=1) / (mean * (1 - mean)) + 2) / (n + 2)
    for end in mean_interval(values, level=0.1):
        distance = stats.t.ppf(0.95, n - 1) * np.sqrt(phi * end * (1 - end) / n)
        assert abs(end - mean) == pytest.approx(distance, rel=1e-9)


@settings(max_examples=50)
@given(st.lists(st.floats(0, 1, width=32), min_size=2, max_size=20))
def test_means_stay_within_their_bounds_and_move_with_them(values):
    column = np.array(values)
    low, high = mean_interval(column)
    assert -1e-9 <= low <= column.mean() + 1e-9
    assert column.mean() - 1e-9 <= high <= 1 + 1e-9
    assert low < high
    np.testing.assert_allclose(mean_interval(2 * column - 1, (-1.0, 1.0)), [2 * low - 1, 2 * high - 1], atol=1e-9)
    np.testing.assert_allclose(mean_interval(1 - column), [1 - high, 1 - low], atol=1e-9)


def test_weights():
    rng = np.random.default_rng(2)
    values, weight = rng.random(40), rng.integers(0, 4, 40).astype(float)
    assert mean_interval(values, weight=np.full(40, 3.0)) == pytest.approx(mean_interval(values))
    used = weight > 0
    assert mean_interval(values, weight=weight) == pytest.approx(mean_interval(values[used], weight=weight[used]))
    assert np.isnan(mean_interval(values, weight=np.zeros(40))).all()


def test_values_without_bounds_need_fifty_queries():
    values = np.random.default_rng(0).exponential(5, 50)
    expected = stats.ttest_1samp(values, 0).confidence_interval()
    np.testing.assert_allclose(mean_interval(values, (0.0, np.inf)), expected)
    assert np.isnan(mean_interval(values[:49], (0.0, np.inf))).all()
    assert np.isnan(mean_interval(np.ones(80), (0.0, np.inf))).all()  # equal, and it is not known within what


def test_undefined_queries_are_left_out():
    values = np.array([0.2, np.nan, 0.5, 0.9])
    assert mean_interval(values) == mean_interval(values[~np.isnan(values)])
    assert np.isnan(mean_interval(np.full(3, np.nan))).all()


def test_coverage_of_means_and_differences_on_few_queries():
    # 2,000 draws each; experiments/intervals has more measures and sizes
    rng = np.random.default_rng(8)
    for n, chance in ((5, 0.1), (20, 0.1), (50, 0.1), (50, 0.6)):
        low, high = mean_intervals((rng.random((n, 2000)) < chance).astype(float)).T
        assert ((low <= chance) & (chance <= high)).mean() >= 0.93
    for n in (5, 10, 50):  # a third are ties
        differences = np.where(rng.random((n, 2000)) < 1 / 3, 0.0, rng.beta(4, 3, (n, 2000)) - rng.random((n, 2000)))
        truth = 2 / 3 * (4 / 7 - 1 / 2)
        low, high = difference_intervals(differences, reach=1.0).T
        assert ((low <= truth) & (truth <= high)).mean() >= 0.93


def test_an_evaluation_knows_the_intervals_of_its_means():
    data = ar.make_ranking(30, 8, 2, random_state=0)
    found = ar.evaluate(data.X[:, 0], data, ["map", "NumRet"])
    assert (found.low["map"], found.high["map"]) == mean_interval(found.values["map"])
    assert found.low["map"] < found.means["map"] < found.high["map"]
    assert np.isnan(found.high["NumRet"])  # a sum, not a mean
    assert found.to_dict()["low"] == {"map": found.low["map"], "NumRet": None}


def test_few_queries_are_told_and_identical_systems_have_no_empty_interval():
    data = ar.make_ranking(12, 8, 2, random_state=0)
    found = ar.compare({"a": data.X[:, 0], "b": data.X[:, 0]}, data, ["ndcg@10", "dcg@10"])
    end = 1 - 0.025 ** (1 / found.pairs[0].n_queries)
    assert found.pairs[0].interval == pytest.approx((-end, end))
    assert "too few queries" in found.to_text()  # DCG has no bounds
