"""The order of the content: the same for any order of queries and rows, whatever the precision of the features."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import argrank as ar
from argrank.data import arranged as arranging
from argrank.data.arranged import ArrangedRows, arranged


@pytest.fixture
def data():
    made = ar.make_ranking(12, (1, 9), 3, random_state=2)
    rng = np.random.default_rng(0)
    return made._but(
        X=np.round(made.X, 1),  # documents that are equal, too
        sample_weight=rng.integers(1, 4, made.n_documents).astype(float),
        query_weight=rng.integers(1, 4, made.n_queries).astype(float),
    )


def shuffled(data, seed):
    rng = np.random.default_rng(seed)
    queries = rng.permutation(data.n_queries)
    rows = np.concatenate([rng.permutation(np.arange(data.indptr[q], data.indptr[q + 1])) for q in queries])
    return ar.Dataset(
        data.X[rows], data.y[rows], qid=data.qid[rows], sample_weight=data.sample_weight[rows],
        query_weight=data.query_weight[queries],
    )  # fmt: skip


def contents(data):
    X = data.X.toarray() if data.is_sparse else np.asarray(data.X)
    return [one.tolist() for one in (X, data.y, data.sizes, data.sample_weight, data.query_weight)]


@pytest.mark.parametrize("seed", range(4))
def test_any_order_becomes_one(data, seed):
    assert contents(arranged(shuffled(data, seed))) == contents(arranged(data))


def test_rows_stay_with_their_queries(data):
    found = arranged(data)
    for place, qid in enumerate(found.query_ids.tolist()):
        own = data.select([data.query_ids.tolist().index(qid)])
        mine = found.select([place])
        key = sorted(zip(own.X.tolist(), own.y.tolist(), own.sample_weight.tolist(), strict=True))
        assert sorted(zip(mine.X.tolist(), mine.y.tolist(), mine.sample_weight.tolist(), strict=True)) == key
        assert mine.query_weight.tolist() == own.query_weight.tolist()


def test_precision_labels_and_weights_do_not_move_documents():
    data = ar.make_ranking(12, (2, 9), 3, random_state=2)
    order = arranged(data).query_ids.tolist()
    for other in (
        data.with_features(data.X.astype(np.float32)),
        data.with_features(sparse.csr_matrix(data.X)),
        data.with_labels(np.arange(data.n_documents)),
        data._but(sample_weight=np.arange(1.0, 1.0 + data.n_documents), query_weight=np.arange(1.0, 13.0)),
    ):
        assert arranged(other).query_ids.tolist() == order


def test_what_differs_in_float64_alone_has_one_order_too():
    X = 1.0 + np.arange(6)[:, None] * 1e-12
    for seed in range(3):
        rows = np.random.default_rng(seed).permutation(6)
        found = arranged(ar.Dataset(X[rows], np.ones(6), group=[6]))
        assert found.X.tolist() == arranged(ar.Dataset(X, np.ones(6), group=[6])).X.tolist()


def test_large_features_are_gathered_where_they_are(data, monkeypatch):
    expected = arranged(data)
    monkeypatch.setattr(arranging, "LARGE", 0)
    found = arranged(data)
    assert isinstance(found.X, ArrangedRows)
    assert contents(found) == contents(expected)
    np.testing.assert_array_equal(found.X[2:5], expected.X[2:5])
    np.testing.assert_array_equal(found.X[:, [2, 0]], expected.X[:, [2, 0]])
    np.testing.assert_allclose(found.X @ np.arange(3.0), expected.X @ np.arange(3.0))
    assert isinstance(arranged(data, whole=True).X, np.ndarray)


def test_sparse_features_on_the_disk_that_memory_cannot_hold_keep_their_order(tmp_path, data, monkeypatch):
    ar.pack(data.with_features(sparse.csr_matrix(data.X)), tmp_path / "a.pack")
    mapped = ar.load(tmp_path / "a.pack")
    assert contents(arranged(mapped)) == contents(arranged(data))
    monkeypatch.setenv("ARGRANK_MAX_MEMORY", "10B")
    assert arranged(mapped) is mapped
