"""QueryMART: weights of rows."""

from __future__ import annotations

import numpy as np

import argrank as ar
from argrank.rankers.boosted.trees.boosted_ranker import row_weights
from argrank.rankers.boosted.trees.linear_start import linear_start
from argrank.rankers.boosted.trees.seeded_boosters import Draw


def test_a_weight_of_a_row_is_a_number_of_equal_rows():
    """Loss, gradient, curvature and linear start; LightGBM estimates the documents of a leaf from curvatures."""
    made = ar.make_ranking(20, (3, 12), 3, random_state=8)
    rng = np.random.default_rng(0)
    times, scores = rng.integers(1, 4, made.n_documents), rng.standard_normal(made.n_documents)
    rows = np.repeat(np.arange(made.n_documents), times)
    weighed = ar.Dataset(made.X, made.y, group=made.sizes, sample_weight=times)
    sizes = np.add.reduceat(times, made.indptr[:-1])
    repeated = ar.Dataset(made.X[rows], made.y[rows], group=sizes)
    ranker = ar.make_ranker("query-mart")
    one, other = ranker._loss(weighed), ranker._loss(repeated)
    np.testing.assert_allclose(one.value(scores[:, None]), other.value(scores[rows][:, None]), rtol=1e-12)
    slopes = zip(one.slopes(scores[:, None], Draw(0, 0)), other.slopes(scores[rows][:, None], Draw(0, 0)), strict=True)
    starts = np.cumsum(times) - times
    for mine, theirs in slopes:
        np.testing.assert_allclose(mine, np.add.reduceat(theirs, starts), rtol=1e-10, atol=1e-12)
    lines = [linear_start(data, row_weights(data), np.zeros(3), [], 1).weights for data in (weighed, repeated)]
    np.testing.assert_allclose(*lines, rtol=1e-9)
    trained = ar.make_ranker("query-mart", n_trees=5)
    assert np.abs(trained.fit(weighed).predict(made) - trained.fit(made).predict(made)).max() > 1e-3


def test_the_gradient_is_that_of_the_loss():
    made = ar.make_ranking(4, 5, 2, random_state=1)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, made.n_documents)
    loss = ar.make_ranker("query-mart")._loss(ar.Dataset(made.X, made.y, group=made.sizes, sample_weight=weight))
    scores, step = np.random.default_rng(2).standard_normal(made.n_documents), 1e-5
    ends = [[loss.value((scores + sign * step * row)[:, None]) for sign in (1, -1)] for row in np.eye(len(scores))]
    expected = [(high - low) / (2 * step) for high, low in ends]
    np.testing.assert_allclose(loss.slopes(scores[:, None], Draw(0, 0))[0], expected, atol=1e-8)
