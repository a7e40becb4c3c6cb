"""What every registered objective promises."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import argrank as ar
from argrank import Dataset, objective
from argrank.engines.local import LocalRisk
from argrank.errors import InputError, OptionError
from argrank.rankers import make_ranker, ranker_names


def names_with_objectives() -> list[str]:
    """The rankers that minimise a function of scores; the others say that they do not."""
    return [name for name in ranker_names() if has_objective(name)]


def has_objective(name: str) -> bool:
    try:
        make_ranker(name)._objective()
    except OptionError as error:
        if "minimises no function of the scores" in str(error):
            return False
        raise
    return True


NAMES = names_with_objectives()
SIZES = [6, 1, 9, 4, 5]  # the second query has one document, the fourth one label


def labels() -> np.ndarray:
    y = np.random.default_rng(0).integers(0, 3, sum(SIZES)).astype(float)
    y[16:20] = 1.0
    return y


@pytest.fixture
def data() -> Dataset:
    return Dataset(np.eye(sum(SIZES)), labels(), group=SIZES)


@pytest.fixture
def scores() -> np.ndarray:
    return np.random.default_rng(1).standard_normal(sum(SIZES))


@pytest.mark.parametrize("name", NAMES)
def test_the_gradient_is_the_slope_of_the_value(name, data, scores):
    function = objective(name)
    _, gradient = function(scores, data)
    step = 1e-6
    for row in range(len(scores)):
        shift = step * (np.arange(len(scores)) == row)
        slope = (function(scores + shift, data)[0] - function(scores - shift, data)[0]) / (2 * step)
        assert gradient[row] == pytest.approx(slope, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("name", [name for name in NAMES if objective(name).convex])
def test_a_convex_objective_lies_below_its_chords_and_above_its_tangents(name, data):
    rng = np.random.default_rng(2)
    function = objective(name)
    for scale in (0.1, 1.0, 10.0):
        for _ in range(20):
            one, other = scale * rng.standard_normal((2, data.n_documents))
            (value, gradient), (end, _) = function(one, data), function(other, data)
            share = rng.random()
            middle, _ = function((1 - share) * one + share * other, data)
            room = 1e-12 * (abs(value) + abs(end) + 1)
            assert middle <= (1 - share) * value + share * end + room
            assert end >= value + gradient @ (other - one) - room


@pytest.mark.parametrize("name", [name for name in NAMES if objective(name).second_order])
def test_the_hessian_product_is_the_slope_of_the_gradient(name, data, scores):
    risk = LocalRisk(data, objective(name), n_jobs=1)  # X is the identity: weights are scores
    direction, step = np.random.default_rng(3).standard_normal(len(scores)), 1e-6
    risk.value_and_gradient(scores)
    product = risk.hessian_product(direction)
    ahead, behind = (risk.value_and_gradient(scores + sign * step * direction)[1] for sign in (1, -1))
    np.testing.assert_allclose(product, (ahead - behind) / (2 * step), rtol=1e-6, atol=1e-7)


OVER_PAIRS = {"rank-svm", "log-mle", "log-combined", "log-convex"}


@pytest.mark.parametrize("name", NAMES)
def test_the_value_is_a_mean_over_queries_or_over_pairs(name, data, scores):
    function = objective(name)
    assert function.mean_over == ("pairs" if name in OVER_PAIRS else "queries")
    alone, counts = [], []
    for query in range(data.n_queries):
        rows = slice(data.indptr[query], data.indptr[query + 1])
        y = data.y[rows]
        counts.append((y[:, None] > y).sum() if name in OVER_PAIRS else 1)
        alone.append(max(counts[-1], 1) * function(scores[rows], data.select([query]))[0])
    assert function(scores, data)[0] == pytest.approx(np.sum(alone) / np.sum(counts), rel=1e-13)
    weight = np.array([1.0, 2.0, 0.5, 3.0, 0.0])
    weighted = Dataset(data.X, data.y, group=SIZES, query_weight=weight)
    assert function(scores, weighted)[0] == pytest.approx((weight @ alone) / (weight @ counts), rel=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_scores_and_gradient_are_in_the_callers_row_order(name, data, scores):
    value, gradient = objective(name)(scores, data)
    mix = np.random.default_rng(4).permutation(len(scores))
    mixed = Dataset(data.X[mix], labels()[mix], np.repeat(np.arange(5), SIZES)[mix])
    mixed_value, mixed_gradient = objective(name)(scores[mix], mixed)
    assert mixed_value == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(mixed_gradient, gradient[mix], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_the_risk_of_the_identity_is_the_objective(name, data, scores):
    value, gradient = objective(name)(scores, data)
    risk_value, risk_gradient = LocalRisk(data, objective(name)).value_and_gradient(scores)
    assert risk_value == pytest.approx(value, rel=1e-14)
    np.testing.assert_allclose(risk_gradient, gradient, rtol=1e-13, atol=1e-16)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wrong", [[1.0], [np.nan] * sum(SIZES), [np.inf] * sum(SIZES), ["a"] * sum(SIZES)])
def test_unusable_scores_are_refused(name, data, wrong):
    with pytest.raises(InputError, match="scores: expected"):
        objective(name)(wrong, data)


@pytest.mark.parametrize("name", NAMES)
def test_data_without_labels_is_refused(name, data, scores):
    with pytest.raises(InputError, match="labels"):
        objective(name)(scores, Dataset(data.X, group=SIZES))


@pytest.mark.parametrize("name", NAMES)
def test_a_used_objective_can_be_copied_and_sent_to_another_process(name, data, scores):
    function = objective(name)
    value, gradient = function(scores, data)
    for other in (copy.deepcopy(function), pickle.loads(pickle.dumps(function))):
        assert other == function
        again, same = other(scores, data)
        assert again == value
        assert np.array_equal(same, gradient)


def test_unknown_names_and_parameters_are_refused_with_what_is_known():
    with pytest.raises(OptionError, match="unknown ranker 'rank-swm'; did you mean rank-svm"):
        ar.objective("rank-swm")
    with pytest.raises(OptionError, match="no parameter 'colour'"):
        ar.objective("rank-svm", colour=1)


@pytest.mark.parametrize("name", ["adarank", "coordinate-ascent", "direct-rank", "direct-rank-trees", "lambda-mart"])
def test_rankers_without_an_objective_say_so(name):
    with pytest.raises(OptionError, match="minimises no function of the scores"):
        ar.objective(name)


@pytest.mark.parametrize("name", NAMES)
def test_the_objective_of_a_name_is_what_its_ranker_minimises(name):
    assert objective(name) == make_ranker(name)._objective()


def test_presets_are_one_function():
    assert objective("svm-ndcg-nc") == objective("svm-ndcg", k=None, gain="binary")
    assert objective("svm-map") == objective("svm-ndcg", measure="map", k=None, bound="convex")
    assert objective("svm-mrr") == objective("svm-ndcg", measure="mrr")
