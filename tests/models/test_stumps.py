"""Step-function models: scores from the definition, sparse and dense alike, safe files."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import argrank as ar
from argrank.errors import InputError, ModelError
from argrank.models.stumps import StumpsModel


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    return StumpsModel(rng.integers(0, 3, 20), rng.integers(-2, 3, 20) / 2.0, rng.standard_normal(20), 4)


def test_scores_add_up_the_steps_of_exceeded_thresholds(model):
    X = np.random.default_rng(1).integers(-3, 4, (50, 4)) / 2.0
    expected = ((X[:, model.features] > model.thresholds) * model.steps).sum(axis=1)
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-12)
    np.testing.assert_array_equal(model.predict(sparse.csr_matrix(X)), model.predict(X))


def test_missing_values_are_refused_where_they_matter(model):
    X = np.zeros((2, 4))
    X[1, 3] = np.nan  # no step looks at this feature
    assert np.isfinite(model.predict(X)).all()
    X[1, model.features[0]] = np.nan
    with pytest.raises(InputError, match="missing values, got NaN in row 1"):
        model.predict(X)


def test_a_saved_model_scores_the_same(model, tmp_path):
    model.save(tmp_path / "model.json")
    X = np.random.default_rng(2).standard_normal((30, 4))
    assert ar.load_model(tmp_path / "model.json").predict(X).tobytes() == model.predict(X).tobytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_features": 0}, "whole number from 1 up"),
        ({"features": [0, 9]}, "features from 0 to 3"),
        ({"features": [0]}, "equal number"),
        ({"steps": ["a", 1.0]}, "steps: expected a list of numbers"),
        ({"thresholds": None}, "thresholds: expected a list of numbers"),
        ({"feature_names": ["a"]}, "4 feature names"),
    ],
)
def test_broken_files_are_refused(change, message):
    fields = {"n_features": 4, "features": [0, 1], "thresholds": [0.5, 1], "steps": [1.0, -1.0]}
    StumpsModel.from_dict(fields)
    with pytest.raises(ModelError, match=message):
        StumpsModel.from_dict(fields | change)
