"""Models trained for engines of float32: rounding the features moves no row across a threshold."""

from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.deploy.singles import between_singles, suited
from argrank.models.linear import LinearModel
from argrank.models.stumps import StumpsModel
from argrank.models.sum import SumModel


def decimals(seed: int, digits: int = 1) -> ar.Dataset:
    """Return data with few digits: values of other rows lie in the middle of two, where thresholds are."""
    data = ar.make_ranking(30, 10, 3, random_state=seed)
    return ar.Dataset(np.round(data.X, digits), data.y, data.qid)


@pytest.mark.parametrize("name", ["mart", "rankboost", "frank", "mcrank"])
def test_rounded_features_have_the_same_scores(name: str) -> None:
    data = decimals(0)
    options = {"start": None, "n_trees": 20} if name == "mcrank" else {}  # no linear part
    model = ar.make_ranker(name, **options).fit(data).model_
    moved = between_singles(model)
    np.testing.assert_array_equal(moved.predict(data), model.predict(data))
    X = np.round(np.random.default_rng(1).uniform(-3, 3, (20_000, 3)), 2)  # hundredths lie on thresholds
    assert (model.scores(X) != model.scores(X.astype(np.float32))).any()
    np.testing.assert_array_equal(moved.scores(X), moved.scores(X.astype(np.float32)))
    assert ((moved.scores(X) != model.scores(X)).mean(axis=0) < 0.2).all()
    again = between_singles(moved)
    np.testing.assert_array_equal(again.scores(X), moved.scores(X))


def test_thresholds_of_every_size_stay_between_the_same_float32_numbers() -> None:
    random = np.random.default_rng(0)
    low = (random.standard_normal(2000) * 10.0 ** random.integers(-30, 30, 2000)).astype(np.float32)
    high = np.nextafter(low, np.float32(np.inf))
    middle = (low.astype(float) + high.astype(float)) / 2
    for thresholds in (middle, np.nextafter(middle, np.inf), low.astype(float)):
        model = StumpsModel(np.arange(2000), thresholds, np.ones(2000), 2000)
        moved = between_singles(model).thresholds
        assert (low <= moved).all()
        assert (moved < high).all()
        assert (moved.astype(np.float32) <= low).all()
        assert (np.nextafter(moved, np.inf).astype(np.float32) >= high).all()
    odd = StumpsModel(np.zeros(3, int), np.array([np.inf, -1e300, 0.0]), np.ones(3), 1)
    assert between_singles(odd).thresholds[:2].tolist() == [np.inf, -1e300]
    assert between_singles(odd).thresholds[2] < 1e-45


def test_sums_and_targets() -> None:
    data = decimals(2)
    trees, line = ar.make_ranker("mart", n_trees=5).fit(data).model_, LinearModel(np.ones(3))
    model = SumModel((trees, line), np.array([1.0, 2.0]))
    moved = suited(model, "onnx")
    assert moved.members[1] is line
    assert (moved.members[0].trees[0].threshold != trees.trees[0].threshold).any()
    assert suited(model, "lightgbm") is model
    scaled = ar.make_ranker("mart", n_trees=5, normalise="standard").fit(data).model_
    assert between_singles(scaled) is scaled


def test_auto_for_an_engine_passes_a_strict_check_on_other_data() -> None:
    ranker = ar.make_ranker("auto", members=["mart"], max_trees=40, target="opensearch", verbose=-1).fit(decimals(3))
    parity = ar.export(ranker, "opensearch", check=decimals(4, 2)).parity
    assert parity.keeps_order
    assert parity.rounded_largest == 0
