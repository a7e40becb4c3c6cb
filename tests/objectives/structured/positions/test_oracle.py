from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from argrank import Dataset, objective
from argrank.errors import InputError, OptionError
from argrank.objectives.structured.best_first import position_counts
from argrank.objectives.structured.positions.assignment import position_assignment


def by_scipy(scores, gains, decay, worth):
    value = np.outer(decay, scores) - np.outer(worth, gains)
    return value[linear_sum_assignment(value, maximize=True)].sum()


def problem(rng, n, n_levels, scale):
    gains = 2.0 ** rng.integers(0, n_levels, n) - 1
    gains /= max(gains.max(), 1)
    return scale * (rng.standard_normal(n) + gains), gains


@pytest.mark.parametrize("n_levels", [2, 3, 5])
@pytest.mark.parametrize("k", [1, 4, 10, 40])
def test_each_route_equals_the_assignment_over_all_ranks(k, n_levels):
    rng = np.random.default_rng(k)
    n = 40
    worth = np.where(np.arange(n) < k, 1 / np.log2(np.arange(n) + 2), 0)
    decays = {
        "smooth": 1 / np.sqrt(1 + np.arange(n)),
        "cut": np.maximum(k - np.arange(n), 0.0),
        "negative": 1.0 - 0.1 * np.arange(n),
    }
    for scale in (0.0, 0.05, 0.5, 5.0):
        scores, gains = problem(rng, n, n_levels, scale)
        order = np.argsort(-scores)
        for name, decay in decays.items():
            expected = by_scipy(scores, gains, decay, worth)
            routes = [(position_counts, k), (position_assignment, k if name == "cut" else n)]
            if n_levels == 5 and k == 40:
                routes = routes[1:]  # too many states
            for kernel, depth in routes:
                constants = np.concatenate(([depth, n], decay, worth[:depth]))
                u = np.empty(n)
                value = kernel(scores, order, gains, constants, u)
                assert value == pytest.approx(expected, rel=1e-11, abs=1e-11)
                np.testing.assert_allclose(np.sort(u), np.sort(decay))  # the decay of every rank, once
                ranking = np.argsort(-u, kind="stable") if name != "cut" else None
                if ranking is not None:
                    assert decay @ scores[ranking] - worth @ gains[ranking] == pytest.approx(value, abs=1e-11)


def test_the_measures_own_decay_is_one_sort():
    rng = np.random.default_rng(1)
    scores, y = rng.standard_normal(30), rng.integers(0, 5, 30).astype(float)
    data = Dataset(np.eye(30), y, group=[30])
    hinge = objective("dorm", bound="convex", decay="measure")
    worth, gains = hinge.discounts(30), hinge.gains(data)
    value, u = hinge(scores, data)
    best = by_scipy(scores, gains, worth, worth)
    reference = np.zeros(30)
    for level in np.unique(y):
        rows = np.flatnonzero(y == level)
        ranks = np.flatnonzero(np.sort(y)[::-1] == level)
        reference[rows] = worth[ranks].mean()
    assert value == pytest.approx(1 + best - reference @ scores, rel=1e-12)
    assert u.sum() == pytest.approx(0, abs=1e-12)


def test_average_precision_points_to_svm_map():
    with pytest.raises(OptionError, match=r"dorm: no exact oracle for AP@10 .* 'pairs' have one"):
        objective("dorm", measure="map")


def test_the_reciprocal_rank_needs_single_relevant_documents():
    data = Dataset(np.eye(5), [1, 0, 0, 1, 1], qid=["a", "a", "a", "b", "b"])
    with pytest.raises(InputError, match=r"at most one relevant document per query.*got 2 in query b; use svm-mrr"):
        objective("dorm", measure="mrr").prepare(data)


@pytest.mark.parametrize(
    ("decay", "message"),
    [
        ("quadratic", "unknown decay 'quadratic'"),
        (-1.0, "expected decay .* d >= 0"),
        ([1.0, 2.0], "never rise"),
        ([1.0, np.nan], "finite numbers"),
        ([1.0, -1.0], "for all 5 ranks of the longest query"),
        ([[1.0]], "decay vector"),
    ],
)
def test_unusable_decays_are_refused(decay, message):
    data = Dataset(np.eye(5), [1, 0, 0, 1, 0], group=[5])
    with pytest.raises(OptionError, match=message):
        objective("dorm", decay=decay).prepare(data)


def test_a_decay_needs_the_positions_map():
    with pytest.raises(OptionError, match="expected feature_map='positions' for decay='sqrt'"):
        dataclasses.replace(objective("svm-ndcg"), decay="sqrt")


def test_the_averaged_reference_forgets_the_order_of_rows():
    rng = np.random.default_rng(2)
    y, scores = rng.integers(0, 3, 20).astype(float), rng.standard_normal(20)
    mix = rng.permutation(20)
    value, u = objective("dorm", bound="convex")(scores, Dataset(np.eye(20), y, group=[20]))
    mixed, mixed_u = objective("dorm", bound="convex")(scores[mix], Dataset(np.eye(20), y[mix], group=[20]))
    assert mixed == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(mixed_u, u[mix], atol=1e-13)
