from __future__ import annotations

import numpy as np
import pytest

from argrank import Dataset, objective


def test_it_adds_up_squared_errors_times_row_weights():
    scores = np.array([0.5, 2.0, 1.0])
    plain = Dataset(np.eye(3), [1.0, 0.0, 1.0], group=[2, 1])
    value, gradient = objective("regression")(scores, plain)
    assert value == pytest.approx((0.25 + 4.0 + 0.0) / 2)
    np.testing.assert_allclose(gradient, [-0.5, 2.0, 0.0])
    weighted = Dataset(np.eye(3), [1.0, 0.0, 1.0], group=[2, 1], sample_weight=[4.0, 0.5, 1.0])
    value, gradient = objective("regression")(scores, weighted)
    assert value == pytest.approx((4 * 0.25 + 0.5 * 4.0) / 2)
    np.testing.assert_allclose(gradient, [-2.0, 1.0, 0.0])
