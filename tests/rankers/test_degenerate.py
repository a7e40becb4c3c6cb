"""Data from which nothing can be learned: a warning or a finite model, and always one that can be saved."""

from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.errors import ArgrankWarning

X, QID = np.random.default_rng(0).normal(size=(36, 3)), np.repeat(np.arange(6), 6)


@pytest.mark.parametrize("name", ["direct-rank", "coordinate-ascent"])
def test_a_climb_without_relevant_documents_can_be_saved(name, tmp_path):
    ranker = ar.make_ranker(name).fit(ar.Dataset(X, np.zeros(36), QID))
    assert ranker.objective_ == 1.0
    ranker.save(tmp_path / "model.json")
    np.testing.assert_array_equal(ar.load_model(tmp_path / "model.json").predict(X), np.zeros(36))


def test_trees_without_relevant_documents_report_what_a_climb_does(tmp_path):
    with pytest.warns(ArgrankWarning, match="no tree found a split"):
        ranker = ar.make_ranker("direct-rank-trees").fit(ar.Dataset(X, np.zeros(36), QID))
    assert ranker.objective_ == 1.0
    ranker.save(tmp_path / "model.json")


def test_so_does_auto():
    ranker = ar.make_ranker("auto", family="linear").fit(ar.Dataset(X, np.zeros(36), QID))
    assert ranker.objective_ == 1.0
    assert np.isnan(ranker.estimate_.value)


@pytest.mark.parametrize("name", ["mart", "query-mart", "mcrank", "direct-rank-trees"])
@pytest.mark.parametrize("factor", [1e150, 1e-150])
def test_trees_on_huge_and_tiny_features(name, factor):
    """LightGBM takes numbers below 1e-35 for 0, which the fit says in its own words."""
    data = ar.make_ranking(20, 10, 3, random_state=1)
    ranker = ar.make_ranker(name, n_trees=3)
    if factor > 1:
        assert ranker.fit(data.with_features(factor * data.X)).score(data.with_features(factor * data.X)) > 0.6
    else:
        with pytest.warns(ArgrankWarning, match="no tree found a split.*1e-35"):
            ranker.fit(data.with_features(factor * data.X))


@pytest.mark.parametrize("name", ["direct-rank", "coordinate-ascent"])
def test_a_climb_on_one_document_stops_at_once(name):
    ranker = ar.make_ranker(name).fit(ar.Dataset(X[:1], [1], [0]))
    assert not ranker.coef_.any()
    assert ranker.n_iter_ <= 2


def test_steps_that_grow_beyond_all_whole_numbers():
    data = ar.make_ranking(6, 5, 3, random_state=0)
    for factor in (2**63, 1e300):
        assert ar.make_ranker("coordinate-ascent", step_scale=factor, n_starts=1).fit(data).objective_ < 1
