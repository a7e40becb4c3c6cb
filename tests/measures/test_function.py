"""Functions of the user's own as measures: by hand equal to ours, everywhere a measure is named."""

from __future__ import annotations

import copy
import csv
import functools
import itertools
import logging
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import argrank as ar
from argrank.errors import InputError, OptionError
from argrank.measures import MEASURES
from argrank.measures.function import FunctionMeasure, function_measure
from argrank.measures.names import measure as parse_measure


def err5(labels):
    value, going = 0.0, 1.0
    for rank in range(min(5, len(labels))):
        stop = (2.0 ** labels[rank] - 1.0) / 16.0
        value += going * stop / (rank + 1.0)
        going *= 1.0 - stop
    return value


def dcg(labels):
    value = 0.0
    for rank in range(min(10, len(labels))):
        value += (2.0 ** labels[rank] - 1.0) / np.log2(rank + 2.0)
    return value


def ndcg10(labels):
    ideal, place = np.empty(len(labels)), 0
    for grade in (4, 3, 2, 1, 0):
        for label in labels:
            if label == grade:
                ideal[place] = label
                place += 1
    best = dcg(ideal)
    return dcg(labels) / best if best > 0.0 else np.nan


def last_label(labels):  # numba cannot compile it
    return labels.tolist()[-1]


BY_HAND = [("err@5", err5), ("ndcg@10", ndcg10)]


@pytest.fixture
def registered():
    """Names that a test gives are taken back."""
    before = set(MEASURES)
    yield
    for name in set(MEASURES) - before:
        MEASURES.remove(name)


def values(scores, data, measure, **options):
    return next(iter(ar.evaluate(scores, data, measure, **options).values.values()))


@pytest.mark.parametrize(("name", "function"), BY_HAND)
@pytest.mark.parametrize("n_queries", [40, 400])  # as Python, and compiled
def test_by_hand_equals_ours(name, function, n_queries):
    data = ar.make_ranking(n_queries, (1, 15), 2, random_state=n_queries)
    ours, theirs = (values(data.X[:, 0], data, one) for one in (name, function))
    np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-12)
    assert (function_measure(function).compiled is None) == (os.environ.get("NUMBA_DISABLE_JIT") == "1")


@pytest.mark.parametrize(("name", "function"), BY_HAND)
def test_ties_are_valued_by_all_their_orders(name, function):
    data = ar.make_ranking(30, (2, 6), 2, random_state=1)
    scores = np.round(data.X[:, 0])
    ours, theirs = (values(scores, data, one) for one in (name, function))
    np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-12)
    by_row = values(scores, data, function, ties="row")
    np.testing.assert_allclose(by_row, values(scores, data, name, ties="row"), rtol=0, atol=1e-12)
    assert np.nanmax(np.abs(by_row - theirs)) > 0.01


def test_of_very_many_orders_some_are_drawn_the_same_for_any_order_of_rows():
    data = ar.make_ranking(3, 30, 2, grades=5, random_state=2)
    mixed = np.random.default_rng(0).permutation(data.n_documents)
    again = ar.Dataset(data.X[mixed], data.y[mixed], data.query_of_row[mixed])
    found = values(np.zeros(data.n_documents), data, err5)
    assert sorted(found) == sorted(values(np.zeros(data.n_documents), again, err5))
    np.testing.assert_allclose(found, values(np.zeros(data.n_documents), data, "err@5"), atol=0.05)


def test_gains_scores_and_all_judged_labels_by_the_names_of_parameters():
    data = ar.make_ranking(20, 8, 2, random_state=3)
    scores = data.X[:, 0]
    assert values(scores, data, lambda gains: gains[0]) == pytest.approx(values(scores, data, "dcg@1"))
    assert values(scores, data, lambda gains: gains[0], gain="linear") == pytest.approx(
        values(scores, data, "dcg@1", gain="linear")
    )
    spread = values(scores, data, lambda labels, scores: scores[0] - scores[-1])
    assert spread == pytest.approx(np.ptp(scores.reshape(20, 8), axis=1))
    qrels = {"q": {"a": 2, "b": 1, "c": 1}}
    recall = ar.evaluate({"q": {"a": 1.0}}, qrels, lambda labels, judged: len(labels) / len(judged))
    assert next(iter(recall.means.values())) == pytest.approx(1 / 3)


