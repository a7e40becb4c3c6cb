from __future__ import annotations

import json

import numpy as np
import pytest

import argrank as ar
from argrank.data.folds import Fold
from argrank.errors import InputError, OptionError
from argrank.rankers.registry import default_grid

GRID = {"C": [1e-5, 1e-3, 1e-1]}


@pytest.fixture(scope="module")
def data():
    made = ar.make_ranking(30, (4, 20), 5, noise=1.0, random_state=5)
    order = np.random.default_rng(0).permutation(made.n_documents)  # rows of a query are not together
    return ar.Dataset(made.X[order], made.y[order], made.query_ids[made.query_of_row][order])


@pytest.fixture(scope="module")
def result(data):
    rankers = {"svm": "rank-svm", "least squares": ar.make_ranker("regression")}
    return ar.cross_validate(rankers, data, ["ndcg@5", "map"], grid={"svm": GRID}, n_folds=3)


def test_it_is_the_protocol_done_by_hand(data, result):
    pooled = np.full(data.n_documents, np.nan)
    rows = {qid: np.flatnonzero(data.to_caller(data.query_ids[data.query_of_row]) == qid) for qid in data.query_ids}
    for number, fold in enumerate(ar.QueryKFold(3).folds(data)):
        by_value = []
        for C in GRID["C"]:
            ranker = ar.make_ranker("rank-svm", C=C).fit(fold.train)
            by_value.append((ar.evaluate(ranker.predict(fold.valid), fold.valid, "ndcg@5").means["ndcg@5"], ranker))
        best = max(by_value, key=lambda pair: pair[0])[1]
        scores = best.predict(fold.test)
        found = result.folds["svm"][number]
        assert found.params == {"C": best.C}
        assert found.means == ar.evaluate(scores, fold.test, ["ndcg@5", "map"]).means
        assert found.n_queries == fold.test.n_queries
        for query, qid in enumerate(fold.test.query_ids):
            pooled[rows[qid]] = scores[fold.test.indptr[query] : fold.test.indptr[query + 1]]
    assert np.array_equal(result.scores["svm"], pooled)  # every row of the caller once


def test_means_are_those_of_the_folds(result):
    for system in result.systems:
        expected = np.mean([fold.means["map"] for fold in result.folds[system]])
        assert result.means[system]["map"] == pytest.approx(expected, rel=1e-15)


def test_values_are_pooled_over_all_queries_and_can_be_compared(data, result):
    assert result.values["svm"]["map"].shape == (data.n_queries,)
    comparison = result.compare()
    expected = ar.compare(result.scores, data, ["ndcg@5", "map"])
    assert comparison.to_dict() == expected.to_dict()
    assert comparison.pairs[0].n_queries + comparison.pairs[0].n_dropped == data.n_queries


def test_renderings(result):
    assert "least squares" in repr(result)
    assert "| svm |" in result.render("markdown")
    document = json.loads(result.render("json"))
    assert document["means"] == result.means
    assert [fold["params"]["C"] for fold in document["folds"]["svm"]] == [f.params["C"] for f in result.folds["svm"]]
    with pytest.raises(OptionError, match="unknown format"):
        result.render("pdf")


def test_given_folds_are_used_as_they_are(data):
    folds = list(ar.QueryKFold(3).folds(data))
    result = ar.cross_validate("regression", None, "map", folds=folds)
    again = ar.cross_validate("regression", data, "map", n_folds=3)
    assert list(result.systems) == ["regression"]
    assert result.means == again.means
    assert result.data.n_documents == data.n_documents
    first, second = (np.sort(one.values["regression"]["map"]) for one in (result, again))
    assert np.array_equal(first, second, equal_nan=True)


def test_a_query_tested_twice_is_refused(data):
    fold = next(ar.QueryKFold(3).folds(data))
    with pytest.raises(InputError, match="expected different queries"):
        ar.cross_validate("regression", None, "map", folds=[fold, fold])


def test_a_grid_needs_validation_data(data):
    fold = next(ar.QueryKFold(3).folds(data))
    without = Fold(fold.train, None, fold.test)
    assert ar.cross_validate("regression", None, "map", folds=[without]).means["regression"]["map"] > 0
    with pytest.raises(InputError, match="needs a validation part"):
        ar.cross_validate("regression", None, "map", folds=[without], grid={"ridge": [0.0, 1.0]})


def test_the_default_grids_are_for_parameters_that_exist():
    for name in ar.ranker_names():
        known = ar.make_ranker(name).get_params()
        assert set(default_grid(name)) <= set(known)
        assert default_grid(ar.make_ranker(name)) == default_grid(name)


def test_default_grid_and_the_same_seed_twice(data):
    first, second = (
        ar.cross_validate(["rank-svm", "regression"], data, "map", grid="default", n_folds=3, n_jobs=n) for n in (1, 2)
    )
    assert {**first.to_dict(), "seconds": None} == {**second.to_dict(), "seconds": None}
    assert set(first.folds["regression"][0].params) == {"ridge"}


@pytest.mark.parametrize(
    ("ranker", "options", "message"),
    [
        ([], {}, "expected at least one"),
        (["rank-svm", "rank-svm"], {}, "expected different names, got rank-svm, rank-svm"),
        ("rank-svm", {"grid": "best"}, "expected parameters and values"),
        (["rank-svm", "regression"], {"grid": {"rank-svn": {"C": [1]}}}, "unknown ranker in grid 'rank-svn'"),
        (["rank-svm", "regression"], {"grid": [{"C": [1]}]}, "dict of name -> grid"),
    ],
)
def test_mistakes(data, ranker, options, message):
    with pytest.raises(OptionError, match=message):
        ar.cross_validate(ranker, data, "map", **options)


def test_neither_data_nor_folds():
    with pytest.raises(InputError, match="data or folds"):
        ar.cross_validate("regression", None, "map")


def test_folds_have_tests_of_their_own(data):
    found = ar.cross_validate(["regression", "rank-svm"], data, ["ndcg@1..2"], n_folds=3, progress=False)
    assert found.measures == ("ndcg@1", "ndcg@2")
    assert list(found.fold_comparisons) == [1, 2, 3]
    for place, tested in enumerate(found.fold_comparisons.values()):
        a, b = (found.folds[name][place].test.values["ndcg@2"] for name in ("regression", "rank-svm"))
        (pair,) = [pair for pair in tested.pairs if pair.measure == "ndcg@2"]
        assert pair.difference == pytest.approx(np.nanmean(a - b))
    assert "parameters as given" in repr(found)


def test_frames_and_tables_for_papers(result):
    frame = result.to_pandas()
    runs = [(name, run) for name, own in result.folds.items() for run in own]
    assert list(zip(frame["ranker"], frame["fold"], strict=True)) == [(name, run.fold) for name, run in runs]
    for one in result.measures:
        assert frame[one].tolist() == [run.means[one] for _, run in runs]
    assert result.to_latex() == result.render("latex")
    assert result.to_markdown() == result.render("markdown")
    assert result.to_text() == repr(result)
    assert "parameters chosen by" in repr(result)
