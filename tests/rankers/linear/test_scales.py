"""Linear rankers say where the scales of features differ wildly."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

import argrank as ar
from argrank.errors import ArgrankWarning
from argrank.rankers.linear._scales import _range


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_wildly_different_scales_are_told(kind):
    data = ar.make_ranking(10, 8, 3, random_state=1)
    X = data.X * [1e-2, 1.0, 1e6]
    with pytest.warns(ArgrankWarning, match="feature 2 ranges over .*e\\+06, feature 0 over"):
        ar.make_ranker("rank-svm").fit(ar.Dataset(kind(X), data.y, group=data.sizes))


@pytest.mark.parametrize(("n_rows", "n_features"), [(1, 3), (1000, 7), (1025, 1), (3, 2000)])
def test_ranges_are_those_of_all_rows(n_rows, n_features):
    X = np.random.default_rng(0).standard_normal((n_rows, n_features))
    low, high = _range(ar.Dataset(X, np.zeros(n_rows), group=[n_rows]))
    np.testing.assert_array_equal(low, X.min(axis=0))
    np.testing.assert_array_equal(high, X.max(axis=0))


def test_ordinary_and_normalised_features_are_not_worth_a_word():
    data = ar.make_ranking(10, 8, 3, random_state=1)
    wild = ar.Dataset(data.X * [1e-2, 1.0, 1e6], data.y, group=data.sizes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ar.make_ranker("rank-svm").fit(ar.load_bundled())
        ar.make_ranker("rank-svm", normalise="standard").fit(wild)
