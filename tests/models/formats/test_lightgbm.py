"""LightGBM's text, from lines written by hand as its documentation has them."""

from __future__ import annotations

import numpy as np

from argrank.models.formats.lightgbm import read_tree
from argrank.models.trees import TreesModel

NUMERIC = """split_feature=0 1
threshold=0.5 2.5
decision_type=2 8
left_child=1 -1
right_child=-2 -3
leaf_value=1 2 3
leaf_count=4 3 2
split_gain=1 1
"""
CATEGORICAL = """split_feature=0
threshold=0
decision_type=1
left_child=-1
right_child=-2
leaf_value=1 2
leaf_count=4 3
split_gain=1
cat_boundaries=0 1
cat_threshold=10
"""


def scores(text: str, rows: list[list[float]]) -> list[float]:
    return TreesModel((read_tree(text),), len(rows[0])).predict(np.array(rows)).tolist()


def test_numbers_split_at_thresholds():
    assert scores(NUMERIC, [[0.5, 2.5], [0.5, 3.0], [0.6, 0.0]]) == [1.0, 3.0, 2.0]


def test_categories_split_by_bits():
    """10 is 2^1 + 2^3: categories 1 and 3 go left."""
    assert scores(CATEGORICAL, [[0.0], [1.0], [2.0], [3.0], [4.0]]) == [2.0, 1.0, 2.0, 1.0, 2.0]
