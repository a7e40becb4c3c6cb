from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import argrank as ar
from argrank.data.mapped import is_mapped, row_view
from argrank.errors import InputError

ROWS, QUERIES = 60, 6


def write(tmp_path, mode, dtype=np.float32):
    X = np.random.default_rng(0).random((ROWS, 4)).astype(dtype)
    np.save(tmp_path / "X.npy", X)
    return np.load(tmp_path / "X.npy", mmap_mode=mode)


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_a_map_stays_one(mode, tmp_path):
    X = write(tmp_path, mode)
    data = ar.Dataset(X, np.arange(ROWS) % 2, np.arange(ROWS) // 10)
    assert is_mapped(data.X)
    assert np.shares_memory(data.X, X)
    assert is_mapped(data.select([1, 2]).X)
    assert is_mapped(data.between(2, 5).X)
    assert not is_mapped(data.select([1, 3]).X)
    assert not is_mapped(np.array(X))


def test_copies_that_do_not_fit_are_refused(tmp_path, monkeypatch):
    X, y, qid = write(tmp_path, "r"), np.arange(ROWS) % 2, np.arange(ROWS) // 10
    data = ar.Dataset(X, y, qid)
    monkeypatch.setenv("ARGRANK_MAX_MEMORY", "300B")
    assert data.select([2]).n_queries == 1
    with pytest.raises(InputError, match=r"select: expected at most 300 bytes.*take adjacent queries"):
        data.select([0, 2])
    with pytest.raises(InputError, match=r"not adjacent.*ar\.pack"):
        ar.Dataset(X, y, np.arange(ROWS) % QUERIES)
    with pytest.raises(InputError, match="normalise within queries when packing"):
        ar.normalise(data, "standard")


def test_views_of_rows_share_memory():
    X = sparse.random(50, 20, 0.2, "csr", random_state=0)
    view = row_view(X, slice(10, 31))
    assert np.shares_memory(view.data, X.data)
    assert np.shares_memory(view.indices, X.indices)
    assert np.array_equal(view.toarray(), X.toarray()[10:31])
