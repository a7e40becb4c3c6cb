from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank import Dataset, objective
from argrank.errors import InputError, OptionError

SIZES = [8, 12, 5, 1, 20]
MEASURES = ("ndcg@10", "map", "mrr@10")
SINGLE = ("svm-ndcg", "svm-map", "svm-mrr")


@pytest.fixture
def data() -> Dataset:
    rng = np.random.default_rng(0)
    return Dataset(np.eye(sum(SIZES)), rng.integers(0, 3, sum(SIZES)), group=SIZES)


@pytest.fixture
def scores() -> np.ndarray:
    return np.random.default_rng(1).standard_normal(sum(SIZES))


def per_query(function, scores, data):
    """The hinge of every query, from data of that query alone."""
    return np.array(
        [
            function(scores[a:b], Dataset(np.eye(b - a), data.y[a:b], group=[b - a]))[0]
            for a, b in zip(data.indptr[:-1], data.indptr[1:], strict=True)
        ]
    )


def test_separate_slacks_add_up_and_shared_take_the_greatest(data, scores):
    single = np.array([per_query(objective(name, bound="convex"), scores, data) for name in SINGLE])
    weights = np.array([0.5, 2.0, 0.0])
    value, gradient = objective("svm-combo", bound="convex", weights=weights)(scores, data)
    assert value == pytest.approx((weights @ single).mean())
    parts = [objective(name, bound="convex")(scores, data)[1] for name in SINGLE]
    np.testing.assert_allclose(gradient, weights @ np.array(parts), atol=1e-14)
    shared, _ = objective("svm-combo", bound="convex", slacks="shared")(scores, data)
    assert shared == pytest.approx(single.max(axis=0).mean())


def test_queries_may_have_their_own_weights(data, scores):
    weights = np.zeros((5, 3))
    weights[[0, 2], 2] = 1.0  # navigational
    weights[[1, 3, 4], 0] = 1.0  # informational
    value, gradient = objective("svm-combo", bound="convex", weights=weights)(scores, data)
    ndcg, mrr = (per_query(objective(name, bound="convex"), scores, data) for name in ("svm-ndcg", "svm-mrr"))
    assert value == pytest.approx((ndcg[1] + ndcg[3] + ndcg[4] + mrr[0] + mrr[2]) / 5)
    assert np.isfinite(gradient).all()


def losses(scores, data):
    """1 - measure of the ranking by score, per query and measure, 0 where nothing can be lost."""
    result = ar.evaluate(data.to_caller(scores), data, list(MEASURES), undefined=1.0, ties="worst")
    return 1 - np.array([np.asarray(result.per_query[name], float) for name in MEASURES])


def test_the_slacks_bound_the_losses(data):
    """Sum of slacks >= sum over measures of the risk >= risk of the greatest loss (section 3.7)."""
    rng = np.random.default_rng(2)
    for scale in (0.0, 0.1, 1.0, 10.0):
        scores = scale * rng.standard_normal(data.n_documents)
        table = losses(scores, data)
        separate = objective("svm-combo", bound="convex")(scores, data)[0]
        shared = objective("svm-combo", bound="convex", slacks="shared")(scores, data)[0]
        assert separate >= table.sum(axis=0).mean() - 1e-12
        assert table.sum(axis=0).mean() >= table.max(axis=0).mean()
        assert shared >= table.max(axis=0).mean() - 1e-12
        assert separate >= shared - 1e-12


@pytest.mark.parametrize("slacks", ["separate", "shared"])
def test_the_tight_bound_is_a_difference_of_convex_parts(data, slacks):
    rng = np.random.default_rng(3)
    tight = objective("svm-combo", slacks=slacks, bound="tight", weights=[1.0, 0.5, 2.0])
    assert not tight.convex
    convex, subtracted = tight.convex_part(), tight.subtracted_part()
    for scale in (0.1, 1.0, 5.0):
        one, other = scale * rng.standard_normal((2, data.n_documents))
        (value, u), (above, above_u), (below, below_u) = (f(one, data) for f in (tight, convex, subtracted))
        assert value == pytest.approx(above - below, abs=1e-12)
        np.testing.assert_allclose(u, above_u - below_u, atol=1e-12)
        for part, part_value, part_u in ((convex, above, above_u), (subtracted, below, below_u)):
            assert part(other, data)[0] >= part_value + part_u @ (other - one) - 1e-11
        table = np.array([1.0, 0.5, 2.0])[:, None] * losses(one, data)
        total = table.sum(axis=0) if slacks == "separate" else table.max(axis=0)
        assert value >= total.mean() - 1e-12


def test_measures_may_be_objectives_with_their_own_maps(data, scores):
    on_pairs = objective("svm-mrr", bound="convex", feature_map="pairs")
    both = objective("svm-combo", bound="convex", measures=["ndcg", on_pairs, "p@5", "AUC(graded=True)"])
    expected = [
        objective("svm-ndcg-nc", bound="convex", gain="exp2"),
        on_pairs,
        objective("svm-ndcg", bound="convex", measure="p@5"),
        objective("svm-auc"),
    ]
    assert both(scores, data)[0] == pytest.approx(sum(one(scores, data)[0] for one in expected))


def test_unusable_parameters_are_refused(data, scores):
    with pytest.raises(OptionError, match="expected measures to be a list"):
        objective("svm-combo", measures="map")
    with pytest.raises(OptionError, match="slacks: expected 'separate' or 'shared', got 'both'"):
        objective("svm-combo", slacks="both")
    with pytest.raises(InputError, match=r"3 numbers or an array of shape \(5, 3\)"):
        objective("svm-combo", weights=[1.0, 2.0])(scores, data)
    with pytest.raises(InputError, match="weights >= 0"):
        objective("svm-combo", weights=-1.0)(scores, data)


@pytest.mark.parametrize("slacks", ["separate", "shared"])
def test_a_convex_combination_is_its_own_convex_part(slacks):
    convex = objective("svm-combo", bound="convex", slacks=slacks)
    assert convex.convex
    assert convex.convex_part() == convex


def test_the_convex_shared_bound_is_minimised_as_itself():
    """The greatest of weighted hinges is convex already; the lifted part belongs to the tight bound alone."""
    data = ar.make_ranking(30, 20, 5, grades=2, random_state=1)
    measures = ("ndcg@10", "map", ar.objective("svm-mrr", feature_map="first"))
    shared = {"measures": measures, "slacks": "shared", "bound": "convex"}
    ranker = ar.make_ranker("svm-combo", **shared, C=10, tol=1e-4, verbose=-1).fit(data)
    w = ranker.coef_
    at_coef = w @ w / (2 * 10) + ar.objective("svm-combo", **shared)(data.X @ w, data)[0]
    assert ranker.objective_ == pytest.approx(at_coef, rel=1e-9)
    assert 0.890238 - 1e-6 <= ranker.objective_ <= 0.890238 * (1 + 1e-4) + 1e-6
