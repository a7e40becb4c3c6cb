from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from argrank.errors import OptionError
from argrank.evaluation import significance
from argrank.evaluation.significance import (
    TESTS,
    effect_sizes,
    holm,
    p_values,
    paired_t,
    randomisation,
    wilcoxon,
)


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def some(n_queries: int, n_pairs: int = 4, seed: int = 0) -> np.ndarray:
    """Skewed differences, some of them zero, with means from nothing to clear."""
    rng = np.random.default_rng(seed)
    values = rng.exponential(1, (n_queries, n_pairs)) - 1 + np.linspace(0, 0.6, n_pairs)
    return np.where(rng.random(values.shape) < 0.1, 0.0, values)


@pytest.mark.parametrize("n_queries", [2, 3, 30, 500])
def test_t_is_scipys(n_queries):
    differences = some(n_queries)
    rng = np.random.default_rng(1)
    b = rng.random(differences.shape)
    expected = stats.ttest_rel(b + differences, b).pvalue
    np.testing.assert_allclose(paired_t(differences), expected, rtol=1e-9)


@pytest.mark.parametrize("n_queries", [5, 40, 60, 500])
def test_t_of_few_queries_that_differ_has_two_imagined_ones(n_queries):
    differences = some(n_queries)
    found = paired_t(differences, reach=np.array([1.0, 2.0, np.inf, 4.0]))
    for column, reach, p in zip(differences.T, (1.0, 2.0, 0.0, 4.0), found, strict=True):
        differ = np.count_nonzero(column)
        plain = stats.ttest_1samp(column, 0)
        squares = np.sum((column - column.mean()) ** 2) / (n_queries - 1)
        more = 2 * (reach / 4) ** 2 * max(0, 50 - differ) / 50 / n_queries
        expected = 2 * stats.t.sf(abs(plain.statistic) * np.sqrt(squares / (squares + more)), n_queries - 1)
        assert p == pytest.approx(expected, rel=1e-9)
        assert (p > plain.pvalue * (1 + 1e-9)) == (differ < 50 and reach > 0)


@pytest.mark.parametrize("n_queries", [5, 30, 60, 500])
def test_wilcoxon_is_scipys(n_queries):
    differences = some(n_queries)
    expected = [stats.wilcoxon(column).pvalue for column in differences.T]
    np.testing.assert_array_equal(wilcoxon(differences), expected)


@pytest.mark.parametrize("n_queries", [1, 2, 5, 10])
def test_randomisation_equals_the_enumeration_of_all_sign_patterns(n_queries):
    # halves and quarters, so that sums tie often and are exact
    differences = np.random.default_rng(n_queries).integers(-4, 5, (n_queries, 5)) / 4
    patterns = np.array(list(itertools.product([1, -1], repeat=n_queries)))
    reached = np.abs(patterns @ differences) >= np.abs(differences.sum(axis=0))
    np.testing.assert_array_equal(randomisation(differences), reached.mean(axis=0))


def test_randomisation_equals_scipys_exact_test():
    differences = some(10)
    expected = stats.permutation_test(
        (differences, np.zeros_like(differences)),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
    ).pvalue
    np.testing.assert_allclose(randomisation(differences), expected, rtol=1e-12)


def test_random_sign_patterns_come_close_to_all_of_them(monkeypatch):
    differences = some(16, 6)
    exact = randomisation(differences)
    monkeypatch.setattr(significance, "EXACT_QUERIES", 0)
    drawn = randomisation(differences, n_resamples=20_000)
    error = np.sqrt(exact * (1 - exact) / 20_000)
    assert (np.abs(drawn - exact) < 4 * error + 1e-4).all()


def test_random_sign_patterns_do_not_depend_on_the_other_pairs_or_the_block_borders(monkeypatch):
    differences = some(64)
    together = randomisation(differences, 999)
    alone = [float(randomisation(differences[:, [pair]], 999)[0]) for pair in range(4)]
    assert together.tolist() == alone
    monkeypatch.setattr(significance, "BLOCK_VALUES", 64 * 100)
    np.testing.assert_array_equal(randomisation(differences, 999), together)


