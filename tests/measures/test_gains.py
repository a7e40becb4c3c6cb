from __future__ import annotations

import math

import numpy as np
import pytest

import argrank as ar
from argrank.errors import InputError, OptionError
from argrank.measures.conventions import Convention
from argrank.measures.discounts import _logarithms, discounts
from argrank.measures.gains import GainTable, gains_of


def test_named_gains_of_any_real_label():
    labels = np.array([0.0, 0.5, 1.0, 2.0, 31.0, 32.0, 500.0])
    np.testing.assert_array_equal(gains_of(labels)[[0, 2, 3, 4, 5]], [0, 1, 3, 2**31 - 1, 2**32 - 1])
    assert gains_of(labels)[1] == pytest.approx(np.sqrt(2) - 1)
    np.testing.assert_array_equal(gains_of(labels, "linear"), labels)
    np.testing.assert_array_equal(gains_of(labels, "binary", relevant_at=2), [0, 0, 0, 1, 1, 1, 1])


def test_tables_and_callables():
    labels = np.array([[0.0, 2.0], [1.0, 1.0]])
    np.testing.assert_array_equal(gains_of(labels, (0, 1, 9)), [[0, 9], [1, 1]])
    np.testing.assert_array_equal(gains_of(labels, {0: 0, 1: 4, 2: 5, 7: 1}), [[0, 5], [4, 4]])
    np.testing.assert_array_equal(gains_of(labels, np.sqrt), np.sqrt(labels))
    np.testing.assert_array_equal(gains_of(labels, GainTable.of((0, 1), outside=0.0)), [[0, 0], [1, 1]])


@pytest.mark.parametrize(
    ("gain", "message"),
    [
        ((0, 1), "got 2"),
        (lambda labels: labels[:1], "returns"),
        (lambda labels: labels * np.inf, "finite"),
    ],
)
def test_gains_that_do_not_fit_the_labels(gain, message):
    with pytest.raises(InputError, match=message):
        gains_of(np.array([1.0, 2.0]), gain)


@pytest.mark.parametrize("gain", ["cubic", 7, (), ("a", "b"), {0: float("nan")}])
def test_gains_that_do_not_exist(gain):
    data = ar.Dataset(np.zeros((2, 1)), [0, 1], group=[2])
    with pytest.raises(OptionError, match="gain"):
        ar.evaluate([1, 2], data, "ndcg", gain=gain)


def test_a_gain_that_overflows_says_so():
    data = ar.Dataset(np.zeros((2, 1)), [0, 2000], group=[2])
    with pytest.raises(InputError, match="2000"):
        ar.evaluate([1, 2], data, "ndcg")
    assert ar.evaluate([1, 2], data, "ndcg", gain="linear").means["ndcg"] == 1


def test_discounts():
    np.testing.assert_allclose(discounts(3), [1, 1 / np.log2(3), 0.5])
    np.testing.assert_allclose(discounts(4, "letor"), [1, 1, 1 / np.log2(3), 0.5])
    np.testing.assert_allclose(discounts(3, "reciprocal"), [1, 1 / 2, 1 / 3])
    np.testing.assert_allclose(discounts(3, lambda ranks: 1 / ranks**2), [1, 1 / 4, 1 / 9])
    with pytest.raises(OptionError, match="did you mean log2"):
        discounts(3, "log")
    with pytest.raises(InputError, match="3 finite numbers"):
        discounts(3, lambda ranks: ranks / 0.0 if False else np.inf * ranks)


@pytest.mark.parametrize("k", [1, 3, None])
def test_ideal_dcg_is_the_dcg_of_the_labels_as_scores(k):
    random = np.random.default_rng(0)
    labels = random.integers(0, 5, 50).astype(float)
    data = ar.Dataset(np.zeros((50, 1)), labels, group=[10, 1, 2, 37])
    name = "dcg" if k is None else f"dcg@{k}"
    factors = ar.measure("ndcg" if k is None else f"ndcg@{k}").structure(Convention()).factors(labels, data.indptr)
    np.testing.assert_allclose(factors, 1 / ar.evaluate(labels, data, name).values[name])


def test_tables_that_are_kept_cannot_be_changed():
    first = discounts(5)
    first[:] = 0.0  # a copy, which is the caller's
    assert discounts(5)[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        _logarithms(math.log2, 5)[1] = 7.0
