"""The dual of all queries at once, against a general solver and at its borders."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from argrank.solvers import block_qp


@dataclass
class Query:
    gradients: np.ndarray
    offsets: np.ndarray
    weights: np.ndarray


def queries(seed, sizes, n_features):
    """Return queries whose first plane is the constant 0, with all weight on it."""
    random = np.random.default_rng(seed)
    found = []
    for size in sizes:
        gradients, offsets = random.normal(size=(size, n_features)), random.random(size)
        gradients[0], offsets[0] = 0.0, 0.0
        weights = np.zeros(size)
        weights[0] = random.random()
        found.append(Query(gradients, offsets, weights))
    return found


def dual(found, C):
    pull = np.sum([query.weights @ query.gradients for query in found], axis=0)
    return sum(query.weights @ query.offsets for query in found) - 0.5 * C * pull @ pull


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("sizes", [(3, 1, 5), (2, 2, 2, 2, 9), (6,)])
def test_a_general_solver_finds_nothing_better(sizes, C):
    found = queries(1, sizes, 3)
    gradients = np.vstack([query.gradients for query in found])
    offsets = np.concatenate([query.offsets for query in found])
    start = np.concatenate([query.weights for query in found])
    belongs = np.repeat(np.eye(len(sizes)), sizes, axis=1)
    shares = belongs @ start
    block_qp.reweigh(found, C, 1e-9)
    truth = minimize(
        lambda a: 0.5 * C * np.sum((a @ gradients) ** 2) - a @ offsets,
        start,
        jac=lambda a: C * gradients @ (a @ gradients) - offsets,
        bounds=[(0, None)] * len(start),
        constraints=LinearConstraint(belongs, shares, shares),
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert dual(found, C) == pytest.approx(-truth.fun, abs=1e-8)
    assert min(query.weights.min() for query in found) >= 0
    np.testing.assert_allclose([query.weights.sum() for query in found], shares)


def test_equal_planes_and_queries_without_weight_do_no_harm():
    found = queries(2, (4, 4, 3), 2)
    found[0].gradients[2], found[0].offsets[2] = found[0].gradients[1], found[0].offsets[1]
    found[1].weights[:] = 0.0
    before = dual(found, 10.0)
    block_qp.reweigh(found, 10.0, 1e-6)
    assert dual(found, 10.0) >= before
    assert not found[1].weights.any()


def test_better_weights_stay():
    found = queries(3, (5, 5), 3)
    block_qp.reweigh(found, 1.0, 1e-12)
    known = [query.weights for query in found]
    block_qp.reweigh(found, 1.0, 10.0)
    assert all(query.weights is weights for query, weights in zip(found, known, strict=True))
