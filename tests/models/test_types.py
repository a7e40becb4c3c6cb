"""A score that jumps at thresholds depends on the values of the features, never on the type that holds them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import argrank as ar

DATA = ar.make_ranking(12, 10, 5, random_state=3)
SINGLE = DATA.with_features(DATA.X.astype(np.float32))
DOUBLE = DATA.with_features(SINGLE.X.astype(np.float64))
FEW = {"n_trees": 5, "n_rounds": 8, "n_starts": 1, "min_documents": 2}


@pytest.mark.parametrize("normalise", ["standard", "query-zscore"])
@pytest.mark.parametrize(
    "name", ["frank", "rankboost", "mart", "mcrank", "query-mart", "direct-rank-trees", "symmetric-mart"]
)
def test_equal_values_have_equal_scores_in_every_type(name, normalise):
    ranker = ar.make_ranker(name, normalise=normalise)
    ranker.set_params(**{key: value for key, value in FEW.items() if key in ranker.get_params()})
    for training in (SINGLE, DOUBLE):  # thresholds between numbers of either type, and on them
        ranker.fit(training)
        np.testing.assert_array_equal(ranker.predict(SINGLE), ranker.predict(DOUBLE))


def test_linear_scores_differ_between_types_by_rounding_alone():
    ranker = ar.make_ranker("rank-svm", normalise="standard").fit(DOUBLE)
    np.testing.assert_allclose(ranker.predict(SINGLE), ranker.predict(DOUBLE), rtol=0, atol=1e-6)


def test_equal_values_have_equal_scores_in_sparse_matrices():
    counts = np.floor(np.abs(DATA.X)).astype(np.float32)
    dense = DATA.with_features(counts)
    ranker = ar.make_ranker("rankboost", n_rounds=8, normalise="query-sum").fit(dense)
    wanted = ranker.predict(dense)
    for dtype in (np.float32, np.float64):
        np.testing.assert_array_equal(
            ranker.predict(DATA.with_features(sparse.csr_matrix(counts.astype(dtype)))), wanted
        )
