"""Must hold on OHSUMED: the order in which a query's documents are stored changes nothing beyond rounding."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import argrank as ar

BOUNDS = ("convex", "tie-broken", "tight")
DECAYS = ("measure", "linear", "sqrt")


@pytest.mark.parametrize(("bound", "decay"), list(itertools.product(BOUNDS, DECAYS)))
def test_value_and_gradient_of_the_risk_on_ohsumed(real_data, bound, decay):
    train = ar.load_collection("OHSUMED-LETOR3", real_data / "OHSUMED-LETOR3", 1).train
    rng = np.random.default_rng(0)
    borders = zip(train.indptr[:-1], train.indptr[1:], strict=True)
    rows = np.concatenate([rng.permutation(np.arange(start, end)) for start, end in borders])
    mixed = ar.Dataset(train.X[rows], train.y[rows], group=train.sizes)
    risks = [ar.make_ranker("orm", bound=bound, decay=decay).risk(data) for data in (train, mixed)]
    for w in (np.zeros(train.n_features), 0.1 * rng.standard_normal(train.n_features)):
        (value, gradient), (other, other_gradient) = (risk.value_and_gradient(w) for risk in risks)
        assert value == pytest.approx(other, rel=1e-12)
        if w.any():  # at w = 0 all scores tie, and any order of them gives a subgradient
            np.testing.assert_allclose(gradient, other_gradient, rtol=1e-9, atol=1e-12)


def test_the_reference_any_does_depend_on_the_order(real_data):
    train = ar.load_collection("OHSUMED-LETOR3", real_data / "OHSUMED-LETOR3", 1).train
    backwards = np.concatenate([np.arange(start, end)[::-1] for start, end in itertools.pairwise(train.indptr)])
    mixed = ar.Dataset(train.X[backwards], train.y[backwards], group=train.sizes)
    w = np.random.default_rng(0).standard_normal(train.n_features)
    values = [
        ar.make_ranker("orm", bound="convex", reference="any").risk(data).value_and_gradient(w)[0]
        for data in (train, mixed)
    ]
    assert values[0] != pytest.approx(values[1], rel=1e-3)
