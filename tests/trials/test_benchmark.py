from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.errors import InputError
from argrank.rankers.registry import FAMILIES, RANKERS, first_comparison


@pytest.fixture(scope="module")
def data() -> ar.Dataset:
    return ar.make_ranking(24, 12, 4, random_state=0)


def test_every_registered_ranker_has_a_family():
    assert {line.family for line in RANKERS.values()} == set(FAMILIES)


def test_the_spread_is_of_every_family_that_has_rankers():
    families = [RANKERS[name].family for name in first_comparison()]
    ranking = {line.family for line in RANKERS.values() if line.takes == "ranking"}
    assert set(families) == ranking - {"blend"}  # auto is a comparison of its own
    assert families == sorted(families, key=FAMILIES.index)


def test_held_out_values_are_those_of_the_rankers(data):
    train, valid, test = data.split(0.5, 0.25, 0.25)
    found = ar.benchmark(train, ["map"], ["regression", "svm-auc"], valid=valid, test=test, progress=False)
    for name in found.systems:
        scores = found.ranker(name).predict(test)
        assert found.means[name]["map"] == ar.evaluate(scores, test, "map").means["map"]
    assert found.best == max(found.means, key=lambda name: found.means[name]["map"])


def test_folds_agree_with_cross_validate_and_explain_every_query(data, tmp_path):
    found = ar.benchmark(data, ["map", "ndcg@5"], ["regression"], n_folds=3, normalise=None, progress=False)
    same = ar.cross_validate("regression", data, ["map", "ndcg@5"], grid="default", n_folds=3, progress=False)
    assert np.array_equal(data.to_caller(found.systems["regression"].scores), same.scores["regression"])
    for model, queries in found.systems["regression"].models:
        part = data.select(queries)
        expected = found.systems["regression"].scores[np.isin(data.query_of_row, queries)]
        assert model.predict(part) == pytest.approx(expected)
    page = ar.write_report(tmp_path / "r.html", found).read_text("utf-8")
    assert '"explained":24' in page
    assert "Mean of 3 folds" in page


def test_keeps_what_every_C_gave_on_the_validation_queries(data, tmp_path):
    found = ar.benchmark(data, "map", ["regression", "rank-svm", "svm-auc"], n_folds=3, progress=False)
    assert found.systems["regression"].validated == ()  # it has no C
    for name in ("rank-svm", "svm-auc"):
        runs, validated = found.folds[name], found.systems[name].validated
        assert [value for _, value in validated] == pytest.approx(
            np.mean([[point.value for point in run.points] for run in runs], axis=0)
        )
        tried = np.array([[point.params["C"] for point in run.points] for run in runs])
        assert [C for C, _ in validated] == pytest.approx(np.exp(np.log(tried).mean(axis=0)))
    assert "Choosing C on validation queries" in ar.write_report(tmp_path / "r.html", found).read_text("utf-8")


def test_says_where_a_ranker_has_nothing_to_say(data):
    empty = data.with_features(np.zeros_like(data.X))
    found = ar.benchmark(empty, "map", ["regression", "svm-ndcg"], n_folds=3, progress=False)
    same = "gives all documents the same score in 24 of 24 queries"
    assert [note for note in found.notes if same in note] == [
        f"regression {same}.",
        f"svm-ndcg {same}; bound='tight' may help.",
    ]
    assert not any("same score" in note for note in ar.benchmark(data, "map", "regression", progress=False).notes)


def test_shows_itself_as_text_and_html(data):
    found = ar.benchmark(data, "map", ["regression", "svm-auc"], n_folds=3, progress=False)
    assert "Best by map" in repr(found)
    assert "<table>" in found._repr_html_()
    assert f"{found.means['svm-auc']['map']:.4f}" in repr(found)


def test_a_ranker_that_fails_does_not_cost_the_others(data):
    rankers = {"good": "regression", "bad": ar.make_ranker("svm-auc", solver="nonsense")}
    found = ar.benchmark(data, "map", rankers, n_folds=3, progress=False)
    assert list(found.systems) == ["good"]
    assert any(note.startswith("bad failed") for note in found.notes)
    with pytest.raises(InputError, match="no ranker"):
        ar.benchmark(data, "map", {"bad": rankers["bad"]}, n_folds=3, progress=False)


def test_valid_and_test_belong_together(data):
    with pytest.raises(InputError, match="together"):
        ar.benchmark(data, valid=data)
