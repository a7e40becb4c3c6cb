"""With every valid ranking in the sample, sampled forms equal the sums over valid rankings: additive constant 0.

The paper divides sums by the number of sampled rankings m; ours are sums over different rankings, so L1 and ConvexLoss
are larger than its by log m, and the other forms, being ratios, are equal.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.objectives.conditional.enumeration import NAMED, exponents, objectives, pairs_of, sum_over_pairs, valid_y

import argrank as ar
from argrank.errors import InputError, OptionError

EVERYTHING = 10**6
MEASURES = ["ndcg@2", "map", "mrr@2", "err@3", "ndcg@10"]
LABELS = [[1, 0, 0, 1, 0], [1, 1, 1, 0, 0, 0], [2, 0, 1, 1, 0], [1, 0], [0, 1, 2, 3]]


def dataset(labels):
    return ar.Dataset(np.eye(len(labels)), labels, group=[len(labels)])


def losses_of(orders, labels, measure):
    """Return 1 - measure / (best measure) of rankings, by the public evaluation."""
    data = dataset(labels)
    best = -np.inf
    values = []
    for order in orders:
        scores = -np.argsort(order).astype(float)
        values.append(next(iter(ar.evaluate(scores, data, measure).means.values())))
        best = max(best, values[-1])
    return 1 - np.array(values) / best


def worth(labels, measure):
    return [int(label >= 1) for label in labels] if measure[:3] in ("map", "mrr") else labels


@pytest.mark.parametrize("measure", ["ndcg@2", "map"])
@pytest.mark.parametrize("labels", LABELS, ids=str)
def test_equation_4_bounds_5_from_below_and_convex_loss_bounds_l1_and_l2_from_above(measure, labels):
    data = dataset(labels)
    for seed, spread in ((0, 0.2), (1, 1.0), (2, 4.0)):
        scores = spread * np.random.default_rng(seed).standard_normal(len(labels))
        options = {"measure": measure, "n_samples": EVERYTHING}
        expected, log_of_exp, combined, convex = (
            sum_over_pairs(ar.objective(name, **options, **more), scores, data)
            for name, more in (NAMED[one] for one in ("log-loss", "log-loss log exp", "log-combined", "log-convex"))
        )
        assert expected <= log_of_exp + 1e-12  # equation 4, equation 5 with f = exp
        assert combined <= convex + 1e-12  # L1 + L2 = L3, ConvexLoss


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("labels", LABELS, ids=str)
def test_sampled_forms_equal_the_sum_over_valid_rankings(measure, labels):
    pairs = pairs_of(worth(labels, measure))
    ys, orders = valid_y(labels, pairs)
    losses = losses_of(orders, labels, measure)
    for seed, spread in ((0, 0.2), (1, 1.0), (2, 4.0)):
        scores = spread * np.random.default_rng(seed).standard_normal(len(labels))
        for scale, factor in ((None, 1.0), ("pairs", 1.0 / len(pairs))):
            expected = objectives(factor * exponents(scores, pairs, ys), losses)
            for name, (registered, parameters) in NAMED.items():
                function = ar.objective(registered, measure=measure, scale=scale, n_samples=EVERYTHING, **parameters)
                assert sum_over_pairs(function, scores, dataset(labels)) == pytest.approx(
                    expected[name], rel=1e-11, abs=1e-12
                )


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", NAMED)
def test_gradients_of_drawn_samples(name, measure):
    registered, parameters = NAMED[name]
    rho = {} if registered == "log-gain" else {"rho": 2.5}
    data = ar.Dataset(np.eye(20), [2, 0, 1, 1, 0, 0, 1, 0, 0, 3, 3, 3, 0, 1, 0, 0, 2, 0, 0, 1], group=[9, 11])
    scores = np.random.default_rng(7).standard_normal(20)
    for more in ({}, {"scale": "pairs", "skew": "mixed"}, {"importance": True}):
        function = ar.objective(registered, measure=measure, n_samples=40, **parameters, **rho, **more)
        _, gradient = function(scores, data)
        for row, shift in enumerate(1e-6 * np.eye(20)):
            slope = (function(scores + shift, data)[0] - function(scores - shift, data)[0]) / 2e-6
            assert gradient[row] == pytest.approx(slope, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("measure", ["ndcg@3", "err@5"])
def test_with_a_label_of_its_own_for_every_document_the_model_is_boltzranks(measure):
    """BoltzRank's energy of a ranking is the mean over pairs of the score below less the score above.

    Pairs that count by their distance in rank make the same up to a factor of n / 2, both being linear in the ranks.
    """
    labels, scores = np.array([2.0, 0.0, 4.0, 1.0, 3.0]), 5 * np.random.default_rng(6).standard_normal(5)
    orders = list(itertools.permutations(range(5)))
    energy = np.array([-np.mean([scores[i] - scores[j] for i, j in itertools.combinations(o, 2)]) for o in orders])
    far = [
        [(o.index(j) - o.index(i)) * (scores[i] - scores[j]) for i, j in itertools.combinations(o, 2)] for o in orders
    ]
    np.testing.assert_allclose(np.ptp(energy + np.mean(far, axis=1) * 2 / 5), 0.0, atol=1e-12)
    chances = np.exp(-energy) / np.exp(-energy).sum()
    lost = chances @ losses_of(orders, labels, measure)
    wanted = {"measure": measure, "scale": "pairs", "n_samples": EVERYTHING}
    assert ar.objective("log-loss", **wanted)(scores, dataset(labels))[0] == pytest.approx(lost, rel=1e-11)
    of_best = chances[orders.index(tuple(np.argsort(-labels)))]
    combined = sum_over_pairs(ar.objective("log-combined", rho=3.0, **wanted), scores, dataset(labels))
    assert combined == pytest.approx(-np.log(of_best) + 3.0 * lost, rel=1e-11)


@pytest.mark.parametrize("measure", MEASURES)
def test_convex_loss_bounds_l1_plus_l2_and_the_hinge(measure):
    rng = np.random.default_rng(5)
    for _ in range(15):
        labels = rng.integers(0, 2, 6)
        if labels.min() == labels.max():
            continue
        scores, data = rng.standard_normal(6), dataset(labels)
        full = {"measure": measure, "n_samples": EVERYTHING}
        convex = sum_over_pairs(ar.objective("log-convex", **full), scores, data)
        assert convex >= sum_over_pairs(ar.objective("log-combined", **full), scores, data) - 1e-12
        ys, orders = valid_y(labels, pairs_of(labels))
        hinge = (losses_of(orders, labels, measure) + exponents(scores, pairs_of(labels), ys)).max()
        assert convex >= hinge - 1e-12
        ranker = {"map": "svm-map", "ndcg@2": "svm-ndcg", "ndcg@10": "svm-ndcg"}.get(measure)
        if ranker is not None:
            cut = {} if measure == "map" else {"measure": measure}
            assert ar.objective(ranker, scale=None, bound="convex", **cut)(scores, data)[0] == pytest.approx(
                hinge, abs=1e-9
            )


@pytest.mark.parametrize("skew", ["best", "worst", "mixed", -4.0, 4.0])
@pytest.mark.parametrize("measure", ["map", "ndcg@3", ["ndcg@3", "mrr@10"]])
def test_convex_loss_is_convex_along_segments(measure, skew):
    rng = np.random.default_rng(6)
    data = ar.Dataset(rng.standard_normal((30, 2)), rng.integers(0, 3, 30), group=[12, 18])
    function = ar.objective("log-convex", measure=measure, skew=skew, n_samples=40, rho=3.0)
    for scale in (0.1, 1.0, 10.0):
        for _ in range(10):
            one, other = scale * rng.standard_normal((2, 30))
            ends = function(one, data)[0], function(other, data)[0]
            for share in (0.25, 0.5, 0.75):
                middle = function((1 - share) * one + share * other, data)[0]
                assert middle <= (1 - share) * ends[0] + share * ends[1] + 1e-10 * sum(ends)


@pytest.mark.parametrize("measure", ["auc", "map", "ndcg@3"])
@pytest.mark.parametrize("rho", [0.5, 20.0])
def test_convex_loss_lies_within_rho_of_the_likelihood(measure, rho):
    """Losses lie in [0, 1]: so ConvexLoss can differ from MLE on the same rankings by rho a query, and no more."""
    data = ar.make_ranking(1, 30, 3, grades=2, relevant=0.3, random_state=1)
    scores = 3.0 * np.random.default_rng(0).standard_normal(30)
    likelihood = sum_over_pairs(ar.objective("log-combined", measure=measure, rho=1e-15), scores, data)
    convex = sum_over_pairs(ar.objective("log-convex", measure=measure, rho=rho), scores, data)
    assert likelihood <= convex <= likelihood + rho


def test_several_measures_are_a_weighted_loss():
    labels = [2, 0, 1, 1, 0]
    pairs = pairs_of(labels)
    ys, orders = valid_y(labels, pairs)
    losses = 0.5 * losses_of(orders, labels, "ndcg@2") + 2.0 * losses_of(orders, labels, "map")
    scores = np.random.default_rng(7).standard_normal(5)
    expected = objectives(exponents(scores, pairs, ys), losses, rho=1.5)["log-convex"]
    function = ar.objective("log-convex", measure=["ndcg@2", "map"], weights=[0.5, 2.0], rho=1.5, n_samples=EVERYTHING)
    assert sum_over_pairs(function, scores, dataset(labels)) == pytest.approx(expected, rel=1e-12)


def test_importance_weights_turn_the_sum_into_one_over_all_y():
    """At w = 0 every y counts 1: with every number of inverted pairs in the sample, log Z is pairs * log 2."""
    data = dataset([1, 0, 0, 1, 0])
    function = ar.objective("log-combined", measure="map", n_samples=EVERYTHING, importance=True, rho=1e-12)
    assert sum_over_pairs(function, np.zeros(5), data) == pytest.approx(6 * np.log(2), rel=1e-9)


def test_too_large_a_sample_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr("argrank.objectives.conditional.sampling.LARGEST_SAMPLE", 1000)
    with pytest.raises(InputError, match=r"n_samples=100: the rankings of 1 queries would take 0\.0 GiB"):
        ar.objective("log-convex").prepare(ar.Dataset(np.ones((30, 1)), np.arange(30) % 2, group=[30]))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_samples": 0}, "n_samples: expected"),
        ({"skew": "some"}, "skew: expected"),
        ({"scale": "cutoff"}, "scale"),
        ({"rho": 0.0}, "rho"),
        ({"weights": [1.0, 2.0]}, "weights"),
        ({"measure": []}, "at least one measure"),
        ({"measure": "ndgc"}, "unknown measure"),
    ],
)
def test_unusable_parameters_are_refused(parameters, message):
    with pytest.raises(OptionError, match=message):
        ar.objective("log-convex", **parameters)
    with pytest.raises(OptionError, match="form"):
        ar.objective("log-loss", form="mean")
