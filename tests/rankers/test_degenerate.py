"""Data from which nothing can be learned: a warning or a finite model, and always one that can be saved."""

from __future__ import annotations

import numpy as np
import pytest

import argrank as ar

X, QID = np.random.default_rng(0).normal(size=(36, 3)), np.repeat(np.arange(6), 6)


@pytest.mark.parametrize("name", ["direct-rank", "coordinate-ascent"])
def test_a_climb_without_relevant_documents_can_be_saved(name, tmp_path):
    ranker = ar.make_ranker(name).fit(ar.Dataset(X, np.zeros(36), QID))
    assert ranker.objective_ == 1.0
    ranker.save(tmp_path / "model.json")
    np.testing.assert_array_equal(ar.load_model(tmp_path / "model.json").predict(X), np.zeros(36))


@pytest.mark.parametrize("name", ["direct-rank", "coordinate-ascent"])
def test_a_climb_on_one_document_stops_at_once(name):
    ranker = ar.make_ranker(name).fit(ar.Dataset(X[:1], [1], [0]))
    assert not ranker.coef_.any()
    assert ranker.n_iter_ <= 2
