from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse
from tests.contract.test_objectives import names_with_objectives

from argrank import Dataset, objective
from argrank.data import grouping
from argrank.engines.local import LocalRisk
from argrank.errors import InputError, OptionError


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Several blocks on data small enough for a test."""
    monkeypatch.setattr(grouping, "BLOCK_ROWS", 300)
    monkeypatch.setattr(grouping, "SMALL_ROWS", 300)


def make(dtype=np.float64, kind=np.asarray, **options) -> Dataset:
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 60, 50)
    n = int(sizes.sum())
    X = np.where(rng.random((n, 7)) < 0.5, rng.standard_normal((n, 7)), 0.0).astype(dtype)
    return Dataset(kind(X), rng.integers(0, 3, n), group=sizes, **options)


def everything(risk: LocalRisk, w: np.ndarray) -> list[np.ndarray | float]:
    value, gradient = risk.value_and_gradient(w)
    scores = risk.scores(w)
    return [value, gradient, risk.hessian_product(w[::-1]), scores, *risk.at_scores(scores), *risk.query(3, w)]


def same_bits(one: list, other: list) -> bool:
    return all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_any_number_of_threads_gives_the_same_bits(dtype, kind):
    data, w = make(dtype, kind), np.random.default_rng(1).standard_normal(7)
    alone, *others = [everything(LocalRisk(data, objective("rank-svm"), n_jobs), w) for n_jobs in (1, 2, 3, None)]
    assert all(same_bits(alone, other) for other in others)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_every_kind_of_features_gives_the_same_risk(dtype, kind):
    plain, data = make(dtype), make(dtype, kind)
    reference = Dataset(np.asarray(plain.X, np.float64), plain.y, group=plain.sizes)
    w = np.random.default_rng(1).standard_normal(7)
    expected = everything(LocalRisk(reference, objective("rank-svm")), w)
    for one, other in zip(everything(LocalRisk(data, objective("rank-svm")), w), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", names_with_objectives())
def test_the_doors_of_the_risk_agree(name):
    data, w = make(), np.random.default_rng(2).standard_normal(7)
    risk = LocalRisk(data, objective(name))
    value, gradient = risk.value_and_gradient(w)
    scores = risk.scores(w)
    np.testing.assert_allclose(scores, data.X @ w, rtol=1e-12, atol=1e-13)
    at, u = risk.at_scores(scores)
    assert at == value
    np.testing.assert_allclose(data.X.T @ u, gradient, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(risk.pull_back(u), gradient, rtol=1e-10, atol=1e-12)
    parts = [risk.query(q, w) for q in range(risk.n_queries)]
    assert sum(risk.query_shares * [part[0] for part in parts]) == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(risk.query_shares @ [part[1] for part in parts], gradient, rtol=1e-9, atol=1e-12)
    for loss, slope, offset in parts:
        assert slope @ w + offset == pytest.approx(loss, rel=1e-10, abs=1e-10)


def test_query_weights_make_a_weighted_mean():
    sizes = make().sizes
    weight = np.random.default_rng(3).integers(0, 4, len(sizes)).astype(float)
    w = np.ones(7)
    plain, weighted = (LocalRisk(make(**o), objective("rank-svm")) for o in ({}, {"query_weight": weight}))
    parts = [plain.query(q, w) for q in range(plain.n_queries)]
    value, gradient = weighted.value_and_gradient(w)
    n_pairs = 1.0 / weighted.query_shares[weight > 0][0] * weight[weight > 0][0]
    assert n_pairs == pytest.approx(weight @ objective("rank-svm").n_pairs(make()), rel=1e-12)
    assert value == pytest.approx(weight @ [part[0] for part in parts] / n_pairs, rel=1e-12)
    np.testing.assert_allclose(gradient, weight @ [part[1] for part in parts] / n_pairs, rtol=1e-10, atol=1e-12)
    by_query = LocalRisk(make(query_weight=weight), objective("listnet"))
    mean = np.average([by_query.query(q, w)[0] for q in range(by_query.n_queries)], weights=weight)
    assert by_query.value_and_gradient(w)[0] == pytest.approx(mean, rel=1e-12)
    step, direction = 1e-6, np.arange(7.0)
    weighted.value_and_gradient(w)
    product = weighted.hessian_product(direction)
    ahead, behind = (weighted.value_and_gradient(w + s * step * direction)[1] for s in (1, -1))
    np.testing.assert_allclose(product, (ahead - behind) / (2 * step), rtol=1e-4, atol=1e-5)


def test_blocks_cover_every_query_once_whatever_their_sizes():
    for sizes in ([1], [2000], [1, 2000, 1], [299, 2, 299, 300, 301], [1] * 1000):
        borders = grouping.block_borders(np.concatenate(([0], np.cumsum(sizes))))
        assert (borders[0], borders[-1]) == (0, len(sizes))
        assert (np.diff(borders) > 0).all()


def test_results_are_new_arrays_that_later_calls_leave_alone():
    risk = LocalRisk(make(), objective("rank-svm"))
    first = everything(risk, np.ones(7))
    kept = [np.copy(value) for value in first]
    everything(risk, -np.ones(7))
    assert same_bits(first, kept)


def test_hessian_products_belong_to_the_last_evaluation_of_weights():
    risk, v = LocalRisk(make(), objective("rank-svm")), np.arange(7.0)
    with pytest.raises(OptionError, match="value_and_gradient before"):
        risk.hessian_product(v)
    risk.value_and_gradient(np.ones(7))
    product = risk.hessian_product(v)
    risk.at_scores(np.zeros(risk.n_documents))  # a line search in between
    assert np.array_equal(risk.hessian_product(v), product)


def test_passes_and_seconds_are_counted():
    risk = LocalRisk(make(), objective("rank-svm"))
    risk.value_and_gradient(np.ones(7))
    risk.hessian_product(np.ones(7))
    risk.scores(np.ones(7))
    risk.at_scores(np.zeros(risk.n_documents))
    assert risk.n_passes == 2.5
    assert risk.seconds > 0


def test_several_threads_may_use_risks_of_one_dataset_at_once():
    data, w = make(), np.ones(7)
    expected = everything(LocalRisk(data, objective("rank-svm"), 2), w)
    with ThreadPoolExecutor(3) as pool:
        results = list(pool.map(lambda _: everything(LocalRisk(data, objective("rank-svm"), 2), w), range(9)))
    assert all(same_bits(result, expected) for result in results)


def test_missing_and_overflowing_features_are_refused():
    X = np.ones((4, 2))
    X[2, 1] = np.nan
    with pytest.raises(InputError, match="missing values"):
        LocalRisk(Dataset(X, [1, 0, 1, 0], group=[4]), objective("rank-svm")).value_and_gradient(np.zeros(2))
    huge = Dataset(np.full((2, 1), 1e300), [1, 0], group=[2])
    with np.errstate(over="ignore"), pytest.raises(InputError, match="overflow"):
        LocalRisk(huge, objective("rank-svm"), n_jobs=1).value_and_gradient(np.array([1e300]))


def test_arrays_of_the_wrong_length_are_refused():
    risk = LocalRisk(make(), objective("rank-svm"))
    with pytest.raises(InputError, match="w: expected one weight for each of 7 features"):
        risk.value_and_gradient(np.ones(8))
    with pytest.raises(InputError, match="scores: expected one for each of"):
        risk.at_scores(np.ones(3))
    with pytest.raises(OptionError, match="query: expected a number from 0 to 49, got 50"):
        risk.query(50, np.ones(7))


def test_single_precision_products_round_as_double_precision_does():
    rng = np.random.default_rng(5)
    X, w, u = rng.standard_normal((1000, 33)).astype(np.float32), rng.standard_normal(33), rng.standard_normal(1000)
    data = Dataset(X, rng.integers(0, 2, 1000), group=[1000])
    risk, wide = LocalRisk(data, objective("rank-svm")), X.astype(np.float64)
    np.testing.assert_allclose(risk.scores(w), wide @ w, rtol=0, atol=1e-13)
    np.testing.assert_allclose(risk.pull_back(u), wide.T @ u, rtol=0, atol=1e-12)
