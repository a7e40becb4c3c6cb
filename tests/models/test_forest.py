"""Forests that are built node by node."""

from __future__ import annotations

import numpy as np

from argrank.models.forest import Builder


def test_trees_of_a_single_leaf():
    builder = Builder()
    builder.roots += [builder.leaf(0.25), builder.leaf(0.5)]
    assert builder.forest().sums(np.zeros((2, 3)), np.float64).tolist() == [0.75, 0.75]
