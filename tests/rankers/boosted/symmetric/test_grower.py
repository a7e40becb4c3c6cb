"""The grower against an enumeration of all questions in plain NumPy, level by level."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from argrank.rankers.boosted.symmetric import bins as binning
from argrank.rankers.boosted.symmetric import grower as growing
from argrank.rankers.boosted.symmetric.bins import find_bins
from argrank.rankers.boosted.symmetric.grower import Grower, Packed


def made(seed, n=80, width=4, missing=0.0, decimals=1):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, width)), decimals)
    X[rng.random(X.shape) < missing] = np.nan
    return rng, X, rng.normal(size=n), rng.uniform(0.2, 2.0, n)


def answers(x, cut, missing):
    return np.where(np.isnan(x), missing, x > cut)


def side(G, H, low, high, l2):
    value = np.clip(-G / (H + l2) if H + l2 > 0 else 0.0, low, high)
    return value, -(2.0 * G * value + (H + l2) * value**2)


def enumerated(X, gradient, curvature, depth, l2, signs):
    """Return the questions (column, cut, missing), the scores after each level, leaves and values, by trying all."""
    n, width = X.shape
    leaf = np.zeros(n, int)
    bounds = {0: (-np.inf, np.inf)}
    questions, scores = [], []
    for _ in range(depth):
        best = None
        for column in range(width):
            values = np.unique(X[~np.isnan(X[:, column]), column])
            lacks = np.isnan(X[:, column]).any()
            middles = list(0.5 * (values[1:] + values[:-1]))
            tried = [(cut, False) for cut in middles]
            tried += [(cut, True) for cut in (*middles, np.inf)] if lacks else []
            for cut, missing in tried:
                yes = answers(X[:, column], cut, missing)
                total, after = 0.0, {}
                for number, (low, high) in bounds.items():
                    own = leaf == number
                    sums = [(gradient[own & one].sum(), curvature[own & one].sum()) for one in (~yes, yes)]
                    (left, a), (right, b) = (side(*one, low, high, l2) for one in sums)
                    middle = 0.5 * (left + right)
                    if signs[column] * (right - left) < 0:
                        middle, _ = side(sums[0][0] + sums[1][0], sums[0][1] + sums[1][1], low, high, l2)
                        a, b = (-(2.0 * G * middle + (H + l2) * middle**2) for G, H in sums)
                    total += a + b
                    after[2 * number], after[2 * number + 1] = (low, high), (low, high)
                    if signs[column] > 0:
                        after[2 * number], after[2 * number + 1] = (low, middle), (middle, high)
                    if signs[column] < 0:
                        after[2 * number], after[2 * number + 1] = (middle, high), (low, middle)
                if best is None or total > best[0] * (1 + 1e-7):
                    best = total, (column, cut, missing), after, yes
        score, question, bounds, yes = best
        questions.append(question)
        scores.append(score)
        leaf = 2 * leaf + yes
    values = np.zeros(2**depth)
    for number, (low, high) in bounds.items():
        own = leaf == number
        values[number], _ = side(gradient[own].sum(), curvature[own].sum(), low, high, l2)
    return questions, scores, leaf, values


def grown_on(X, gradient, curvature, depth, l2, signs, rows=None, n_jobs=1):
    bins = find_bins(X, 255, {}, np.ones(len(X)), 1)
    grower = Grower(bins, bins.blocks(X, {}, 1), depth, np.asarray(signs, float), n_jobs)
    rows = np.arange(len(X)) if rows is None else rows
    return bins, grower.grow(gradient, curvature, l2, rows.astype(np.int32), np.arange(len(bins.columns)))


@pytest.mark.parametrize("signs", [(0, 0, 0, 0), (1, -1, 0, 1), (-1, 0, 0, 0)])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("l2", [0.5, 3.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_tree_is_the_one_that_an_enumeration_finds(signs, missing, l2, weighted):
    for seed in range(3):
        _, X, gradient, curvature = made(seed, missing=missing)
        curvature = curvature if weighted else np.ones(len(X))
        expected, scores, leaf, values = enumerated(X, gradient, curvature, 3, l2, signs)
        bins, grown = grown_on(X, gradient, curvature, 3, l2, signs)
        asked = [
            (int(bins.columns[one.column]), bins.cut(one.column, one.beyond), one.missing) for one in grown.questions
        ]
        assert [(a, c) for a, _, c in asked] == [(a, c) for a, _, c in expected][: len(asked)]
        np.testing.assert_allclose([b for _, b, _ in asked], [b for _, b, _ in expected])
        root = gradient.sum() ** 2 / (curvature.sum() + l2)
        np.testing.assert_allclose(np.cumsum([one.gain for one in grown.questions]) + root, scores, rtol=1e-5)
        np.testing.assert_array_equal(grown.leaf, leaf)
        np.testing.assert_allclose(grown.values, values, rtol=1e-6, atol=1e-9)


def test_rows_that_are_not_drawn_do_not_count_and_get_a_leaf():
    rng, X, gradient, curvature = made(5, missing=0.1)
    rows = np.flatnonzero(rng.random(len(X)) < 0.6)
    _, whole = grown_on(X, gradient, curvature, 3, 1.0, np.zeros(4), rows)
    gradient[np.setdiff1d(np.arange(len(X)), rows)] = 1e6
    _, again = grown_on(X, gradient, curvature, 3, 1.0, np.zeros(4), rows)
    assert whole.questions == again.questions
    assert len(again.leaf) == len(X)
    np.testing.assert_array_equal(whole.values, again.values)


def test_a_level_that_gains_nothing_is_not_asked():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    _, grown = grown_on(X, np.array([1.0, 1.0, -1.0, -1.0]), np.ones(4), 6, 0.1, [0])
    assert len(grown.questions) == 1
    np.testing.assert_allclose(grown.values, [-2 / 2.1, 2 / 2.1])
    for gradient, curvature in ((np.zeros(4), np.ones(4)), (np.ones(4), np.zeros(4)), (np.full(4, np.nan), np.ones(4))):
        assert grown_on(X, gradient, curvature, 6, 0.1, [0])[1] is None


def test_missing_values_outside_the_sample_of_cuts_are_asked(monkeypatch):
    monkeypatch.setattr(binning, "SAMPLED", 40)
    X, gradient = np.random.default_rng(2).normal(size=(400, 2)), np.zeros(400)
    rare = np.setdiff1d(np.arange(0, 400, 20), np.linspace(0, 399, 40).astype(int))
    X[rare, 0], gradient[rare] = np.nan, -1.0
    bins, grown = grown_on(X, gradient, np.ones(400), 1, 0.1, np.zeros(2))
    (question,) = grown.questions
    assert (question.column, bins.cut(0, question.beyond), question.missing) == (0, np.inf, True)
    np.testing.assert_array_equal(np.flatnonzero(grown.leaf), rare)


def test_any_number_of_threads_and_blocks_gives_the_same_tree(monkeypatch):
    rng = np.random.default_rng(1)
    X, gradient, curvature = rng.normal(size=(500, 80)), rng.normal(size=500), rng.random(500)
    _, one = grown_on(X, gradient, curvature, 5, 1.0, np.zeros(80))
    monkeypatch.setattr(growing, "SMALL_CELLS", 0)
    _, four = grown_on(X, gradient, curvature, 5, 1.0, np.zeros(80), n_jobs=4)
    assert one.questions == four.questions
    assert one.values.tobytes() == four.values.tobytes()


@pytest.mark.parametrize("curvature", [np.full(7, 0.3), np.array([0.0, 1e-9, 1.0, 5.0, 2.0, 1e3, 0.1])])
def test_packed_sums_are_those_of_the_numbers(curvature):
    gradient = np.array([1e-3, -5.0, 2.0, 7.0, -1e3, 0.5, 0.0])
    packed = Packed.of(gradient, curvature)
    borders = np.array([0, 0, 3, 4, 7])
    for found, given in zip(packed.sums(borders), (gradient, curvature), strict=True):
        expected = [given[a:b].sum() for a, b in itertools.pairwise(borders)]
        np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(given).sum() + 1e-6)
