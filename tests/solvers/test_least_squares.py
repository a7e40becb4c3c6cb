from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from argrank.errors import OptionError
from argrank.solvers import least_squares
from argrank.solvers.least_squares import solve

RNG = np.random.default_rng(0)
X = RNG.standard_normal((500, 12)) * 10.0 ** RNG.integers(-3, 4, 12) + 5.0
Y = RNG.integers(0, 5, 500).astype(float)
WEIGHT = RNG.random(500)


def reference(X, y, ridge=0.0, weight=None):
    """Minimum norm by NumPy on the centred table as a whole; ridge as rows of their own."""
    weight = np.ones(len(y)) if weight is None else weight
    centred, target = X - np.average(X, axis=0, weights=weight), y - np.average(y, weights=weight)
    root = np.sqrt(weight)
    table = np.vstack([centred * root[:, None], np.sqrt(ridge) * np.eye(X.shape[1])])
    return np.linalg.lstsq(table, np.concatenate([target * root, np.zeros(X.shape[1])]), rcond=1e-12)[0]


@pytest.fixture(autouse=True)
def several_blocks(monkeypatch):
    monkeypatch.setattr(least_squares, "_blocks", lambda X: [slice(a, a + 70) for a in range(0, X.shape[0], 70)])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("ridge", [0.0, 3.0])
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_it_agrees_with_numpy(kind, ridge, weight):
    fit = solve(kind(X), Y, ridge, weight)
    np.testing.assert_allclose(fit.w, reference(X, Y, ridge, weight), rtol=1e-8, atol=1e-12)
    counted = np.ones(500) if weight is None else weight
    errors = X @ fit.w + fit.intercept - Y
    assert (counted * errors).sum() == pytest.approx(0, abs=1e-7)  # what fitting the intercept means
    assert fit.objective == pytest.approx((counted * errors**2).sum() + ridge * fit.w @ fit.w, rel=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_constant_and_repeated_columns_get_the_solution_of_minimum_norm(dtype):
    table = np.column_stack([X[:, :3], X[:, 0], np.full(500, 0.1), np.zeros(500)]).astype(dtype)
    fit = solve(table, Y)
    assert fit.rank == 3
    assert fit.w[0] == pytest.approx(fit.w[3], rel=1e-6)
    np.testing.assert_allclose(fit.w[4:], 0.0, atol=1e-12)
    np.testing.assert_allclose(fit.w, reference(table.astype(float), Y), rtol=1e-6, atol=1e-10)


def test_small_columns_are_not_taken_for_missing_ones():
    """The normal equations would lose a column 1e-9 the size of another; QR does not."""
    table = np.column_stack([RNG.standard_normal(500), 1e-9 * RNG.standard_normal(500)])
    fit = solve(table, table @ [1.0, 1e9])
    assert fit.rank == 2
    np.testing.assert_allclose(fit.w, [1.0, 1e9], rtol=1e-5)


def test_fewer_rows_than_columns():
    fit = solve(X[:5], Y[:5])
    np.testing.assert_allclose(fit.w, reference(X[:5], Y[:5]), rtol=1e-7, atol=1e-12)
    assert fit.objective == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_sparse_features_with_many_columns_go_through_lsmr(ridge, monkeypatch):
    table = sparse.random(300, 40, density=0.2, random_state=1, format="csr")
    by_factors = solve(table, Y[:300], ridge, WEIGHT[:300])
    monkeypatch.setattr(least_squares, "MOST_COLUMNS", 10)
    by_iteration = solve(table, Y[:300], ridge, WEIGHT[:300])
    assert (by_factors.rank, by_iteration.rank) == (40, None)
    np.testing.assert_allclose(by_iteration.w, by_factors.w, rtol=1e-6, atol=1e-8)
    assert by_iteration.objective == pytest.approx(by_factors.objective, rel=1e-9)
    assert by_iteration.intercept == pytest.approx(by_factors.intercept, rel=1e-6)


def test_any_number_of_threads_gives_the_same_bits():
    assert solve(X, Y, n_jobs=1).w.tobytes() == solve(X, Y, n_jobs=2).w.tobytes()


@pytest.mark.parametrize("ridge", [-1.0, np.nan, np.inf])
def test_only_a_ridge_from_zero_up_is_accepted(ridge):
    with pytest.raises(OptionError, match="ridge: expected a number >= 0"):
        solve(X, Y, ridge)
