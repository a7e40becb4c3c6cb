"""Closed forms equal sums over all y in {-1, +1}^pairs; the sampled forms for AUC sum over other sets."""

from __future__ import annotations

import numpy as np
import pytest
from tests.objectives.conditional.enumeration import NAMED, every_y, exponents, objectives, pairs_of, sum_over_pairs

import argrank as ar

LABELS = [[1, 0, 0, 1, 0], [1, 1, 1, 0, 0, 0], [2, 0, 1, 1, 0], [1, 0], [0, 1, 2, 3]]
SCALE = {None: lambda n: 1.0, "pairs": lambda n: 1.0 / n}


def dataset(labels):
    return ar.Dataset(np.eye(len(labels)), labels, group=[len(labels)])


@pytest.mark.parametrize("labels", LABELS, ids=str)
@pytest.mark.parametrize("scale", [None, "pairs"])
@pytest.mark.parametrize("spread", [0.1, 1.0, 5.0])
def test_closed_forms_equal_the_sum_over_all_y(labels, scale, spread):
    scores = spread * np.random.default_rng(len(labels)).standard_normal(len(labels))
    pairs = pairs_of(labels)
    ys = every_y(pairs)
    losses = (ys < 0).mean(axis=1)
    for rho in (1.0, 2.5):
        exponent = SCALE[scale](len(pairs)) * exponents(scores, pairs, ys)
        expected = objectives(exponent, losses, rho)
        value = sum_over_pairs(ar.objective("log-mle", scale=scale), scores, dataset(labels))
        assert value == pytest.approx(expected["log-mle"], rel=1e-12)
        for name, (registered, parameters) in NAMED.items():
            given = parameters if registered == "log-gain" else parameters | {"rho": rho}
            function = ar.objective(registered, measure="AUC(graded=True)", scale=scale, **given)
            assert sum_over_pairs(function, scores, dataset(labels)) == pytest.approx(
                expected[name], rel=1e-11, abs=1e-12
            ), name


@pytest.mark.parametrize("name", NAMED)
def test_gradients_of_closed_forms(name):
    registered, parameters = NAMED[name]
    function = ar.objective(registered, measure="AUC(graded=True)", **parameters)
    data = ar.Dataset(np.eye(12), [2, 0, 1, 1, 0, 0, 1, 0, 0, 3, 3, 3], group=[5, 4, 3])
    scores = np.random.default_rng(1).standard_normal(12)
    _, gradient = function(scores, data)
    for row in range(12):
        shift = 1e-6 * (np.arange(12) == row)
        slope = (function(scores + shift, data)[0] - function(scores - shift, data)[0]) / 2e-6
        assert gradient[row] == pytest.approx(slope, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("name", ["log-mle", *NAMED])
@pytest.mark.parametrize("far", [50.0, 400.0, 5000.0])
def test_far_scores_neither_overflow_nor_lose_the_slope(name, far):
    registered, parameters = NAMED.get(name, (name, {"measure": None}))
    parameters = {key: value for key, value in parameters.items() if key != "measure"}
    measured = {} if name == "log-mle" else {"measure": "auc"}
    function = ar.objective(registered, **measured, **parameters)
    data = dataset([1, 0, 0, 1])
    for sign in (1.0, -1.0):
        value, gradient = function(sign * far * np.array([1.0, 0.0, -0.5, 0.8]), data)
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()
    wrong = function(-far * np.array([1.0, 0.0, -0.5, 0.8]), data)
    if name in ("log-mle", "log-convex", "log-combined"):  # linear far out: four pairs, 2 (s_j - s_i) each
        total = 2 * far * (1.0 + 1.5 + 0.8 + 1.3)
        assert 4 * wrong[0] == pytest.approx(total, rel=1e-2 if far < 100 else 1e-3)
        np.testing.assert_allclose(4 * wrong[1], [-4.0, 4.0, 4.0, -4.0], rtol=1e-9)


def test_mle_is_ranknet_at_twice_the_scores():
    rng = np.random.default_rng(3)
    scores, labels = rng.standard_normal(8), rng.integers(0, 3, 8)
    ranknet = sum(np.log1p(np.exp(-(2 * scores[i] - 2 * scores[j]))) for i, j in pairs_of(labels))
    assert sum_over_pairs(ar.objective("log-mle"), scores, dataset(labels)) == pytest.approx(ranknet, rel=1e-12)


def test_convex_loss_for_auc_exceeds_the_unscaled_hinge():
    """Log-sum-exp is at least the maximum: the structured hinge for AUC on the same, unscaled map."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        labels = rng.integers(0, 2, 7)
        scores = rng.standard_normal(7)
        data = dataset(labels)
        hinge = ar.objective("svm-auc", scale=None)(scores, data)[0]
        assert sum_over_pairs(ar.objective("log-convex", measure="auc"), scores, data) >= hinge - 1e-12


@pytest.mark.parametrize("measure", ["auc", "AUC(graded=True)", "AUC(rel=2)"])
def test_what_is_trained_is_what_evaluate_reports(measure):
    """Far from any tie the expected loss is 1 - AUC of the ranking by score, binary unless graded."""
    rng = np.random.default_rng(6)
    labels, scores = np.array([2, 0, 1, 1, 0, 2, 0]), 1e3 * rng.standard_normal(7)
    value, _ = ar.objective("log-loss", measure=measure)(scores, dataset(labels))
    reported = next(iter(ar.evaluate(scores, dataset(labels), measure).means.values()))
    assert value == pytest.approx(1 - reported, abs=1e-12)