@pytest.mark.usefixtures("registered")
def test_a_name_works_wherever_a_measure_is_named(tmp_path):
    first = ar.measure(err5)
    assert isinstance(first, FunctionMeasure)
    assert first == ar.measure("err5") == ar.measure("ERR5") == parse_measure(err5)
    assert "err5" in ar.measure_names()
    assert repr(first) == "err5"
    data = ar.make_ranking(30, 8, 3, random_state=4)
    systems = {"a": data.X[:, 0], "b": data.X[:, 1]}
    assert ar.evaluate(data.X[:, 0], data, ["err5", "map"]).means.keys() == {"err5", "map"}
    (pair,) = ar.compare(systems, data, "err5").pairs
    assert pair.measure == "err5"
    assert ar.cross_validate("rank-svm", data, "err5", n_folds=3, progress=False).measures == ("err5",)
    assert ar.select("direct-rank", {"n_starts": [1, 2]}, data, data, "err5", progress=False).measure == "err5"
    assert ar.tune_weights(systems, data, "err5", cv=None).value >= max(
        ar.evaluate(one, data, "err5").means["err5"] for one in systems.values()
    )
    page = ar.write_report(tmp_path / "report.html", data, systems, ["err5"])
    assert "err5" in page.read_text("utf-8")


def test_a_function_or_a_product_without_a_name_does_in_trials_and_reports(tmp_path):
    data = ar.make_ranking(20, 6, 2, random_state=5)
    for measure in (lambda labels: labels[0], ar.Product([1.0, 0.5])):
        trial = ar.cross_validate("rank-svm", data, measure, n_folds=3, progress=False)
        assert trial.measures == (parse_measure(measure).name,)
        ar.write_report(tmp_path / "report.html", data, {"a": data.X[:, 0]}, [measure])


@pytest.mark.usefixtures("registered")
def test_a_measure_is_a_value():
    made = ar.measure(err5)
    assert pickle.loads(pickle.dumps(parse_measure(ndcg10))) == parse_measure(ndcg10)
    assert copy.deepcopy(made) == made
    assert hash(made) == hash(ar.measure("err5"))
    ranker = ar.make_ranker("lambda-mart", measure=ndcg10)
    assert clone(ranker).measure is ndcg10
    partial = functools.partial(lambda labels, k: labels[k], k=1)
    assert parse_measure(partial) == parse_measure(partial)


@pytest.mark.parametrize(
    "name", ["direct-rank", "coordinate-ascent", "lambda-mart", "direct-rank-trees", "adarank", "log-gain"]
)
def test_rankers_that_optimise_anything_optimise_a_function(name):
    data = ar.make_ranking(30, 10, 4, random_state=6)
    few = {"n_trees": 20, "n_rounds": 5, "min_documents": 5, "max_iter": 20}
    ranker = ar.make_ranker(name, measure=err5)
    ranker.set_params(**{key: value for key, value in few.items() if key in ranker.get_params()})
    ranker.fit(data)
    assert ranker.score(data) > ar.evaluate(np.zeros(data.n_documents), data, "err@5").means["err@5"] + 0.03
    assert "optimised: err5" in ranker.summary()


def test_swaps_by_hand_push_as_ours_do():
    from argrank.objectives.lambdas import Lambdas

    data = ar.make_ranking(20, (2, 12), 2, random_state=7)
    scores = np.ascontiguousarray(data.X[:, 0])
    for normalised, python in itertools.product((False, True), (False, True)):
        function = functools.partial(err5) if python else err5
        ours, theirs = (Lambdas(one, 30, 1.3, normalised).prepare(data)(scores) for one in ("err@5", function))
        np.testing.assert_allclose(theirs, ours, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["svm-map", "svm-ndcg", "orm", "dorm", "smooth-grad", "softrank", "lambdarank"])
