"""Compressing: the small model follows the large one, its loss is the paired comparison, and labels are not used."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import argrank as ar
from argrank.errors import InputError, OptionError
from argrank.models.linear import LinearModel
from argrank.models.sum import SumModel
from argrank.models.symmetric import SymmetricTrees
from argrank.trials import compress as compressing
from argrank.trials.compress import n_trees_of


@pytest.fixture(scope="module")
def parts() -> tuple[ar.Dataset, ar.Dataset]:
    return ar.make_ranking(90, 25, 6, truth="nonlinear", random_state=3).split(0.7, 0.3)


@pytest.fixture(scope="module")
def large(parts):
    return ar.make_ranker("query-mart", n_jobs=1, verbose=-1).fit(parts[0])


@pytest.fixture(scope="module")
def small(large, parts):
    return ar.compress(large, parts[0], max_trees=60, check=parts[1], n_jobs=1)


def test_the_small_model_follows_the_large_one_on_documents_that_neither_saw(large, small, parts):
    linear, trees = small.model.members
    assert isinstance(linear, LinearModel)
    assert isinstance(trees, SymmetricTrees)
    assert len(trees.values) <= 60
    assert small.follows > 0.98
    _, held_out = parts
    by_query = np.repeat(np.arange(held_out.n_queries), held_out.sizes)
    for query in range(held_out.n_queries):
        own = by_query == query
        assert np.corrcoef(large.predict(held_out)[own], small.model.predict(held_out)[own])[0, 1] > 0.9


def test_the_loss_is_the_paired_comparison_with_the_large_model(large, small, parts):
    expected = ar.compare({"s": small.model, "l": large}, parts[1], "ndcg@10", baseline="l").pairs[0]
    assert (small.loss.difference, small.loss.interval) == (expected.difference, expected.interval)
    assert small.loss.n_queries == expected.n_queries
    assert f"{expected.difference:+.4f}" in repr(small)
    assert abs(expected.difference) < 0.02


def test_without_held_out_queries_no_loss_is_claimed(large, parts):
    found = ar.compress(large, parts[0], max_trees=5)
    assert found.loss is None
    assert "not known" in repr(found)
    assert "ndcg" not in repr(found).splitlines()[-1]


def test_a_tenth_of_the_trees_is_the_default(large, parts):
    found = ar.compress(large, parts[0], n_jobs=1)
    assert n_trees_of(found.model) == n_trees_of(large.model_) // 10 == 50
    few = ar.make_ranker("mart", n_trees=30, verbose=-1).fit(parts[0])
    assert n_trees_of(ar.compress(few, parts[0]).model) == 10


def test_labels_and_threads_change_nothing(large, small, parts):
    train = parts[0]
    bare = ar.Dataset(train.X, None, group=train.sizes, feature_names=train.feature_names)
    again = ar.compress(large, bare, max_trees=60, n_jobs=2)
    assert again.model.predict(parts[1]).tobytes() == small.model.predict(parts[1]).tobytes()


def test_a_forest_stays_a_forest_and_goes_where_trees_go(parts):
    forest = ar.make_ranker("mart", n_trees=40, start=None, verbose=-1).fit(parts[0])
    found = ar.compress(forest, parts[0], max_trees=20)
    assert isinstance(found.model, SymmetricTrees)
    assert ar.export(found.model, "lightgbm", check=parts[1]).parity.holds


def test_missing_values_texts_and_names_stay(tmp_path):
    rng = np.random.default_rng(0)
    n = 600
    X = np.column_stack([rng.normal(size=n), rng.normal(size=n), rng.integers(0, 4, n)]).astype(float)
    y = np.clip(np.round(X[:, 0] + (X[:, 2] == 1)), 0, 3)
    X[rng.random(n) < 0.2, 1] = np.nan
    data = ar.Dataset(
        X, y, group=np.full(30, 20), feature_names=("a", "b", "brand"), categories={"brand": ("p", "q", "r", "s")}
    )
    found = ar.compress(ar.make_ranker("mart", n_trees=40, verbose=-1).fit(data), data, max_trees=30)
    assert found.follows > 0.95
    found.model.save(tmp_path / "model.json")
    loaded = ar.load_model(tmp_path / "model.json")
    assert loaded.feature_names == data.feature_names
    assert loaded.predict(data).tobytes() == found.model.predict(data).tobytes()


def test_sparse_data_is_followed_like_dense_data(parts, monkeypatch):
    train = parts[0]
    thin = ar.Dataset(sparse.csr_matrix(train.X), train.y, group=train.sizes)
    forest = ar.make_ranker("mart", n_trees=40, start=None, verbose=-1).fit(thin)
    found, dense = (ar.compress(forest, data, max_trees=60) for data in (thin, train))
    assert found.follows > 0.95
    np.testing.assert_allclose(found.model.predict(parts[1]), dense.model.predict(parts[1]), rtol=0, atol=1e-9)
    monkeypatch.setattr("argrank.trials.compress.MOST_CELLS", 0)  # larger data has no copies
    assert ar.compress(forest, thin, max_trees=60).follows > 0.95


@pytest.mark.parametrize(
    ("n_rows", "cells", "copies"), [(0, 99, 2), (7, 99, 7), (50, 99, 16), (50, 4.5, 3), (50, 1.5, 0)]
)
def test_data_is_copied_up_to_a_number_of_rows_values_and_copies(parts, monkeypatch, n_rows, cells, copies):
    """Rows and values in units of the data."""
    train = parts[0]
    monkeypatch.setattr(compressing, "MOST_CELLS", int(cells * train.X.size))
    found = compressing._copied(train, n_rows * train.n_documents)
    assert found.n_documents == (1 + copies) * train.n_documents
    np.testing.assert_array_equal(found.X[: train.n_documents], train.X)


def test_a_small_model_takes_missing_values_where_the_large_one_does(parts):
    """Those of later data, too, which its training data lacks."""
    train = parts[0]
    linear = ar.make_ranker("rank-svm", prepare="always", verbose=-1).fit(train).model_
    forest = ar.make_ranker("mart", n_trees=20, start=None, verbose=-1).fit(train).model_
    small = ar.compress(SumModel((linear, forest), np.ones(2)), train, max_trees=20).model
    X = np.array(parts[1].X)
    X[::3, 1] = np.nan
    assert np.isfinite(small.predict(X)).all()


def test_what_cannot_be_compressed_is_refused(parts):
    with pytest.raises(OptionError, match="already small"):
        ar.compress(ar.make_ranker("regression").fit(parts[0]), parts[0])
    with pytest.raises(InputError, match="expected a fitted ranker or a model of argrank"):
        ar.compress(object(), parts[0])
    with pytest.raises(InputError, match="features"):
        ar.compress(ar.make_ranker("mart", n_trees=2, verbose=-1).fit(parts[0]), ar.make_ranking(3, 4, 2))


@pytest.mark.parametrize("wrong", [["ndcg@10", "map"], "ndcg@1-10", "ndgc", None])
def test_one_measure_of_the_loss_is_asked_for_before_anything_is_grown(large, parts, monkeypatch, wrong):
    monkeypatch.setattr("argrank.trials.compress.follow", None)
    with pytest.raises(OptionError, match="measure"):
        ar.compress(large, parts[0], max_trees=5, check=parts[1], measure=wrong)


def test_one_query_is_said_in_the_singular(large, parts):
    found = ar.compress(large, parts[0], max_trees=5, check=parts[1].select([0]))
    assert "on 1 held-out query: " in repr(found)
