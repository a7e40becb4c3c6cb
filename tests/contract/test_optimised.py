"""What `-m` optimises: every ranker with five measures, its objective beside the one of that measure."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import argrank as ar
from argrank.measures.names import measure as parse_measure
from argrank.objectives.conditional.likelihoods import ConvexLoss
from argrank.rankers.estimator import Measured
from argrank.rankers.optimised import Aim, aimed, optimised

MEASURES = ("ndcg@10", "map", "mrr@10", "p@5", "err@10")
ANY = dict.fromkeys(MEASURES, Aim.EXACT)
PRODUCTS = {one: Aim.EXACT if one in ("ndcg@10", "p@5") else Aim.RELATIVE for one in MEASURES}
OTHER = dict.fromkeys(MEASURES, Aim.RELATIVE)
NONE = dict.fromkeys(MEASURES, Aim.NOT)
TABLE: dict[str, dict[str, Aim]] = {
    "adarank": ANY,
    "auto": NONE,
    "coordinate-ascent": ANY,
    "custom": NONE,
    "direct-rank": ANY,
    "direct-rank-trees": ANY,
    "dorm": PRODUCTS,
    "frank": NONE,
    "lambda-mart": ANY,
    "lambdarank": ANY,
    "listnet": NONE,
    "log-combined": ANY,
    "log-convex": ANY,
    "log-gain": ANY,
    "log-loss": ANY,
    "log-mle": NONE,
    "mart": NONE,
    "mcrank": NONE,
    "orm": PRODUCTS,
    "pair-mart": NONE,
    "query-mart": NONE,
    "rank-cosine": NONE,
    "rank-svm": NONE,
    "rankboost": NONE,
    "regression": NONE,
    "smooth-grad": PRODUCTS,
    "softrank": PRODUCTS,
    "svm-auc": OTHER,
    "svm-combo": NONE,
    "svm-map": {**OTHER, "map": Aim.EXACT},
    "svm-mrr": {**OTHER, "mrr@10": Aim.EXACT},
    "svm-ndcg": PRODUCTS,
    "svm-ndcg-nc": OTHER,
    "symmetric-mart": NONE,
    "xendcg-mart": NONE,
}
CASES = [(name, one) for name, line in TABLE.items() for one in line]
FITTED = ("adarank", "coordinate-ascent", "direct-rank", "direct-rank-trees", "lambda-mart")
NO_FUNCTION = (
    "auto",
    "mcrank",
    "pair-mart",
    "query-mart",
    "rankboost",
    "symmetric-mart",
    "xendcg-mart",
)  # of scores is what they minimise
QUICK: dict[str, dict[str, Any]] = {
    "direct-rank": {"folds": 0},
    "direct-rank-trees": {"folds": 0, "n_trees": 3, "n_leaves": 4, "min_documents": 2},
    "lambda-mart": {"n_trees": 3, "n_leaves": 4, "min_documents": 2},
    "adarank": {"n_rounds": 3},
    "coordinate-ascent": {"n_starts": 1},
}


@pytest.fixture(scope="module")
def data() -> ar.Dataset:
    return ar.make_ranking(12, 8, 3, random_state=4)


@pytest.fixture(scope="module")
def scores(data: ar.Dataset) -> Any:
    return np.random.default_rng(0).normal(size=data.n_documents)


def test_the_table_has_every_ranker() -> None:
    assert sorted(TABLE) == sorted(ar.ranker_names())


@pytest.mark.parametrize(("name", "asked"), CASES)
def test_what_is_optimised(name: str, asked: str, data: ar.Dataset) -> None:
    ranker = aimed(ar.make_ranker(name), asked, data)
    found = optimised(ranker, asked)
    assert found is not None
    assert found.aim is TABLE[name][asked]
    if found.aim is Aim.EXACT:
        assert parse_measure(ranker._optimised) == parse_measure(asked)
        assert found.line() == f"optimised: {asked}; reported: {asked}"
    else:
        own = ar.make_ranker(name)._optimised
        assert str(own) == str(ranker._optimised) == str(found.measure)  # what it optimises anyway
        instead = f"{own} instead of {asked}" if own is not None else f"no measure (it minimises {ranker._minimised})"
        assert found.line([asked, "r@3"]) == f"optimised: {instead}; reported: {asked}, r@3"
    assert parse_measure(aimed(ranker, asked, data, scored=True)._reported) == parse_measure(asked)


@pytest.mark.parametrize(("name", "asked"), [case for case in CASES if case[0] not in (*FITTED, *NO_FUNCTION)])
def test_the_objective_is_the_one_of_the_measure(name: str, asked: str, data: ar.Dataset, scores: Any) -> None:
    default = ar.objective(name)
    value, gradient = aimed(ar.make_ranker(name), asked, data)._objective()(scores, data)
    own = {"measure": asked} if TABLE[name][asked] is Aim.EXACT and isinstance(ar.make_ranker(name), Measured) else {}
    own |= {"k": None} if name == "lambdarank" and asked == "map" else {}
    truth, slopes = ar.objective(name, **own)(scores, data)
    assert value == truth
    assert np.array_equal(gradient, slopes)
    same = not own or parse_measure(ar.make_ranker(name)._optimised) == parse_measure(asked)
    assert (value == default(scores, data)[0]) == same


def lacks(scores: Any, data: ar.Dataset, asked: str, normalised: bool) -> float:
    """Return how far a ranking is below the best one, by the values of evaluate."""
    got = ar.evaluate(scores, data, asked).values[asked]
    best = ar.evaluate(data.y, data, asked).values[asked]
    counted = best > 0
    loss = np.where(counted, best - got, 0.0)
    return float(np.mean(np.divide(loss, best, out=np.zeros_like(loss), where=counted) if normalised else loss))


@pytest.mark.parametrize(
    ("name", "asked"), [case for case in CASES if case[0] in ("svm-ndcg", "svm-mrr", "dorm", "orm", "smooth-grad")]
)
def test_bounds_end_at_what_the_measure_lacks(name: str, asked: str, data: ar.Dataset, scores: Any) -> None:
    """Tight bounds at large scores, and smooth measures of small width, equal the loss."""
    if TABLE[name][asked] is not Aim.EXACT:
        asked = "ndcg@10" if name != "svm-mrr" else "mrr@10"
    ranker = aimed(ar.make_ranker(name), asked, data)
    value, _ = ranker._objective()(1e7 * scores, data)
    assert value == pytest.approx(lacks(scores, data, asked, name in ("svm-ndcg", "dorm")), abs=1e-9)


@pytest.mark.parametrize("asked", MEASURES)
def test_the_expected_loss_is_that_of_the_measure(asked: str) -> None:
    """Three documents have six rankings: with large scores the expectation is the loss of the best-scored one."""
    data = ar.Dataset(np.eye(6), [2, 0, 1, 0, 1, 0], group=[3, 3])
    scores = np.array([0.1, 0.9, 0.3, 0.2, 0.1, 0.5])
    for name in ("log-loss", "log-gain", "log-combined"):
        value, _ = aimed(ar.make_ranker(name), asked)._objective()(200 * scores, data)
        likelihood, _ = ar.objective("log-mle")(200 * scores, data)
        got = ar.evaluate(scores, data, asked).values[asked] / ar.evaluate(data.y, data, asked).values[asked]
        expected = {"log-loss": np.mean(1 - got), "log-gain": -np.mean(np.log(got))}.get(name)
        if expected is None:
            assert value > likelihood
        else:
            assert value == pytest.approx(float(expected), abs=1e-6)
    convex = aimed(ar.make_ranker("log-convex"), asked)._objective()
    assert isinstance(convex, ConvexLoss)
    assert convex.measures == (parse_measure(asked),)


@pytest.mark.parametrize("asked", MEASURES)
def test_lambdas_are_changes_by_swaps(asked: str, data: ar.Dataset, scores: Any) -> None:
    """LambdaRank's value: over all pairs, what swapping them changes times their logistic loss."""
    value, _ = aimed(ar.make_ranker("lambdarank"), asked)._objective()(scores, data)
    losses = []
    for begin, end in itertools.pairwise(data.indptr.tolist()):
        y, s = data.y[begin:end], scores[begin:end]
        one = ar.Dataset(np.zeros((len(y), 1)), y, group=[len(y)])
        here = ar.evaluate(s, one, asked).values[asked][0]
        loss = 0.0
        for i, j in itertools.combinations(range(len(y)), 2):
            if y[i] != y[j]:
                swapped = s.copy()
                swapped[i], swapped[j] = s[j], s[i]
                change = abs(np.nan_to_num(ar.evaluate(swapped, one, asked).values[asked][0] - here))
                good, bad = (i, j) if y[i] > y[j] else (j, i)
                loss += change * np.log1p(np.exp(s[bad] - s[good]))
        losses.append(loss)
    assert value == pytest.approx(np.mean(losses), rel=1e-9)


