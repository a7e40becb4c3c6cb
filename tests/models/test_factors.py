"""Factor models: scores, unknown users and items, recommendations."""

from __future__ import annotations

import numpy as np
import pytest

from argrank.models.factors import FactorModel


@pytest.fixture
def model():
    items = np.array([[1.0, 0.0, 2.0, 0.5], [0.0, 1.0, -1.0, 1.5]])  # the last column is the items' bias
    seen = (np.array([0]), np.array([], np.int64))
    return FactorModel(("ann", "bob"), ("x", "y"), np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0]]), items, seen)


def test_scores_are_products_of_factors_and_a_bias(model):
    assert model.predict(["ann", "ann", "bob"], ["x", "y", "y"]).tolist() == [2.5, 2.5, 3.5]


def test_strangers_have_no_factors_and_unknown_items_those_of_the_mean(model):
    assert model.predict(["eve", "eve"], ["x", "y"]).tolist() == [0.5, 1.5]
    assert model.predict(["ann"], ["z"]).tolist() == [0.5 * (2.5 + 2.5)]
    assert model.recommend("eve") == ["y", "x"]


def test_recommendations_leave_out_what_was_seen(model):
    assert model.recommend("ann") == ["y"]
    assert model.recommend("bob") == ["y", "x"]
    assert model.recommend(["ann", "bob"], seen=True) == [["x", "y"], ["y", "x"]]
