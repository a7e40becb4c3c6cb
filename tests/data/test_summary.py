from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

import argrank as ar
from argrank.data.prepare import query_statistics
from argrank.data.summary import feature_label, summarise


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("block", [1, 1 << 16])
def test_agrees_with_numpy(kind, block, monkeypatch):
    monkeypatch.setattr(query_statistics, "BLOCK_VALUES", block)
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 5)) + 2
    X[rng.random(X.shape) < 0.4] = 0
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:20, 1] = 0  # two whole queries without the feature
    X[20:, 1] = np.abs(X[20:, 1]) + 1
    X[:, 2] = np.nan
    X[:, 3] = 7
    data = ar.Dataset(kind(X), np.zeros(60), group=[10] * 6)
    found = summarise(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy on a column of NaN alone
        np.testing.assert_array_equal(found.minimum, np.nanmin(X, axis=0))
        np.testing.assert_array_equal(found.maximum, np.nanmax(X, axis=0))
        np.testing.assert_allclose(found.mean, np.nanmean(X, axis=0))
        parts = X.reshape(6, 10, 5)
        extent = np.nanmax(parts, axis=1) - np.nanmin(parts, axis=1)
        spread = np.nanstd(np.log10(np.where(extent > 0, extent, np.nan)), axis=0)
    np.testing.assert_array_equal(found.zeros, (X == 0).sum(axis=0))
    np.testing.assert_array_equal(found.missing, np.isnan(X).sum(axis=0))
    np.testing.assert_array_equal(found.varying, (extent > 0).sum(axis=0))
    np.testing.assert_allclose(found.scale_spread, np.nan_to_num(spread), atol=1e-7)


def test_features_are_called_as_in_the_file():
    X = [[1.0, 2.0]]
    assert feature_label(ar.Dataset(X, [1]), 1) == "feature 2"
    assert feature_label(ar.Dataset(X, [1], feature_base=0), 1) == "feature 1"
    assert feature_label(ar.Dataset(X, [1], feature_names=["a", "b\n"]), 1) == r"feature 'b\n'"
