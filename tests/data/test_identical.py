from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import argrank as ar
from argrank.data.identical import fingerprints, identical_in_query


@pytest.mark.parametrize("seed", range(3))
def test_fingerprints_are_equal_exactly_for_equal_rows(seed):
    X = np.random.default_rng(seed).integers(0, 3, size=(3000, 5)).astype(float)
    _, expected = np.unique(X, axis=0, return_inverse=True)
    _, found = np.unique(fingerprints(X), return_inverse=True)
    pairs = set(zip(expected.ravel().tolist(), found.tolist(), strict=True))
    assert len(pairs) == len(set(expected.ravel().tolist())) == len(set(found.tolist()))


def test_the_kind_of_matrix_does_not_matter():
    X = np.random.default_rng(0).integers(-2, 3, size=(2500, 4)) / 4.0
    X[5, 2] = np.nan
    expected = fingerprints(X)
    stored = sparse.csr_matrix(X)
    stored.data[:3] = 0  # stored zeros are zeros
    X.ravel()[np.flatnonzero(X)[:3]] = 0
    assert np.array_equal(fingerprints(X.astype(np.float32)), fingerprints(X))
    assert np.array_equal(fingerprints(stored), fingerprints(X))
    assert np.array_equal(fingerprints(X)[5:], expected[5:])


def test_signs_of_zero_and_kinds_of_nan_are_one():
    other_nan = np.array([0x7FF8000000000001], np.uint64).view(np.float64)[0]
    X = np.array([[0.0, np.nan], [-0.0, other_nan], [0.0, 1.0]])
    first, second, third = fingerprints(X)
    assert first == second != third


def test_a_value_is_tied_to_its_column():
    assert len(set(fingerprints(np.eye(50)).tolist())) == 50


def test_groups_end_with_the_query():
    data = ar.Dataset([[1.0], [1.0], [1.0], [2.0], [1.0]], np.zeros(5), qid=[1, 1, 2, 2, 2])
    group = identical_in_query(data)
    assert group[0] == group[1]
    assert group[2] == group[4]
    assert len(set(group.tolist())) == 3
