"""Normalisers over all data, applied by the engine to mapped features without a copy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import argrank as ar
from argrank.data.mapped import is_mapped
from argrank.data.prepare.normalise import normaliser
from argrank.data.prepare.scaled_rows import ScaledRows
from argrank.engines import make_risk
from argrank.errors import OptionError

HOW = ("standard", "minmax")


@pytest.fixture(params=["float64", "float32", "sparse"])
def pair(request, tmp_path):
    """The same data in memory and mapped: columns of all scales, a constant one, one of zeros."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 30, 40)
    X = rng.normal(size=(sizes.sum(), 6)) * [1, 1e3, 1e-3, 1, 0, 2] + [5, -300, 0, 0, 7, 1]
    X[:, 3] = 0
    y = rng.integers(0, 4, len(X))
    if request.param == "sparse":
        X = sparse.csr_matrix(np.where(rng.random(X.shape) < 0.5, X, 0))
    else:
        X = X.astype(request.param)
    data = ar.Dataset(X, y, group=sizes)
    ar.pack(data, tmp_path / "a.pack")
    return data, ar.load(tmp_path / "a.pack")


@pytest.mark.parametrize("how", HOW)
def test_statistics_of_rows_are_those_of_columns(how, pair):
    memory, mapped = (normaliser(how).fit(data) for data in pair)
    assert np.allclose(memory.shift, mapped.shift, rtol=1e-12, atol=1e-12)
    assert np.allclose(memory.scale, mapped.scale, rtol=1e-10, atol=1e-12)


def test_missing_values_are_left_out(tmp_path):
    X = np.random.default_rng(0).random((50, 3))
    X[X < 0.3] = np.nan
    X[:, 2] = np.nan
    np.save(tmp_path / "X.npy", X)
    stored = sparse.csr_matrix(np.nan_to_num(X, nan=0.0))
    stored.data[::3] = np.nan
    ar.pack(ar.Dataset(stored, np.zeros(50), group=[50]), tmp_path / "a.pack")
    maps = (ar.Dataset(np.load(tmp_path / "X.npy", mmap_mode="r"), group=[50]), ar.load(tmp_path / "a.pack"))
    for memory, mapped in zip((ar.Dataset(X, group=[50]), ar.Dataset(stored, group=[50])), maps, strict=True):
        for how in HOW:
            one, other = normaliser(how).fit(memory), normaliser(how).fit(mapped)
            assert np.allclose(one.shift, other.shift, rtol=1e-12)
            assert np.allclose(one.scale, other.scale, rtol=1e-10)


@pytest.mark.parametrize("how", HOW)
def test_products_are_those_of_scaled_features(how, pair):
    memory, mapped = pair
    scaling = normaliser(how).fit(memory)
    scaled, lazy = scaling.transform(memory), scaling.prepare(mapped)
    assert isinstance(lazy.X, ScaledRows)
    assert is_mapped(lazy.X)
    single = memory.X.dtype == np.float32
    plain = np.asarray(scaled.X.toarray() if scaled.is_sparse else scaled.X)
    assert np.array_equal(np.asarray(lazy.X), plain)
    assert np.array_equal(lazy.X[np.array([3, 1])], plain[[3, 1]])
    w = np.random.default_rng(0).normal(size=6)
    assert np.allclose(lazy.X @ w, plain.astype(np.float64) @ w, atol=1e-4 if single else 1e-10)
    both = [make_risk(data, ar.objective("rank-svm")) for data in (scaled, lazy)]
    values, gradients = zip(*(risk.value_and_gradient(w) for risk in both), strict=True)
    curves = [risk.hessian_product(np.arange(6.0)) for risk in both]
    tolerance = 1e-5 if single else 1e-10
    assert values[0] == pytest.approx(values[1], rel=tolerance)
    assert np.allclose(gradients[0], gradients[1], rtol=tolerance, atol=tolerance)
    assert np.allclose(curves[0], curves[1], rtol=10 * tolerance, atol=tolerance)
    one, other = (risk.query(5, w) for risk in both)
    assert np.allclose(one[1], other[1], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("how", HOW)
def test_gradients_are_slopes(how, pair):
    lazy = normaliser(how).fit(pair[1]).prepare(pair[1])
    risk = make_risk(lazy, ar.objective("rank-svm"))
    rng = np.random.default_rng(1)
    w, direction = rng.normal(size=6), rng.normal(size=6)
    _, gradient = risk.value_and_gradient(w)
    above, below = (risk.value_and_gradient(w + step * direction)[0] for step in (1e-6, -1e-6))
    assert gradient @ direction == pytest.approx((above - below) / 2e-6, rel=1e-6)
    u = rng.normal(size=lazy.n_documents)
    assert risk.pull_back(u) @ w == pytest.approx(u @ risk.scores(w), rel=1e-9)


@pytest.mark.parametrize("name", ["rank-svm", "svm-map", "regression", "lambdarank"])
def test_rankers_scale_without_a_copy(name, pair):
    memory, mapped = pair
    options = {"ridge": 1.0} if name == "regression" else {}
    expected = ar.make_ranker(name, normalise="standard", **options).fit(memory, eval_set=memory)
    found = ar.make_ranker(name, normalise="standard", **options).fit(mapped, eval_set=mapped)
    tolerance = 2e-3 if memory.X.dtype == np.float32 or name in ("svm-map", "lambdarank") else 1e-5
    assert found.objective_ == pytest.approx(expected.objective_, rel=tolerance)
    assert found.score(mapped) == pytest.approx(expected.score(memory), abs=0.02)
    assert np.allclose(found.predict(mapped), found.predict(memory), atol=1e-6)


def test_normalisers_within_queries_belong_into_the_pack(pair, tmp_path):
    memory, mapped = pair
    with pytest.raises(OptionError, match="--normalise query-minmax"):
        ar.make_ranker("rank-svm", normalise="query-minmax").fit(mapped)
    if memory.is_sparse:
        return
    ar.pack(memory, tmp_path / "n.pack", normalise="query-minmax")
    packed = ar.load(tmp_path / "n.pack")
    expected = ar.make_ranker("rank-svm", normalise="query-minmax").fit(memory)
    found = ar.make_ranker("rank-svm", normalise="query-minmax").fit(packed)
    assert np.array_equal(found.coef_, expected.coef_)
    assert found.model_.normaliser.name == "query-minmax"
    assert np.array_equal(found.predict(packed), expected.predict(memory))  # not normalised a second time
    with pytest.raises(OptionError, match="--normalise query-sum"):
        ar.make_ranker("rank-svm", normalise="query-sum").fit(packed)
