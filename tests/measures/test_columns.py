"""A measure's contributions of the ranks add up to its value, and nothing below the cut-off counts."""

from __future__ import annotations

import numpy as np
import pytest

import argrank as ar


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_the_columns_of_dcg_end_at_the_cut_off(k):
    data = ar.Dataset(np.zeros((5, 1)), [2, 0, 1, 3, 1], qid=[1] * 5)
    scores, name = [5.0, 4.0, 3.0, 2.0, 1.0], f"dcg@{k}"
    result = ar.evaluate(scores, data, name, explain=1)
    parts = result.explanation.parts[name]
    discounts = 1 / np.log2(np.arange(2, 7)) * (np.arange(5) < k)
    np.testing.assert_allclose(parts["discount"], discounts)
    np.testing.assert_allclose(parts["ideal gain x discount"], [7, 3, 1, 1, 0] * discounts)
    assert parts["gain x discount"].sum() == pytest.approx(result.means[name])


def test_precision_of_a_set_divides_by_what_was_returned_unless_relative():
    run, qrels = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"a": 1, "b": 0, "c": 0}}
    names = ["SetP", "SetP(relative=True)"]
    assert list(ar.evaluate(run, qrels, names).means.values()) == pytest.approx([1 / 3, 1.0])
