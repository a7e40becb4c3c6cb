from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import argrank as ar
from argrank.data.prepare.impute import refuse_missing
from argrank.errors import InputError, OptionError

NAN = np.nan
X = np.array([
    [1.0, NAN, 0.0, NAN],
    [NAN, NAN, 2.0, NAN],
    [3.0, NAN, 4.0, NAN],
    [NAN, 5.0, NAN, NAN],
    [8.0, 7.0, 0.0, NAN],
])  # fmt: skip
NAMES = ["a", "b", "c", "d"]


def data(matrix=X) -> ar.Dataset:
    return ar.Dataset(matrix, [0, 1, 0, 0, 1], qid=[1, 1, 1, 2, 2], feature_names=NAMES)


EXPECTED = {
    "zero": [[1, 0, 0, 0], [0, 0, 2, 0], [3, 0, 4, 0], [0, 5, 0, 0], [8, 7, 0, 0]],
    "mean": [[1, 6, 0, 0], [4, 6, 2, 0], [3, 6, 4, 0], [4, 5, 1.5, 0], [8, 7, 0, 0]],
    "query-mean": [[1, 6, 0, 0], [2, 6, 2, 0], [3, 6, 4, 0], [8, 5, 0, 0], [8, 7, 0, 0]],
    "query-min": [[1, 6, 0, 0], [1, 6, 2, 0], [3, 6, 4, 0], [8, 5, 0, 0], [8, 7, 0, 0]],
    "query-max": [[1, 6, 0, 0], [3, 6, 2, 0], [3, 6, 4, 0], [8, 5, 0, 0], [8, 7, 0, 0]],
    -1.5: [[1, -1.5, 0, -1.5], [-1.5, -1.5, 2, -1.5], [3, -1.5, 4, -1.5], [-1.5, 5, -1.5, -1.5], [8, 7, 0, -1.5]],
}


@pytest.mark.parametrize("with_", EXPECTED)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_fills_by_hand_computed_values(with_, kind):
    result = ar.impute(data(kind(X)), with_).X
    assert sparse.issparse(result) == sparse.issparse(kind(X))
    assert np.array_equal(result.toarray() if sparse.issparse(result) else result, EXPECTED[with_])


def test_leaves_the_rest_alone():
    original = data(X.astype(np.float32))
    result = ar.impute(original, "mean")
    assert result.X.dtype == np.float32
    assert np.array_equal(result.X[~np.isnan(X)], original.X[~np.isnan(X)])
    assert np.isnan(original.X).any()
    assert result.feature_names == original.feature_names


def test_only_the_features_asked_for():
    result = ar.impute(data(), "zero", features=["a", 1])
    assert not np.isnan(result.X[:, :2]).any()
    assert np.isnan(result.X[:, 3]).all()


@pytest.mark.parametrize("with_", ["median", NAN, np.inf, None, [0]])
def test_refuses_unknown_fillings(with_):
    with pytest.raises(OptionError):
        ar.impute(data(), with_)


@pytest.mark.parametrize("feature", ["e", 4, -1])
def test_refuses_unknown_features(feature):
    with pytest.raises(OptionError, match="feature"):
        ar.impute(data(), "zero", features=[feature])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_missing_values_are_refused_by_name(kind):
    with pytest.raises(InputError, match=r"got 11 NaN, 5 of them in feature 'd' and the rest in 3 more.*ar\.impute"):
        refuse_missing(data(kind(X)))


def test_complete_data_passes():
    complete = ar.impute(data(), "zero")
    refuse_missing(complete)
    assert not np.isnan(complete.X).any()