def test_rankers_of_sums_over_ranks_say_what_they_take(name):
    data = ar.make_ranking(5, 5, 2, random_state=8)
    with pytest.raises(OptionError, match="err5"):
        ar.make_ranker(name, measure=parse_measure(err5)).fit(data)
    if name.startswith("svm"):
        with pytest.raises(OptionError, match=r"direct-rank and lambda-mart .* ar\.Product"):
            ar.make_ranker(name, measure=err5).fit(data)


def test_what_numba_cannot_compile_runs_as_python_with_one_note(caplog):
    data = ar.make_ranking(300, (2, 5), 2, random_state=9)
    with caplog.at_level(logging.WARNING, "argrank"):
        found = values(data.X[:, 0], data, last_label)
        values(data.X[:, 1], data, last_label)
    assert [record.getMessage()[:20] for record in caplog.records] == ["measure last_label: "]
    assert "microseconds for each ranking" in caplog.text
    rows = [slice(*ends) for ends in itertools.pairwise(data.indptr)]
    assert found.tolist() == [data.y[one][np.argmin(data.X[one, 0])] for one in rows]


def test_mistakes_are_told():
    data = ar.make_ranking(6, 4, 2, random_state=10)
    scores = data.X[:, 0]
    with pytest.raises(InputError, match=r"measure <lambda>: IndexError: .*called with labels \["):
        ar.evaluate(scores, data, lambda labels: labels[10])
    with pytest.raises(InputError, match="expected a finite number, or NaN where it is undefined, got 'x'"):
        ar.evaluate(scores, data, lambda labels: "x")
    with pytest.raises(OptionError, match="function of labels, gains, scores, judged, got the parameter 'qid'"):
        ar.evaluate(scores, data, lambda labels, qid: 0.0)
    with pytest.raises(OptionError, match="without parameters"):
        ar.evaluate(scores, data, lambda: 0.0)
    with pytest.raises(OptionError, match="two named <lambda>"):
        ar.evaluate(scores, data, [lambda labels: 0.0, lambda labels: 1.0])
    with pytest.raises(OptionError, match="one of scores, which may change while the ranking does not"):
        ar.line_search(scores, data.X[:, 1], data, lambda labels, scores: scores[0])
    with pytest.raises(InputError, match="expected NaN for all rankings of a query or for none"):
        ar.line_search(scores, data.X[:, 1], data, lambda labels: np.nan if labels[0] > 0 else 1.0)
    with pytest.raises(OptionError, match="expected one measure"):
        ar.measure("map@3..5")

    def ndcg(labels):
        return 0.0

    with pytest.raises(OptionError, match="'ndcg' already belongs to nDCG"):
        ar.measure(ndcg)


def test_a_compiled_function_that_fails_on_some_rankings_names_itself():
    data = ar.make_ranking(300, (1, 12), 2, random_state=11)
    with pytest.raises(InputError, match="measure fifth: IndexError"):
        ar.evaluate(data.X[:, 0], data, fifth)


def fifth(labels):
    return labels[4]


def test_a_checkpoint_knows_the_function(tmp_path):
    data = ar.make_ranking(15, 6, 3, random_state=12)
    path = tmp_path / "fit"
    first = ar.make_ranker("coordinate-ascent", measure=err5).fit(data, checkpoint=path)
    assert ar.make_ranker("coordinate-ascent", measure=err5).fit(data, checkpoint=path).objective_ == first.objective_

    def changed(labels):
        return err5(labels) + 0.0

    changed.__name__ = "err5"
    with pytest.raises(InputError, match="another measure"):
        ar.make_ranker("coordinate-ascent", measure=changed).fit(data, checkpoint=path)


@pytest.mark.usefixtures("registered")
def test_an_entry_point_may_name_a_function_plain_or_decorated():
    from argrank.measures import register_measure

    register_measure(last_label, "last_label")
    assert ar.measure("last_label") == parse_measure(last_label)
    register_measure(parse_measure(err5), "err5")
    assert ar.measure("err5") == parse_measure(err5)
    with pytest.raises(OptionError, match="expected a class whose spelling is 'other'"):
        register_measure(err5, "other")


def test_what_is_written_by_hand_equals_ours():
    with (Path(__file__).parents[2] / "benchmarks" / "own.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 7
    assert all(float(row["greatest difference"]) <= 1e-12 for row in rows)
