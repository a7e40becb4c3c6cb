from __future__ import annotations

import numpy as np
import pytest

from argrank import Dataset, objective
from argrank.errors import OptionError
from argrank.objectives.structured.first import first_good


@pytest.mark.parametrize("k", [1, 2, 10, 31, 200])
def test_with_or_without_a_sort(k):
    rng = np.random.default_rng(k)
    for scale in (0.01, 1.0):
        gains = (rng.random(80) < 0.2).astype(float)
        scores = np.round(scale * rng.standard_normal(80), 2)
        constants = np.array([1.0, min(k, 80)])
        plain, by_sort = np.empty(80), np.empty(80)
        value = first_good(scores, np.empty(0, np.int64), gains, constants, plain)
        assert first_good(scores, np.argsort(-scores), gains, constants, by_sort) == pytest.approx(value, rel=1e-13)
        assert plain @ scores == pytest.approx(by_sort @ scores, rel=1e-12)


def test_the_lowest_good_is_asked_to_rise():
    """The worst ranking has the lowest good first of the goods: the bound wants all of them high."""
    data = Dataset(np.eye(4), [1, 1, 0, 0], group=[4])
    _, u = objective("svm-mrr", feature_map="first", bound="convex")(np.array([5.0, -1.0, 0.0, 1.0]), data)
    np.testing.assert_array_equal(u, [0, -2, 1, 1])


def test_dividing_by_the_cut_off_needs_one():
    data = Dataset(np.eye(2), [1, 0], group=[2])
    with pytest.raises(OptionError, match="divides by k"):
        objective("svm-mrr", feature_map="first", k=None, scale="cutoff").prepare(data)
    hinge = objective("svm-mrr", feature_map="first", k=4, scale="cutoff", bound="convex")
    assert hinge(np.array([0.0, 1.0]), data)[0] == 0.5 + 1 / 4