@pytest.mark.parametrize(("name", "asked"), [(name, asked) for name in FITTED for asked in MEASURES])
def test_fits_climb_the_measure(name: str, asked: str, data: ar.Dataset) -> None:
    ranker = aimed(ar.make_ranker(name, **QUICK[name]), asked, data).fit(data)
    values = ar.evaluate(ranker.predict(data), data, asked).values[asked]
    values = values[np.isfinite(values)]
    expected = np.mean(np.exp(-values)) if name == "adarank" else 1 - values.mean()
    assert ranker.objective_ == pytest.approx(expected, abs=1e-9)
    assert f"optimised: {ranker._optimised}; reported:" in ranker.summary()


def test_what_was_given_stays(data: ar.Dataset) -> None:
    for given in ({"measure": "p@5"}, {"k": 3}, {"a": [1.0, 0.5]}, {"measure": ar.measure("ndcg@10")}):
        ranker = ar.make_ranker("orm", **given)
        before = ranker._optimised
        assert aimed(ranker, "p@3")._optimised == before
    assert aimed(ar.make_ranker("rank-svm", scoring="map"), "p@3", scored=True).scoring == "map"


def test_the_reciprocal_rank_is_a_product_where_one_document_is_relevant(data: ar.Dataset) -> None:
    single = ar.Dataset(np.eye(6), [1, 0, 0, 0, 1, 0], group=[3, 3])
    for name in ("orm", "smooth-grad", "softrank"):
        assert aimed(ar.make_ranker(name), "mrr@10", single).measure == "mrr@10"
        assert aimed(ar.make_ranker(name), "mrr@10", data).measure == "ndcg@10"
