"""The directions along which weights are searched."""

from __future__ import annotations

import numpy as np
import pytest

from argrank.trials.fusion.climb import MOST_PAIRS, Limits


def limits(n: int, low: float = -np.inf, high: float = np.inf) -> Limits:
    return Limits(np.full(n, low), np.full(n, high), np.full(n, np.nan))


@pytest.mark.parametrize(("n", "n_pairs"), [(3, 3), (20, MOST_PAIRS // 2)])
def test_single_weights_come_first_then_a_limited_number_of_pairs(n, n_pairs):
    spread = np.arange(1.0, n + 1)
    found = np.array(list(limits(n).directions(np.full(n, 1 / n), spread, np.random.default_rng(0))))
    np.testing.assert_array_equal(found[:n], np.diag(1 / spread))
    pairs = found[n:]
    assert len(pairs) == 2 * n_pairs  # sum and difference
    assert ((pairs != 0).sum(axis=1) == 2).all()
    assert len({tuple(np.flatnonzero(row)) for row in pairs}) == n_pairs


def test_along_shares_the_magnitudes_still_add_up_to_one():
    weights, bounded = np.array([0.25, -0.5, 0.25]), limits(3, -0.9, 0.9)
    found = list(bounded.directions(weights, np.ones(3), np.random.default_rng(0)))
    assert len(found) == 3 + 3  # no weight is 0, so each keeps its sign
    for direction in found:
        low, high = bounded.window(weights, direction)
        assert low < 0 < high
        for step in (0.5 * low, 0.5 * high):
            assert np.abs(weights + step * direction).sum() == pytest.approx(1)
    both_signs = list(bounded.directions(np.array([0.5, 0.5, 0.0]), np.ones(3), np.random.default_rng(0)))
    assert len(both_signs) == 4 + 5
