"""SoftRank's objective: ranks by enumeration and by SciPy's Poisson binomial, slopes, limits of sigma."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

import argrank as ar
from argrank import Dataset, objective
from argrank.errors import OptionError


def beaten(scores, sigma):
    """Return the chance that i beats j, for all i (rows) and j."""
    return stats.norm.cdf((scores[:, None] - scores) / (np.sqrt(2) * sigma))


def ranks_by_enumeration(scores, sigma):
    """Return for every document the distribution of its rank, over all outcomes of its contests with the others."""
    chance, n = beaten(scores, sigma), len(scores)
    ranks = np.zeros((n, n))
    for j in range(n):
        others = [i for i in range(n) if i != j]
        for outcome in itertools.product((0, 1), repeat=n - 1):
            parts = [chance[i, j] if lost else 1 - chance[i, j] for i, lost in zip(others, outcome, strict=True)]
            ranks[j, sum(outcome)] += np.prod(parts)
    return ranks


@pytest.mark.parametrize("sigma", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("k", [1, 3, 7, None])
def test_the_value_is_the_expected_ndcg_by_enumeration(sigma, k):
    rng = np.random.default_rng(0)
    y, scores = np.array([0.0, 2.0, 1.0, 0.0, 3.0, 1.0, 0.0]), rng.standard_normal(7)
    discounts = np.where(np.arange(7) < (k or 7), 1 / np.log2(np.arange(7) + 2), 0.0)
    ranks = ranks_by_enumeration(scores, sigma)
    np.testing.assert_allclose(ranks.sum(axis=1), 1.0, rtol=1e-12)
    gains = 2**y - 1
    best = np.sort(gains)[::-1] @ discounts
    function = objective("softrank", measure="ndcg" if k is None else f"ndcg@{k}", sigma=sigma)
    value, _ = function(scores, Dataset(np.eye(7), y, group=[7]))
    assert value == pytest.approx(1 - gains @ ranks @ discounts / best, rel=1e-12)


def test_the_rank_of_a_document_is_poisson_binomial():
    """With one relevant document, k times Prec@k is the chance that fewer than k others beat it."""
    if not hasattr(stats, "poisson_binom"):
        pytest.skip("needs SciPy 1.15")
    n, sigma = 40, 0.7
    scores = np.random.default_rng(1).standard_normal(n)
    chance = beaten(scores, sigma)
    for j in (0, 7, int(np.argmax(scores)), int(np.argmin(scores))):
        data = Dataset(np.eye(n), np.arange(n) == j, group=[n])
        others = stats.poisson_binom(np.delete(chance[:, j], j))
        for k in (1, 5, 10, 39, 40):
            lacking, _ = objective("softrank", measure=f"p@{k}", sigma=sigma)(scores, data)
            assert 1 - k * lacking == pytest.approx(others.cdf(k - 1), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(
    "parameters",
    [
        {"measure": "ndcg@3"},
        {"measure": "ndcg"},
        {"measure": "dcg@5", "gain": "linear"},
        {"measure": "eru"},
        {"measure": "p@4", "relevant_at": 2.0},
        {"a": [2.0, 1.0], "b": lambda y: y**2 - 1.0},
    ],
)
@pytest.mark.parametrize("sigma", [0.2, 1.0])
def test_gradient_by_finite_differences(parameters, sigma):
    rng = np.random.default_rng(2)
    data = Dataset(np.eye(20), rng.integers(0, 4, 20), group=[8, 12])
    function, scores, step = objective("softrank", sigma=sigma, **parameters), rng.standard_normal(20), 1e-5
    _, gradient = function(scores, data)
    for row, shift in enumerate(step * np.eye(20)):
        slope = (function(scores + shift, data)[0] - function(scores - shift, data)[0]) / (2 * step)
        assert gradient[row] == pytest.approx(slope, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("measure", ["ndcg@10", "ndcg@1", "ndcg", "dcg@5", "p@5"])
def test_a_narrow_sigma_is_the_measure_itself(measure):
    data = ar.make_ranking(20, (5, 30), 4, random_state=1)
    scores = np.random.default_rng(2).standard_normal(data.n_documents)
    value, gradient = objective("softrank", measure=measure, sigma=1e-7)(scores, data)
    found = ar.evaluate(scores, data, measure).values[measure]
    best = ar.evaluate(data.y, data, measure).values[measure]
    assert value == pytest.approx(np.nansum(best - found) / data.n_queries, abs=1e-12)
    assert np.isfinite(gradient).all()


def test_only_differences_of_scores_in_units_of_sigma_count():
    data = ar.make_ranking(5, 12, 3, random_state=3)
    scores = np.random.default_rng(4).standard_normal(data.n_documents)
    value, gradient = objective("softrank", sigma=0.5)(scores, data)
    again, slope = objective("softrank", sigma=1.5)(3 * scores + 7, data)
    assert again == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(3 * slope, gradient, rtol=1e-9, atol=1e-15)


def test_bad_parameters():
    with pytest.raises(OptionError, match="sigma"):
        objective("softrank", sigma=-1.0)
    with pytest.raises(OptionError, match="of the form a · b"):
        objective("softrank", measure="map")