def test_random_p_is_never_zero():
    assert randomisation(np.ones((40, 1)), n_resamples=99).tolist() == [1 / 100]


def test_randomisation_keeps_its_level_under_the_null():
    # 400 comparisons of two equal systems over 40 queries: about 20 should come out "significant" at 5 %
    differences = np.random.default_rng(5).laplace(size=(40, 400))
    p = randomisation(differences, n_resamples=999)
    assert stats.binomtest(int(np.count_nonzero(p <= 0.05)), 400, 0.05).pvalue > 0.01
    assert stats.kstest(p, "uniform").pvalue > 0.01


@pytest.mark.parametrize("test", TESTS)
def test_zero_differences_and_few_queries(test):
    assert p_values(np.zeros((30, 2)), test).tolist() == [1, 1]
    assert p_values(np.array([[0.5, -0.5, 0]]), test).tolist() == [1, 1, 1]
    assert p_values(np.empty((0, 2)), test).tolist() == [1, 1]


@pytest.mark.parametrize("value", [0.25, 1.0, -0.5])
def test_equal_differences_are_as_sure_as_their_number_allows(value):
    # with a true mean of 0 and differences in [-1, 1] the most likely source has `value` with 1 / (1 + |value|)
    differences = np.full((6, 1), value)
    expected = min(1.0, 2 * (1 / (1 + abs(value))) ** 6)
    np.testing.assert_allclose(paired_t(differences, reach=1.0), expected)
    assert paired_t(differences).tolist() == [1]  # nothing is known where differences have no bounds
    assert randomisation(differences).tolist() == wilcoxon(differences).tolist() == [2 / 64]
    assert paired_t(np.full((3, 1), 0.1) + [[0], [0], [1e-17]], reach=1.0) > 0.05  # rounding is no variance


@pytest.mark.parametrize("test", TESTS)
@settings(max_examples=20)
@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=40))
def test_exchanging_the_systems_changes_nothing_but_the_sign(test, values):
    column = np.array(values)[:, None]
    np.testing.assert_allclose(p_values(-column, test, 200), p_values(column, test, 200), rtol=1e-12)
    np.testing.assert_array_equal(effect_sizes(-column), -effect_sizes(column))


def test_unknown_test_names_the_known_ones():
    with pytest.raises(OptionError, match="randomisation"):
        p_values(np.zeros((3, 1)), "randomization")


def test_holm_by_hand():
    # Holm 1979: 0.01*4, 0.03*2 raised over 0.02*3, 0.04*1 raised to 0.06
    np.testing.assert_allclose(holm(np.array([0.01, 0.04, 0.03, 0.02])), [0.04, 0.06, 0.06, 0.06])
    assert holm(np.array([0.7])).tolist() == [0.7]
    assert holm(np.array([0.6, 0.9])).tolist() == [1, 1]
    assert holm(np.array([])).tolist() == []


@given(
    st.lists(st.floats(0, 1, allow_subnormal=False), min_size=1, max_size=8),
    st.sampled_from([0.001, 0.01, 0.05, 0.2]),
)
def test_holm_rejects_what_the_step_down_procedure_rejects(p, level):
    corrected = holm(np.array(p))
    rejected = np.zeros(len(p), bool)
    while not rejected.all():
        left = np.flatnonzero(~rejected)
        smallest = left[np.argmin(np.array(p)[left])]
        if p[smallest] * len(left) > level:
            break
        rejected[smallest] = True
    np.testing.assert_array_equal(corrected <= level, rejected)


def test_effect_size():
    np.testing.assert_allclose(effect_sizes(np.array([[1.0], [2.0], [3.0]])), [2.0])
    assert effect_sizes(np.array([[0.0, 0.5, -0.5], [0.0, 0.5, -0.5]])).tolist() == [0, np.inf, -np.inf]
    assert np.isnan(effect_sizes(np.ones((1, 1)))).all()
