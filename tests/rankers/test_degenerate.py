"""Data from which nothing can be learned: a warning or a finite model, and always one that can be saved."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import argrank as ar
from argrank.errors import ArgrankWarning
from argrank.rankers.registry import RANKERS
from argrank.rankers.training_data import nothing_to_learn

X, QID = np.random.default_rng(0).normal(size=(36, 3)), np.repeat(np.arange(6), 6)


@pytest.mark.parametrize("name", ["direct-rank", "coordinate-ascent"])
def test_a_climb_without_relevant_documents_can_be_saved(name, tmp_path):
    with pytest.warns(ArgrankWarning, match="nothing to learn: all labels are 0"):
        ranker = ar.make_ranker(name).fit(ar.Dataset(X, np.zeros(36), QID))
    assert ranker.objective_ == 1.0
    ranker.save(tmp_path / "model.json")
    np.testing.assert_array_equal(ar.load_model(tmp_path / "model.json").predict(X), np.zeros(36))


def test_trees_without_relevant_documents_report_what_a_climb_does(tmp_path):
    with pytest.warns(ArgrankWarning, match="nothing to learn"), pytest.warns(ArgrankWarning, match="no tree found"):
        ranker = ar.make_ranker("direct-rank-trees").fit(ar.Dataset(X, np.zeros(36), QID))
    assert ranker.objective_ == 1.0
    ranker.save(tmp_path / "model.json")


def test_so_does_auto():
    with pytest.warns(ArgrankWarning, match="Auto: nothing to learn: all labels are 0"):
        ranker = ar.make_ranker("auto", family="linear").fit(ar.Dataset(X, np.zeros(36), QID))
    assert ranker.objective_ == 1.0
    assert np.isnan(ranker.estimate_.value)


@pytest.mark.parametrize("name", ["mart", "query-mart", "mcrank", "direct-rank-trees", "symmetric-mart"])
@pytest.mark.parametrize("factor", [1e150, 1e-150])
def test_trees_on_huge_and_tiny_features(name, factor):
    """LightGBM takes numbers below 1e-35 for 0, which the fit says in its own words."""
    data = ar.make_ranking(20, 10, 3, random_state=1)
    ranker = ar.make_ranker(name, n_trees=3)
    if factor > 1 or name == "symmetric-mart":
        assert ranker.fit(data.with_features(factor * data.X)).score(data.with_features(factor * data.X)) > 0.6
    else:
        with pytest.warns(ArgrankWarning, match="no tree found a split.*1e-35"):
            ranker.fit(data.with_features(factor * data.X))


@pytest.mark.parametrize("name", ["direct-rank", "coordinate-ascent"])
def test_a_climb_on_one_document_stops_at_once(name):
    with pytest.warns(ArgrankWarning, match="nothing to learn"):
        ranker = ar.make_ranker(name).fit(ar.Dataset(X[:1], [1], [0]))
    assert not ranker.coef_.any()
    assert ranker.n_iter_ <= 2


GRADES = np.arange(36) % 3
BINARY = {"adarank", "svm-map", "svm-mrr", "svm-ndcg-nc"}
FITS_LABELS = {"regression", "mart", "mcrank"}


@pytest.mark.parametrize("name", [name for name in ar.ranker_names() if RANKERS[name].takes == "ranking"])
def test_what_is_missing_is_said_from_one_place(name):
    ranker = ar.make_ranker(name)

    def missing(y, qid, **more):
        return nothing_to_learn(ranker, ar.Dataset(X, y, qid, **more))

    assert missing(np.ones(36), QID) == "all labels are 1"
    assert missing(GRADES, QID) is None
    single = None if name in FITS_LABELS else "no query has two documents"
    assert missing(GRADES, np.arange(36)) == single
    by_query = None if name in FITS_LABELS else "no query has two different labels"
    assert missing(QID % 3, QID) == by_query
    thirds = "no label reaches relevant_at=1; the largest is 0.667" if name in BINARY else None
    assert missing(GRADES / 3, QID) == thirds
    above = "no label is below relevant_at=1; the least is 1" if name in BINARY else None
    assert missing(GRADES + 1, QID) == above
    one = np.where(QID == 0, GRADES, 0)  # and the only query that differs counts nothing
    weighed = None if name in FITS_LABELS else "no query has two different labels"
    assert missing(one, QID, query_weight=[0, 1, 1, 1, 1, 1]) == weighed


@pytest.mark.parametrize(
    "name", ["rank-svm", "svm-map", "orm", "dorm", "smooth-grad", "listnet", "regression", "adarank"]
)
def test_a_constant_model_is_never_silent(name):
    small = {"max_iter": 5, "n_rounds": 3, "n_jobs": 1}
    ranker = ar.make_ranker(name)
    ranker.set_params(**{key: value for key, value in small.items() if key in ranker.get_params()})
    for y, qid in ((np.zeros(36), QID), (np.zeros(36), np.arange(36)), (GRADES / 3, QID)):
        data = ar.Dataset(X, y, qid)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            scores = ranker.fit(data).predict(data)
        flat = all(np.ptp(scores[qid == query]) < 1e-12 for query in np.unique(qid))
        said = any(f"{type(ranker).__name__}: nothing to learn: " in str(one.message) for one in told)
        assert said or not flat


def test_the_rules_of_a_ranker_decide_what_it_can_tell_apart():
    data = ar.Dataset(X, GRADES, QID)
    assert nothing_to_learn(ar.make_ranker("svm-map", relevant_at=2), data) is None
    assert nothing_to_learn(ar.make_ranker("svm-map", relevant_at=3), data) == (
        "no label reaches relevant_at=3; the largest is 2"
    )
    assert nothing_to_learn(ar.make_ranker("orm", gain="binary", relevant_at=3), data) is not None
    assert nothing_to_learn(ar.make_ranker("svm-combo", measures=["map", "mrr"], relevant_at=3), data) is not None
    assert nothing_to_learn(ar.make_ranker("svm-combo", relevant_at=3), data) is None  # NDCG has its gains


def test_steps_that_grow_beyond_all_whole_numbers():
    data = ar.make_ranking(6, 5, 3, random_state=0)
    for factor in (2**63, 1e300):
        assert ar.make_ranker("coordinate-ascent", step_scale=factor, n_starts=1).fit(data).objective_ < 1


@pytest.mark.parametrize("name", ["direct-rank", "direct-rank-trees"])
def test_folds_inside_a_fit_need_queries_of_positive_weight(name):
    """Else all queries of a fold could have weight 0."""
    made = ar.make_ranking(24, 12, 5, random_state=7)
    ranker = ar.make_ranker(name).fit(made.X, made.y, group=made.sizes, query_weight=np.arange(24) == 0)
    assert ranker.stayed_ is not None
    assert np.isnan(ranker.gain_)
