"""Linear scores where features are missing: alone, and as a part of a sum with trees."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from argrank.errors import InputError
from argrank.models.linear import LinearModel
from argrank.models.sum import SumModel
from argrank.models.tree import Tree
from argrank.models.trees import TreesModel

ALONE = LinearModel(np.array([0.5, 0.0, -2.0]))
MODEL = SumModel((ALONE, TreesModel((Tree.constant(0.0, 1),), 3)), np.ones(2))


@pytest.mark.parametrize("kind", [np.asarray, np.float32, sparse.csr_array])
def test_a_feature_without_weight_may_be_missing_beside_trees(kind):
    filled = np.random.default_rng(0).normal(size=(30, 3)).round(1)
    X = filled.copy()
    X[::2, 1] = np.nan
    expected = filled.astype(np.float32) if kind is np.float32 else filled
    np.testing.assert_allclose(MODEL.predict(kind(X)), expected @ ALONE.weights, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(MODEL.shap_values(kind(X)), expected * ALONE.weights, rtol=1e-6, atol=1e-6)
    assert np.isnan(X[::2, 1]).all()
    with pytest.raises(InputError, match="expected no missing values, got NaN in row 0"):
        ALONE.predict(kind(X))


@pytest.mark.parametrize("kind", [np.asarray, np.float32, sparse.csr_array])
@pytest.mark.parametrize(("column", "value"), [(0, np.nan), (1, np.inf)])
def test_other_missing_values_and_infinity_are_refused(kind, column, value):
    X = np.ones((3, 3))
    X[1, column], X[1, 1] = value, np.nan if column == 0 else value
    with pytest.raises(InputError, match="row 1"):
        MODEL.predict(kind(X))
