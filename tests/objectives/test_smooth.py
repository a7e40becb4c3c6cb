"""SmoothGrad's objective, from its definition."""

from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank import Dataset, objective
from argrank.errors import OptionError


def definition(scores, a, b, sigma):
    """Minus the smooth measure, written as the paper does, with the factor a_j."""
    order = np.argsort(-scores)
    h = np.exp(-((scores[:, None] - scores[order][None, :]) ** 2) / (2 * sigma**2))
    return -(a * (b @ h) / h.sum(axis=0)).sum()


@pytest.mark.parametrize("sigma", [0.05, 0.5, 5.0])
def test_the_value_is_the_corrected_formula(sigma):
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 4, 12).astype(float), rng.standard_normal(12)
    a = np.where(np.arange(12) < 5, 1 / np.log2(np.arange(12) + 2), 0.0)
    best = np.sort(2**y - 1)[::-1] @ a
    value, _ = objective("smooth-grad", measure="ndcg@5", sigma=sigma)(scores, Dataset(np.eye(12), y, group=[12]))
    assert value == pytest.approx(1 + definition(scores, a, (2**y - 1) / best, sigma), rel=1e-12)


@pytest.mark.parametrize(
    "parameters",
    [
        {"measure": "ndcg@5"},
        {"measure": "eru"},
        {"measure": "p@3"},
        {"a": [2.0, 1.0], "b": lambda y: y**2},
        {"measure": "map"},
        {"measure": "map@4", "relevant_at": 2.0},
    ],
)
@pytest.mark.parametrize("sigma", [0.1, 1.0])
def test_gradient_by_finite_differences(parameters, sigma):
    rng = np.random.default_rng(1)
    data = Dataset(np.eye(20), rng.integers(0, 4, 20), group=[8, 12])
    function, scores, step = objective("smooth-grad", sigma=sigma, **parameters), rng.standard_normal(20), 1e-6
    _, gradient = function(scores, data)
    for row, shift in enumerate(step * np.eye(20)):
        slope = (function(scores + shift, data)[0] - function(scores - shift, data)[0]) / (2 * step)
        assert gradient[row] == pytest.approx(slope, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("sigma", [0.05, 0.5, 5.0])
def test_smooth_average_precision_from_its_definition(sigma):
    rng = np.random.default_rng(3)
    y, scores = rng.integers(0, 2, 12).astype(float), rng.standard_normal(12)
    h = np.exp(-((scores[:, None] - np.sort(scores)[::-1]) ** 2) / (2 * sigma**2))
    e = (y @ h) / h.sum(axis=0)
    expected = 1 - (e * np.cumsum(e) / np.arange(1, 13)).sum() / y.sum()
    value, _ = objective("smooth-grad", measure="map", sigma=sigma)(scores, Dataset(np.eye(12), y, group=[12]))
    assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("measure", ["ndcg@10", "map", "map@5"])
def test_a_narrow_sigma_is_the_measure_itself(measure):
    data = ar.make_ranking(20, (5, 30), 4, random_state=1)
    scores = np.random.default_rng(2).standard_normal(data.n_documents)
    value, _ = objective("smooth-grad", measure=measure, sigma=1e-6)(scores, data)
    found = ar.evaluate(scores, data, measure).values[measure]
    assert value == pytest.approx(np.nansum(1 - found) / data.n_queries, abs=1e-9)  # nothing to lose: no loss


def test_bad_parameters():
    with pytest.raises(OptionError, match="sigma"):
        objective("smooth-grad", sigma=0.0)
    with pytest.raises(OptionError, match="of the form a · b"):
        objective("smooth-grad", measure="auc")
