from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from argrank import Dataset, objective
from argrank.engines.local import LocalRisk
from argrank.measures.structure import level_numbers


def by_pairs(scores, labels, indptr, direction):
    """Loss, gradient and Hessian product from the definition, one pair at a time."""
    loss, gradient, product = 0.0, np.zeros(len(scores)), np.zeros(len(scores))
    for a, b in itertools.pairwise(indptr):
        for i in range(a, b):
            for j in range(a, b):
                hinge = 1 - (scores[i] - scores[j])
                if labels[i] > labels[j] and hinge > 0:
                    loss += hinge**2
                    gradient[i] -= 2 * hinge
                    gradient[j] += 2 * hinge
                    product[i] += 2 * (direction[i] - direction[j])
                    product[j] -= 2 * (direction[i] - direction[j])
    return loss, gradient, product


@given(
    sizes=st.lists(st.integers(1, 15), min_size=1, max_size=6),
    n_levels=st.sampled_from([1, 2, 3, 5, 1000]),
    scale=st.sampled_from([1e-3, 1.0, 30.0, 1e6, 1e12]),
    decimals=st.sampled_from([0, 1, 12]),
    seed=st.integers(0, 10_000),
)
@example(sizes=[1, 6, 9], n_levels=2, scale=1.0, decimals=1, seed=544)  # a pair at the margin, up to rounding
@settings(max_examples=60)
def test_it_equals_the_sum_over_pairs(sizes, n_levels, scale, decimals, seed):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    labels, direction = rng.integers(0, n_levels, n) / 2, rng.standard_normal(n)
    scores = scale * np.round(rng.standard_normal(n), decimals)  # few decimals: ties, and pairs exactly at the margin
    data = Dataset(np.eye(n), labels, group=sizes)
    loss, gradient, product = by_pairs(scores, labels, data.indptr, direction)
    value, slope = objective("rank-svm")(scores, data)
    n_pairs = max(1, sum(int((part[:, None] > part).sum()) for part in np.split(labels, data.indptr[1:-1])))
    assert n_pairs * value == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(n_pairs * slope, gradient, rtol=1e-12, atol=1e-12 * np.abs(gradient).max(initial=0))
    risk = LocalRisk(data, objective("rank-svm"))
    risk.value_and_gradient(scores)
    np.testing.assert_allclose(
        n_pairs * risk.hessian_product(direction), product, rtol=1e-10, atol=1e-12 * max(1, np.abs(product).max())
    )


def test_small_losses_survive_large_scores():
    """One violated pair among well separated scores: sums of squares would lose it to cancellation."""
    scores = np.array([1e8, 1e8 - 0.5, 0.0, -1e8])
    data = Dataset(np.eye(4), [1.0, 0.0, 0.0, 0.0], group=[4])
    assert objective("rank-svm")(scores, data)[0] == 0.25 / 3


def test_given_preferences_replace_the_labels():
    rng = np.random.default_rng(0)
    n, sizes = 30, [10, 1, 12, 7]
    labels, scores, direction = rng.integers(0, 3, n).astype(float), rng.standard_normal(n), rng.standard_normal(n)
    graded = Dataset(np.eye(n), labels, group=sizes)
    pairs = [
        (i, j)
        for a, b in zip(graded.indptr[:-1], graded.indptr[1:], strict=True)
        for i in range(a, b)
        for j in range(a, b)
        if labels[i] > labels[j]
    ]
    rng.shuffle(pairs)
    paired = Dataset(np.eye(n), group=sizes, preferences=pairs)
    one, other = LocalRisk(graded, objective("rank-svm")), LocalRisk(paired, objective("rank-svm"))
    for (value, gradient), (same, alike) in [(one.value_and_gradient(scores), other.value_and_gradient(scores))]:
        assert same == pytest.approx(value, rel=1e-13)
        np.testing.assert_allclose(alike, gradient, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(one.hessian_product(direction), other.hessian_product(direction), rtol=1e-12, atol=1e-13)


def test_a_pairs_weight_counts_it_so_often():
    scores = np.array([0.2, 0.5, -0.3])
    weighted = Dataset(np.eye(3), group=[3], preferences=[(0, 1, 2.0), (2, 0, 0.5)])
    value, gradient = objective("rank-svm")(scores, weighted)
    assert 2.5 * value == pytest.approx(2 * 1.3**2 + 0.5 * 1.5**2)
    np.testing.assert_allclose(2.5 * gradient, [-2 * 2 * 1.3 + 2 * 0.5 * 1.5, 2 * 2 * 1.3, -2 * 0.5 * 1.5])


def test_levels_are_counted_within_the_query():
    labels = np.array([0.5, 7.0, 0.5, 3.0, 3.0, 1.0])
    assert level_numbers(labels, np.array([0, 3, 6])).tolist() == [0, 1, 0, 1, 1, 0]


@pytest.mark.parametrize("loss", ["squared", "hinge"])
@pytest.mark.parametrize("n_levels", [2, 4, 1000])
def test_pairs_weigh_the_product_of_their_rows(loss, n_levels):
    """Against the sum over pairs one by one, and against rows that are there as often as they weigh."""
    rng = np.random.default_rng(n_levels)
    sizes = [9, 1, 14, 6]
    n = sum(sizes)
    labels, scores = rng.integers(0, n_levels, n).astype(float), np.round(rng.standard_normal(n), 1)
    weight, direction = rng.integers(1, 4, n).astype(float), rng.standard_normal(n)
    data = Dataset(np.eye(n), labels, group=sizes, sample_weight=weight)
    pairs = [
        (i, j)
        for a, b in itertools.pairwise(data.indptr)
        for i in range(a, b)
        for j in range(a, b)
        if labels[i] > labels[j]
    ]
    power, total = 2 if loss == "squared" else 1, sum(weight[i] * weight[j] for i, j in pairs)
    expected, slope, product = 0.0, np.zeros(n), np.zeros(n)
    for i, j in pairs:
        hinge, own = 1 - (scores[i] - scores[j]), weight[i] * weight[j] / total
        if hinge > 0:
            expected += own * hinge**power
            slope[[i, j]] += np.array([-1, 1]) * own * power * hinge ** (power - 1)
            product[[i, j]] += np.array([1, -1]) * own * 2 * (direction[i] - direction[j])
    chosen = objective("rank-svm", loss=loss)
    value, gradient = chosen(scores, data)
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(gradient, slope, atol=1e-14)
    if loss == "squared":
        risk = LocalRisk(data, chosen)
        risk.value_and_gradient(scores)
        np.testing.assert_allclose(risk.hessian_product(direction), product, atol=1e-13)
    times = np.repeat(np.arange(n), weight.astype(int))
    several = Dataset(np.eye(n)[times], labels[times], qid=np.repeat(np.arange(4), sizes)[times])
    assert chosen(scores[times], several)[0] == pytest.approx(value, rel=1e-12)
    rows = np.array(pairs)
    given = Dataset(np.eye(n), labels, group=sizes, sample_weight=weight, preferences=rows)
    assert chosen(scores, given)[0] == pytest.approx(value, rel=1e-12)


def test_equal_row_weights_change_nothing():
    equal = Dataset(np.eye(2), [1, 0], group=[2], sample_weight=[2.0, 2.0])
    assert objective("rank-svm")([0.0, 0.0], equal)[0] == 1.0
