from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

import argrank as ar
from argrank.data.io.pack.loader import Pack, load_part

N_QUERIES, SIZE = 12, 7


def make(kind="dense", dtype=np.float64, **options) -> ar.Dataset:
    rng = np.random.default_rng(1)
    n_rows = N_QUERIES * SIZE
    X = rng.random((n_rows, 5)).astype(dtype)
    if kind == "sparse":
        X = sparse.csr_matrix(np.where(X > 0.6, X, 0))
    qid = options.pop("qid", np.repeat(np.arange(N_QUERIES), SIZE))
    return ar.Dataset(X, options.pop("y", rng.integers(0, 3, n_rows)), qid, **options)


def scattered(n_rows=N_QUERIES * SIZE):
    return np.random.default_rng(2).permutation(np.arange(n_rows) % N_QUERIES)


def same(a: ar.Dataset, b: ar.Dataset) -> bool:
    """Tell whether two Datasets hold the same in every field, apart from texts that a pack leaves out."""
    for name in ("y", "indptr", "query_ids", "rows", "document_ids", "sources", "sample_weight", "query_weight"):
        one, other = getattr(a, name), getattr(b, name)
        if name == "y" and not a.is_judged and not b.is_judged:
            continue  # NaN everywhere
        if (one is None) != (other is None) or (one is not None and one.tolist() != other.tolist()):
            return False
    X, Z = (data.X.toarray() if data.is_sparse else data.X for data in (a, b))
    facts = [(d.feature_names, d.feature_base, d.categories, d.X.dtype, d.is_sparse, d.fingerprint) for d in (a, b)]
    return facts[0] == facts[1] and np.array_equal(X, Z, equal_nan=True)


ROWS = N_QUERIES * SIZE
SETS = {
    "dense": lambda: make(),
    "float32": lambda: make(dtype=np.float32),
    "sparse": lambda: make("sparse"),
    "no labels": lambda: make(y=None),
    "texts as ids": lambda: make(qid=np.repeat([f"käse {i}" for i in range(N_QUERIES)], SIZE).astype(object)),
    "scattered": lambda: make(qid=scattered()),
    "scattered, sparse": lambda: make("sparse", qid=scattered()),
    "one query": lambda: make(qid="single"),
    "one document a query": lambda: make(qid=np.arange(ROWS)),
    "document ids": lambda: make(document_ids=[f"d{i}" for i in range(ROWS)], sources=np.arange(ROWS) % 3),
    "weights": lambda: make(sample_weight=np.arange(ROWS), query_weight=np.arange(N_QUERIES)),
    "names": lambda: make(feature_names=["a", "b", "ü", "d e", '"'], feature_base=0),
    "missing": lambda: ar.Dataset(np.where(np.eye(4) == 1, np.nan, 1.0), [0, 1, 0, 1], [1, 1, 2, 2]),
    "categories": lambda: ar.Dataset(
        np.array([[0.0, 1.0], [1.0, np.nan]]), [0, 1], [1, 1], feature_names=["a", "b"], categories={"b": ["x", "y"]}
    ),
}


@pytest.mark.parametrize("name", SETS)
def test_what_is_packed_comes_back(name, tmp_path):
    data = SETS[name]()
    ar.pack(data, tmp_path / "a.pack")
    found = ar.load(tmp_path / "a.pack", verify="open")
    assert same(found, data)
    assert found._but(rows=None).fingerprint == data.fingerprint  # summed anew, not taken from the description
    assert [path.name for path in tmp_path.iterdir()] == ["a.pack"]


def test_arrays_stay_on_the_disk(tmp_path):
    for kind in ("dense", "sparse"):
        ar.pack(make(kind), tmp_path / kind)
        X = ar.load(tmp_path / kind).X
        assert is_mapped(X.data if kind == "sparse" else X)


def is_mapped(array) -> bool:
    while isinstance(array, np.ndarray) and not isinstance(array, np.memmap):
        array = array.base
    return isinstance(array, np.memmap)


def test_any_run_of_blocks_is_the_same_as_those_queries(tmp_path, monkeypatch):
    monkeypatch.setattr("argrank.data.grouping.BLOCK_ROWS", 20)
    for kind in ("dense", "sparse"):
        data = make(kind, document_ids=np.arange(ROWS), query_weight=np.arange(N_QUERIES))
        ar.pack(data, tmp_path / "a.pack")
        pack = Pack(tmp_path / "a.pack")
        assert pack.n_blocks >= 4
        assert pack.borders[-1] == N_QUERIES
        for first in range(pack.n_blocks):
            for last in range(first + 1, pack.n_blocks + 1):
                queries = np.arange(pack.borders[first], pack.borders[last])
                assert same(load_part(tmp_path / "a.pack", first, last), data.select(queries))


def test_a_pack_is_plain_files(tmp_path):
    data = make(feature_names=list("abcde"))
    ar.pack(data, tmp_path / "a.pack")
    assert np.array_equal(np.load(tmp_path / "a.pack" / "X.npy"), data.X)
    contents = json.loads((tmp_path / "a.pack" / "pack.json").read_text())
    assert (contents["format"], contents["shape"], contents["feature_names"]) == (1, [ROWS, 5], list("abcde"))
