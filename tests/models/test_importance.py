"""Importances: one definition for every ranker, stored in the model; directions and dependence."""

from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.models.importance import MOST_ROWS, dependence, directions, importances, some_queries
from argrank.models.linear import LinearModel


def test_importances_are_mean_absolute_contributions_within_queries(tmp_path) -> None:
    data = ar.make_ranking(30, 20, 4, random_state=1)
    ranker = ar.make_ranker("rank-svm").fit(data)
    parts = data.X * ranker.coef_
    own = np.zeros(4)
    for start, end in zip(data.indptr[:-1], data.indptr[1:], strict=True):
        own += np.abs(parts[start:end] - parts[start:end].mean(axis=0)).sum(axis=0)
    np.testing.assert_allclose(ranker.feature_importances_, own / own.sum(), atol=1e-12)
    ranker.save(tmp_path / "model.json")
    np.testing.assert_array_equal(
        ar.load_model(tmp_path / "model.json").feature_importances, ranker.feature_importances_
    )


@pytest.mark.parametrize(
    "name", ["regression", "coordinate-ascent", "rankboost", "lambda-mart", "query-mart", "mcrank", "direct-rank-trees"]
)
def test_every_ranker_has_them_and_finds_the_feature_that_matters(name: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 4))
    y = np.clip(np.round(X[:, 2] + 1.5), 0, 3)
    ranker = ar.make_ranker(name).fit(X, y, group=[20] * 30)
    shares = ranker.feature_importances_
    assert shares.sum() == pytest.approx(1.0)
    assert shares[2] > 0.7
    assert shares.shape == (4,)


def test_a_constant_within_queries_does_not_matter() -> None:
    data = ar.Dataset([[1.0, 5.0], [2.0, 5.0], [1.0, 9.0], [3.0, 9.0]], [0, 1, 0, 1], group=[2, 2])
    assert importances(LinearModel(np.array([1.0, 100.0])), data).tolist() == [1.0, 0.0]
    assert importances(LinearModel(np.zeros(2)), data).tolist() == [0.0, 0.0]


def test_whole_queries_up_to_a_number_of_documents() -> None:
    data = ar.make_ranking(300, 30, 2, random_state=0)
    part = some_queries(data)
    assert part.n_documents <= MOST_ROWS
    assert part.n_documents > MOST_ROWS - data.sizes.max()
    assert set(part.query_ids.tolist()) <= set(data.query_ids.tolist())
    np.testing.assert_array_equal(part.X, some_queries(data).X)
    long = ar.make_ranking(2, 3 * MOST_ROWS, 2, random_state=0)
    assert some_queries(long).n_documents == MOST_ROWS


def test_directions_and_dependence() -> None:
    rng = np.random.default_rng(1)
    X = rng.random((200, 3))
    X[::7, 0] = np.nan
    X[:, 2] = rng.integers(0, 3, 200)
    data = ar.Dataset(
        X, rng.integers(0, 3, 200), group=[20] * 10, feature_names=["a", "b", "c"], categories={"c": ("x", "y", "z")}
    )
    ranker = ar.make_ranker("rank-svm").fit(data)
    model = ranker.model_
    weights = dict(zip(model.column_names, ranker.coef_, strict=True))
    found = directions(model, data)
    assert np.sign(found[1]) == np.sign(weights["b"])
    assert abs(found[1]) == pytest.approx(1.0)
    assert found[2] == 0
    line = dependence(model, data, 1)
    slopes = np.diff(line.scores) / np.diff(line.values)
    np.testing.assert_allclose(slopes, weights["b"], rtol=1e-6)
    text = dependence(model, data, 2)
    assert text.texts == ("x", "y", "z")
    np.testing.assert_allclose(np.diff(text.scores), np.diff([weights[f"c={one}"] for one in "xyz"]), atol=1e-9)
    assert dependence(model, data, 0).missing is not None


def test_models_are_short_in_words(tmp_path) -> None:
    data = ar.make_ranking(30, 20, 40, random_state=1)
    for name in ("rank-svm", "lambda-mart", "query-mart", "mcrank", "rankboost"):
        ranker = ar.make_ranker(name).fit(data)
        ranker.save(tmp_path / "model.json")
        model = ar.load_model(tmp_path / "model.json")
        assert len(repr(model)) < 400
        assert type(ranker).__name__ in repr(model)
        assert "<table>" in model._repr_html_()
