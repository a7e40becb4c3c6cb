from __future__ import annotations

import numpy as np
import pytest

from argrank import Dataset, objective
from argrank.errors import OptionError
from argrank.objectives.structured.pairs.auc import independent_pairs, of_levels, pairs_of_two_levels


@pytest.mark.parametrize("n_levels", [2, 3, 7, 1000])
@pytest.mark.parametrize("scale", ["pairs", None])
def test_it_is_the_mean_pairwise_hinge(n_levels, scale):
    rng = np.random.default_rng(n_levels)
    for size in (0.0, 0.2, 2.0, 30.0):
        y = rng.integers(0, n_levels, 40) / 2
        scores = np.round(size * rng.standard_normal(40), 1)  # ties, and pairs exactly at the margin
        i, j = np.nonzero(y[:, None] > y[None, :])
        n_pairs = len(i)
        unit = n_pairs if scale is None else 1  # the map is n_pairs times as large
        hinges = np.maximum(0, 1 - 2 * unit * (scores[i] - scores[j]))
        value, u = objective("svm-auc", scale=scale)(scores, Dataset(np.eye(40), y, group=[40]))
        assert value == pytest.approx(hinges.mean(), rel=1e-12, abs=1e-12)
        margins = np.maximum(0, y[i] - y[j] - 2 * unit * (scores[i] - scores[j]))
        by_label, _ = objective("svm-auc", margin="labels", scale=scale)(scores, Dataset(np.eye(40), y, group=[40]))
        assert by_label == pytest.approx(margins.mean(), rel=1e-12, abs=1e-12)
        assert u.sum() == pytest.approx(0, abs=1e-12)


def test_unknown_margins_are_refused():
    with pytest.raises(OptionError, match="margin: expected 'unit' or 'labels', got 'wide'"):
        objective("svm-auc", margin="wide")


def test_two_levels_have_a_kernel_of_their_own_that_agrees():
    rng, constants = np.random.default_rng(0), np.ones(1)
    for number in range(300):
        n = int(rng.integers(1, 12))
        scores = (rng.standard_normal(n), rng.integers(0, 3, n) / 2.0, np.zeros(n))[number % 3]
        levels = rng.integers(0, 2, n).astype(float)
        levels -= levels.min()
        assert of_levels(np.array([0, n]), levels, constants).kernel is pairs_of_two_levels
        gradients = np.full((2, n), 9.0)
        losses = [
            kernel(scores, np.argsort(-scores), levels, constants, gradient)
            for kernel, gradient in zip((pairs_of_two_levels, independent_pairs), gradients, strict=True)
        ]
        assert losses[0] == pytest.approx(losses[1], abs=1e-12)
        np.testing.assert_array_equal(*gradients)
    assert of_levels(np.array([0, 3]), np.arange(3.0), constants).kernel is independent_pairs
