"""The optimum of ``experiments.kdd2008.facts`` is that of all rankings, and Fact 3.4 misses it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from experiments.kdd2008.facts import DISCOUNTS, each_alone, gains, one_after_the_other, optimum, value


def best_hinge(scores, n_good, discount):
    """Return loss plus score of the worst of all rankings, less that of the ideal one."""
    n = len(scores)
    good = np.arange(n) < n_good

    def violation(order):
        pairs = sum(scores[i] - scores[j] for i, j in itertools.combinations(order, 2) if good[i] != good[j])
        return 1 - discount[good[list(order)]].sum() / discount[:n_good].sum() + pairs / (n_good * (n - n_good))

    ideal = sorted(range(n), key=lambda i: (not good[i], -scores[i]))
    return max(violation(order) for order in itertools.permutations(range(n))) - violation(ideal)


@pytest.mark.parametrize("name", DISCOUNTS)
def test_the_optimum_is_that_of_all_rankings(name):
    rng = np.random.default_rng(1)
    for _ in range(20):
        n = int(rng.integers(2, 6))
        n_good = int(rng.integers(1, n))
        scores, discount = 0.3 * rng.standard_normal(n), DISCOUNTS[name](n)
        table = gains(np.sort(scores[:n_good])[::-1], np.sort(scores[n_good:])[::-1], discount)
        assert optimum(table) - table[:, 0].sum() == pytest.approx(best_hinge(scores, n_good, discount), abs=1e-9)


def test_good_documents_cannot_choose_one_by_one_with_the_papers_discount():
    table = gains(np.array([0.01, -0.05, -0.12]), np.array([-0.25]), DISCOUNTS["the paper's"](4))
    assert list(each_alone(table)) == list(one_after_the_other(table)) == [0, 1, 1]
    assert value(table, each_alone(table)) < optimum(table) - 0.02
