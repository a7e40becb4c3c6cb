"""The planes below a risk, when a linear function is added to it."""

from __future__ import annotations

import numpy as np
import pytest

from argrank.solvers.planes import FreePlanes, SquaredPlanes
from argrank.solvers.regularisers import Squared


@pytest.mark.parametrize("kind", [FreePlanes, SquaredPlanes])
def test_tilted_planes_are_those_of_the_tilted_risk(kind):
    rng = np.random.default_rng(0)
    gradients, offsets, slope, height = rng.normal(size=(6, 4)), rng.normal(size=6), rng.normal(size=4), 0.7
    tilted, fresh = kind(4, 2.0, Squared()), kind(4, 2.0, Squared())
    for gradient, offset in zip(gradients, offsets, strict=True):
        tilted.add(gradient, offset)
        fresh.add(gradient + slope, offset + height)
    tilted.minimise(1e-10)  # weights of before must not matter
    tilted.tilt(slope, height)
    (point, bound), (other, same) = tilted.minimise(1e-10), fresh.minimise(1e-10)
    np.testing.assert_allclose(point, other, atol=1e-6)
    assert bound == pytest.approx(same, abs=1e-9)
    heights = [0.0, *((gradients + slope) @ point + offsets + height)]
    assert bound == pytest.approx(max(heights) + point @ point / 4, abs=1e-6)  # |v|² / (2C), and the constant 0
