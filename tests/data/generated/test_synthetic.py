from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

import argrank as ar
from argrank.errors import OptionError


@pytest.mark.parametrize("options", [{}, {"density": 0.1}, {"truth": "nonlinear", "navigational": 0.3}])
def test_same_seed_same_bits(options):
    first, again, other = (ar.make_ranking(10, random_state=seed, **options) for seed in (4, 4, 5))
    assert first.fingerprint == again.fingerprint != other.fingerprint


def test_sizes_are_as_asked():
    data = ar.make_ranking(200, (3, 7), 11)
    assert (data.n_queries, data.n_features) == (200, 11)
    assert set(data.sizes.tolist()) == {3, 4, 5, 6, 7}
    assert set(ar.make_ranking(5, 9).sizes.tolist()) == {9}


@pytest.mark.parametrize(("grades", "relevant"), [(2, 0.01), (5, 0.2), (3, 0.5)])
def test_shares_of_grades(grades, relevant):
    data = ar.make_ranking(100, 100, 5, grades=grades, relevant=relevant)
    counts = np.bincount(data.y.astype(int))
    assert len(counts) == grades
    assert counts[1:].sum() == round(relevant * 10_000)
    for lower, higher in itertools.pairwise(counts[1:]):
        assert abs(lower - 2 * higher) <= 2  # half as frequent as the grade below, up to rounding


def test_grades_equally_frequent():
    counts = np.bincount(ar.make_ranking(10, 100, 5, grades=4, relevant=None).y.astype(int))
    assert counts.tolist() == [250, 250, 250, 250]


def test_navigational_queries_have_one_good_document_in_a_long_list():
    data = ar.make_ranking(40, 20, 5, navigational=0.25, navigational_documents=300, grades=3)
    good = np.add.reduceat(data.y > 0, data.indptr[:-1])
    long = data.sizes == 300
    assert long.sum() == 10
    assert (good[long] == 1).all()
    assert set(data.y[np.repeat(long, data.sizes)]) == {0, 2}


def test_density_is_the_share_of_values():
    data = ar.make_ranking(50, 50, 200, density=0.03, dtype=np.float32)
    assert data.is_sparse
    assert data.X.dtype == np.float32
    assert data.X.nnz / (2500 * 200) == pytest.approx(0.03, rel=0.05)
    assert data.X.has_canonical_format
    full = ar.make_ranking(3, 4, 5, density=1.0)
    assert full.X.nnz == 60


def test_correlation_of_features():
    correlation = np.corrcoef(ar.make_ranking(200, 100, 4, correlation=0.6).X.T)
    assert correlation[np.triu_indices(4, 1)] == pytest.approx(0.6, abs=0.03)


def test_a_linear_truth_without_noise_is_linear():
    """Labels are cut from a weighted sum, so the regression on them finds a direction that ranks them perfectly."""
    data = ar.make_ranking(100, 50, 6, noise=0, grades=2, relevant=0.5)
    scores = LinearRegression().fit(data.X, data.y).predict(data.X)
    assert ar.evaluate(scores, data, "auc").means["auc"] > 0.999
    noisy = ar.make_ranking(100, 50, 6, noise=2, grades=2, relevant=0.5)
    scores = LinearRegression().fit(noisy.X, noisy.y).predict(noisy.X)
    assert 0.6 < ar.evaluate(scores, noisy, "auc").means["auc"] < 0.9


def test_a_nonlinear_truth_is_out_of_reach_of_a_line():
    data = ar.make_ranking(200, 50, 3, truth="nonlinear", noise=0, grades=2, relevant=0.3)
    line = LinearRegression().fit(data.X, data.y).predict(data.X)
    tree = DecisionTreeRegressor(min_samples_leaf=20, random_state=0).fit(data.X, data.y).predict(data.X)
    assert ar.evaluate(line, data, "auc").means["auc"] < ar.evaluate(tree, data, "auc").means["auc"] - 0.02


@pytest.mark.parametrize(
    "options",
    [
        {"truth": "cubic"},
        {"grades": 1},
        {"relevant": 1.5},
        {"navigational": -0.1},
        {"density": 0},
        {"density": 0.5, "correlation": 0.5},
        {"correlation": 1},
        {"noise": -1},
        {"n_documents": (5, 2)},
        {"n_documents": 0},
        {"n_queries": 0},
        {"navigational_documents": 1},
    ],
)
def test_impossible_requests_are_refused(options):
    with pytest.raises(OptionError, match="expected"):
        ar.make_ranking(**options)
