from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.data.folds import Fold
from argrank.errors import InputError
from argrank.rankers import Regression
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
        scores = found.folds[name][0].ranker.predict(test)
        assert found.means[name]["map"] == ar.evaluate(scores, test, "map").means["map"]


class ByColumn(Regression):
    """A ranker that learns nothing and scores by one column."""

    column = 0

    def predict(self, X, **_):
        return X.to_caller(X.X[:, self.column])


class BySecond(ByColumn):
    column = 1


def test_the_best_is_the_best_on_validation_queries_and_is_trained_on_everything():
    """The first column is right on validation queries and noise on test queries, the second the other way round."""
    rng, parts = np.random.default_rng(0), {}
    for role in ("train", "valid", "test"):
        y = rng.integers(0, 3, 60).astype(float)
        noise = rng.normal(size=60)
        X = {"train": [noise, noise], "valid": [y, noise], "test": [noise, y]}[role]
        parts[role] = ar.Dataset(np.stack(X, 1), y, np.repeat(np.arange(6), 10))  # the parts share their ids
    rankers = {"first": ByColumn(ridge=1.0), "second": BySecond(ridge=1.0)}
    found = ar.benchmark(parts["train"], "map", rankers, valid=parts["valid"], test=parts["test"], progress=False)
    assert found.means["second"]["map"] > found.means["first"]["map"]
    assert found.best == "first"
    assert f"Best by map on validation queries: first ({found.validation['first']:.4f})" in repr(found)
    assert f"its map is {found.means['first']['map']:.4f}" in repr(found)
    assert sum(part.n_queries for part in found.everything) == 18
    assert found.ranker().model_.training["queries"] == 18
    assert found.ranker() is found.ranker("first")


def test_the_refitted_choice_has_the_best_mean_validation_over_folds(data):
    found = ar.cross_validate("rank-svm", data, "map", grid={"C": [1e-4, 1e-2, 1.0]}, n_folds=3, progress=False)
    values = np.mean([[point.value for point in run.points] for run in found.folds["rank-svm"]], axis=0)
    assert found.params() == found.folds["rank-svm"][0].points[int(np.argmax(values))].params
    same = ar.make_ranker("rank-svm", **found.params()).fit(data)
    assert np.array_equal(found.ranker().coef_, same.coef_)


def test_without_validation_queries_nothing_is_chosen(data):
    train, test = data.split(0.5, 0.5)
    folds = [Fold(train, None, test)]
    found = ar.cross_validate(["regression", "rank-svm"], None, "map", folds=folds, progress=False)
    assert found.best is None
    assert "No ranker is chosen" in repr(found)
    with pytest.raises(InputError, match="expected a ranker's name"):
        found.ranker()
    assert found.ranker("regression").model_.training["queries"] == data.n_queries


def test_a_parameter_that_the_estimator_was_given_stays(data):
    rankers = {"mine": ar.make_ranker("rank-svm", C=123.0), "theirs": ar.make_ranker("rank-svm")}
    found = ar.benchmark(data, "map", rankers, n_folds=3, progress=False)
    assert [run.params for run in found.folds["mine"]] == [{}] * 3
    assert all(run.ranker.C == 123.0 for run in found.folds["mine"])
    assert all("C" in run.params for run in found.folds["theirs"])


def test_the_report_leads_with_the_choice_and_tells_of_borders(data, tmp_path):
    rankers = ["regression", "svm-auc"]
    found = ar.benchmark(data, "map", rankers, n_folds=3, progress=False)
    page = ar.write_report(tmp_path / "r.html", found).read_text("utf-8")
    assert f'<p class="verdict">{found.best} ' in page
    grid = {"svm-auc": {"C": [1e-8, 1e-7, 1e-6]}, "regression": None}
    found = ar.cross_validate(rankers, data, "map", grid=grid, n_folds=3, progress=False)
    assert "is at the border of the grid" in repr(found)
    assert "is at the border of the grid" in ar.write_report(tmp_path / "r.html", found).read_text("utf-8")


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
        values = [{point.params["C"]: point.value for point in run.points} for run in runs]
        common = sorted(set.intersection(*(set(one) for one in values)))  # a fold may go on beyond the grid
        assert [C for C, _ in validated] == common
        assert [value for _, value in validated] == pytest.approx([np.mean([one[C] for one in values]) for C in common])
    assert "Choosing C on validation queries" in ar.write_report(tmp_path / "r.html", found).read_text("utf-8")


def test_says_where_a_ranker_has_nothing_to_say(data):
    empty = data.with_features(np.zeros_like(data.X))
    found = ar.benchmark(empty, "map", ["regression", "svm-map"], n_folds=3, progress=False)
    same = "gives all documents the same score in 24 of 24 queries"
    assert [note for note in found.notes if same in note] == [
        f"regression {same}.",
        f"svm-map {same}; bound='tight' may help.",
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
