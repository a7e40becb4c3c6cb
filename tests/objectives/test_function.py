"""Losses of the user's own: equal to ours, checked by finite differences, compiled where numba can."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import argrank as ar
from argrank.errors import InputError, OptionError


def pair_hinge(scores, labels):
    value, gradient = 0.0, np.zeros(len(scores))
    for i in range(len(scores)):
        for j in range(len(scores)):
            if labels[i] > labels[j] and scores[i] - scores[j] < 1.0:
                value += 1.0 - scores[i] + scores[j]
                gradient[i] -= 1.0
                gradient[j] += 1.0
    return value, gradient


def listnet(scores, labels):  # numba cannot compile it
    chances, wanted = (np.exp(one - one.max()) for one in (scores, labels))
    chances, wanted = chances / chances.sum(), wanted / wanted.sum()
    return float((wanted * np.log(wanted / chances)).sum()), chances - wanted


def wrong(scores, labels):
    return (scores**2).sum(), 2.0 * scores - labels


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(12, (2, 9), 3, random_state=1)


def test_a_hinge_by_hand_equals_ours(data):
    scores, ours = data.X[:, 0], ar.objective("rank-svm", loss="hinge")
    share = data.n_queries / ours.n_pairs(data).sum()  # ours is a mean over pairs, the other one over queries
    value, gradient = ours(scores, data)
    by_hand, slopes = ar.objective("custom", objective=pair_hinge)(scores, data)
    assert by_hand * share == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(slopes * share, gradient, rtol=0, atol=1e-12)


def test_a_listwise_loss_in_python_equals_ours_and_says_what_it_costs(data, caplog):
    with caplog.at_level(logging.WARNING, "argrank"):
        value, gradient = ar.objective("custom", objective=listnet)(data.X[:, 0], data)
    assert "objective listnet: numba cannot compile" in caplog.text
    ours, slopes = ar.objective("listnet")(data.X[:, 0], data)
    assert value == pytest.approx(ours, rel=1e-12)
    np.testing.assert_allclose(gradient, slopes, rtol=0, atol=1e-12)


def test_a_gradient_that_is_none_of_the_value_is_refused_with_the_place(data):
    with pytest.raises(OptionError, match=r"objective wrong: .*for document . of a query the gradient is"):
        ar.objective("custom", objective=wrong)(data.X[:, 0], data)
    with pytest.raises(OptionError, match=r"finite differences give .*scores \[.*labels \[.*check=False"):
        ar.make_ranker("custom", objective=wrong).fit(data)
    value, _ = ar.objective("custom", objective=wrong, check=False)(data.X[:, 0], data)
    assert value == pytest.approx((data.X[:, 0] ** 2).sum() / data.n_queries)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda scores, labels: 1.0, "expected a pair of the value and its gradient, got 1.0"),
        (lambda scores, labels: (1.0, 2.0), "a gradient of . finite numbers, got 1.0 and 2.0"),
        (lambda scores, labels: (np.nan, scores), "expected a finite value"),
        (lambda scores, labels: (0.0, scores / 0.0), "expected a finite value and a gradient"),
        (lambda scores, labels: {}["x"], "objective <lambda>: KeyError: 'x'; scores"),
        (lambda scores: (0.0, scores), "TypeError"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*divide by zero:RuntimeWarning")
def test_what_a_function_does_wrong_is_told(data, function, message):
    with pytest.raises(InputError, match=message):
        ar.objective("custom", objective=function)(data.X[:, 0], data)


def test_what_is_no_function_is_refused():
    for given in (3, None, [1], ar.Dataset):
        with pytest.raises(OptionError, match="objective: expected a function f"):
            ar.objective("custom", objective=given)
