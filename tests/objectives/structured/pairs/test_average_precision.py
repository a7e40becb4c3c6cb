from __future__ import annotations

import numpy as np
import pytest

from argrank import Dataset, objective


def greedy(scores, good):
    """Yue et al. (2007): every bad takes its best place among the goods, one after another, by the definition."""
    goods, bads = np.sort(scores[good])[::-1], np.sort(scores[~good])[::-1]
    n_good, n_bad = len(goods), len(bads)
    g = np.arange(n_good)
    hinge = 0.0
    for b, score in enumerate(bads):
        cost = (g + 1) / ((g + b + 1) * (g + b + 2)) / n_good + 2 / (n_good * n_bad) * (score - goods)
        hinge += max(0.0, np.cumsum(cost[::-1]).max())
    return hinge


@pytest.mark.parametrize("n", [2, 3, 10, 50, 300])
def test_divide_and_conquer_equals_the_greedy(n):
    rng = np.random.default_rng(n)
    for scale in (0.0, 0.01, 0.3, 1.0, 10.0):
        for share in (0.02, 0.4, 0.95):
            y = (rng.random(n) < share).astype(float)
            y[rng.permutation(n)[:2]] = [0, 1]
            scores = np.round(scale * rng.standard_normal(n), 2 if share == 0.4 else 9)
            value, gradient = objective("svm-map")(scores, Dataset(np.eye(n), y, group=[n]))
            assert value == pytest.approx(greedy(scores, y > 0), rel=1e-11, abs=1e-12)
            assert gradient.sum() == pytest.approx(0, abs=1e-12)


def test_long_lists_keep_their_precision():
    rng = np.random.default_rng(0)
    y = (rng.random(20_000) < 0.1).astype(float)
    scores = 0.5 * y + rng.standard_normal(20_000)
    data = Dataset(np.zeros((20_000, 1)), y, group=[20_000])
    assert objective("svm-map")(scores, data)[0] == pytest.approx(greedy(scores, y > 0), rel=1e-10)


def test_graded_labels_are_cut_at_relevant_at():
    rng = np.random.default_rng(1)
    y, scores = rng.integers(0, 4, 30).astype(float), rng.standard_normal(30)
    graded, binary = Dataset(np.eye(30), y, group=[30]), Dataset(np.eye(30), (y >= 2).astype(float), group=[30])
    for name in ("svm-map", "svm-mrr"):
        assert objective(name, relevant_at=2)(scores, graded)[0] == objective(name)(scores, binary)[0]
    assert objective("svm-map", measure="AP(rel=2)")(scores, graded)[0] == objective("svm-map")(scores, binary)[0]
