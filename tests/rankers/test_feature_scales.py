"""Linear rankers say where the scales of features differ greatly, or are tiny."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

import argrank as ar
from argrank.errors import ArgrankWarning
from argrank.rankers.registry import ranker_class
from argrank.rankers.training_data import _range

WITHOUT_SCALES = ("log-mle", "regression")  # give the same scores at any scale


def is_linear(name: str) -> bool:
    """Tell of a ranker whether its scores are a sum of features that depends on how they are scaled."""
    linear = ranker_class(name).__module__.split(".")[2] in ("linear", "climbing") or name == "adarank"
    return linear and name not in WITHOUT_SCALES


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_wildly_different_scales_are_told(kind):
    data = ar.make_ranking(10, 8, 3, random_state=1)
    X = data.X * [1e-2, 1.0, 1e6]
    with pytest.warns(ArgrankWarning, match="feature 2 ranges over .*e\\+06, feature 0 over"):
        ar.make_ranker("rank-svm").fit(ar.Dataset(kind(X), data.y, group=data.sizes))


@pytest.mark.parametrize("name", [name for name in ar.ranker_names() if is_linear(name)])
@pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")
def test_every_linear_ranker_that_depends_on_scales_tells_of_them(name):
    data = ar.make_ranking(30, 8, 3, noise=0.5, random_state=1)
    wild = data.with_features(np.asarray(data.X) * [1e-5, 1.0, 1e4])
    options = {"max_iter": 3} if "max_iter" in ar.make_ranker(name).get_params() else {}
    with pytest.warns(ArgrankWarning, match="the scales of the features differ greatly"):
        ar.make_ranker(name, **options).fit(wild)


@pytest.mark.parametrize(("n_rows", "n_features"), [(1, 3), (1000, 7), (1025, 1), (3, 2000)])
def test_ranges_are_those_of_all_rows(n_rows, n_features):
    X = np.random.default_rng(0).standard_normal((n_rows, n_features))
    low, high = _range(X)
    np.testing.assert_array_equal(low, X.min(axis=0))
    np.testing.assert_array_equal(high, X.max(axis=0))


def test_ordinary_and_normalised_features_are_not_worth_a_word():
    data = ar.make_ranking(10, 8, 3, random_state=1)
    wild = ar.Dataset(data.X * [1e-2, 1.0, 1e6], data.y, group=data.sizes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ar.make_ranker("rank-svm").fit(ar.load_bundled())
        ar.make_ranker("rank-svm", normalise="standard").fit(wild)


@pytest.mark.parametrize("factor", [1e-9, 1e-150])
def test_tiny_features_are_told_and_still_rank(factor):
    """What a step gains on them is less than rounding; the direction is that of any small C."""
    data = ar.make_ranking(30, 20, 5, random_state=1)
    tiny = data.with_features(factor * np.asarray(data.X))
    with pytest.warns(ArgrankWarning, match="the features are tiny: none ranges over more than .*normalise='standard'"):
        ranker = ar.make_ranker("rank-svm").fit(tiny)
    short = ar.make_ranker("rank-svm", C=1e-6).fit(data)
    np.testing.assert_allclose(
        ranker.coef_ / np.abs(ranker.coef_).max(), short.coef_ / np.abs(short.coef_).max(), rtol=1e-4
    )
    assert ranker.score(tiny) > 0.8


def test_features_too_small_to_square_are_told():
    data = ar.make_ranking(30, 20, 5, random_state=1)
    with pytest.warns(ArgrankWarning, match="the features are tiny"):
        ar.make_ranker("rank-svm").fit(data.with_features(1e-200 * np.asarray(data.X)))


def test_without_anything_to_learn_rounding_does_not_become_a_direction():
    """Every feature vector has its mirror image with the same label: the gradient at w = 0 is 0 up to rounding."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    data = ar.Dataset(np.vstack([X, -X]), np.tile(np.arange(30) % 3, 2), group=[60])
    assert not ar.make_ranker("rank-svm").fit(data).coef_.any()
