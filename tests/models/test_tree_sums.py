from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.models.trees import TreesModel

lightgbm = pytest.importorskip("lightgbm")


def test_steps_of_a_small_tree_by_hand():
    model = TreesModel.from_lightgbm(
        "tree\nfeature_names=a b\n\nTree=0\nleaf_value=0 4 10\nsplit_feature=0 1\nthreshold=1.5 0.5\n"
        "decision_type=2 2\nleft_child=-1 -2\nright_child=1 -3\nsplit_gain=1 1\nleaf_count=2 1 1\n"
    )
    # mean: root (0 * 2 + 4 + 10) / 4 = 3.5, its right child (4 + 10) / 2 = 7
    rows = np.array([[1.0, 0.0], [2.0, 0.0], [2.0, 1.0]])
    assert model.contributions(rows).tolist() == [[-3.5, 0.0], [3.5, -3.0], [3.5, 3.0]]


def test_contributions_add_up_to_the_scores():
    data = ar.make_ranking(20, 15, 5, random_state=2)
    ranker = ar.make_ranker("mart").fit(data)
    found = ranker.model_.contributions(data.X, data.indptr)
    constant = ranker.predict(data) - found.sum(axis=1)
    assert np.ptp(constant) == pytest.approx(0, abs=1e-9)
    why = ar.why_above(ranker, data, 0, 1)
    scores = ranker.predict(data)
    assert why.difference == pytest.approx(scores[0] - scores[1])
