from __future__ import annotations

import numpy as np
import pytest

from argrank.solvers.planes import solve_simplex


def problem(n_planes, n_features, scale, seed):
    """Planes below a risk, as a bundle method gathers them: nearly parallel, more of them than features."""
    random = np.random.default_rng(seed)
    gradients = random.standard_normal(n_features) + 0.1 * random.standard_normal((n_planes, n_features))
    return scale * gradients @ gradients.T, random.uniform(0, 1, n_planes)


def shortfall(H, offsets, a, total):
    """Return a bound of what the value at ``a`` lacks (the gap of Frank and Wolfe)."""
    slope = offsets - H @ a
    return total * slope.max() - a @ slope


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4, 1e8])
@pytest.mark.parametrize(("n_planes", "n_features"), [(1, 3), (2, 3), (30, 10), (150, 40)])
@pytest.mark.parametrize("total", [1.0, 0.02])
def test_the_maximiser_is_found_whatever_the_scale(scale, n_planes, n_features, total):
    H, offsets = problem(n_planes, n_features, scale, seed=n_planes)
    start = np.zeros(n_planes)
    start[0] = total
    tolerance = 1e-6 * total
    a = solve_simplex(H, offsets, start, tolerance, total)
    assert (a >= 0).all()
    assert a.sum() == pytest.approx(total, rel=1e-12)
    assert shortfall(H, offsets, a, total) <= tolerance
    assert start[0] == total, "the start is the caller's"


def test_planes_given_twice_and_flat_ones_do_no_harm():
    H, offsets = problem(20, 5, 1e4, seed=3)
    twice = np.tile(H, (2, 2))
    padded = np.zeros((41, 41))
    padded[:40, :40] = twice
    offsets = np.concatenate([offsets, offsets, [0.0]])
    start = np.zeros(41)
    start[-1] = 1.0
    a = solve_simplex(padded, offsets, start, 1e-9)
    assert shortfall(padded, offsets, a, 1.0) <= 1e-9
