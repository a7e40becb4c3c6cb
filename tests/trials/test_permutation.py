"""Permutation importance by query."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import argrank as ar
from argrank.models.linear import LinearModel


def test_a_feature_that_decides_alone_loses_what_chance_would() -> None:
    data = ar.make_ranking(60, 12, 3, random_state=0)
    X = np.array(data.X)
    X[:, 1] = data.y
    data = ar.Dataset(X, data.y, data.qid)
    model = LinearModel(np.array([0.0, 1.0, 0.0]))
    found = ar.permutation_importance(model, data, "ndcg@5", n_repeats=20)
    assert found.value == pytest.approx(1.0)
    assert found.losses[0] == found.losses[2] == 0.0
    rng = np.random.default_rng(7)  # what an order by chance gets
    random = [ar.evaluate(rng.random(len(X)), data, "ndcg@5").means["ndcg@5"] for _ in range(200)]
    assert found.losses[1] == pytest.approx(1.0 - np.mean(random), abs=0.02)
    defined = ~np.isnan(ar.evaluate(X[:, 1], data, "ndcg@5").values["ndcg@5"])
    np.testing.assert_allclose(found.losses, found.by_query[defined].mean(axis=0))
    assert found.largest[0][0] == "feature 2"
    expected = stats.ttest_1samp(found.by_query[defined, 1], 0).confidence_interval()
    np.testing.assert_allclose(found.intervals[1], expected)
    assert found.intervals[0, 0] < 0 < found.intervals[0, 1]  # that a loss was never seen does not make it impossible
    assert "loss of ndcg@5" in repr(found)
    assert "<table>" in found._repr_html_()


def test_any_model_and_texts() -> None:
    frame = ar.make_ranking(20, 10, 2, random_state=1).to_pandas()
    frame["brand"] = np.where(frame["label"] > 0, "good", "bad")
    data = ar.Dataset(frame)
    ranker = ar.make_ranker("rank-svm").fit(data)
    found = ar.permutation_importance(ranker, data, "ndcg@10", n_repeats=2)
    assert found.largest[0][0] == "brand"
    again = ar.permutation_importance(ranker, data, "ndcg@10", n_repeats=2)
    np.testing.assert_array_equal(found.by_query, again.by_query)
    with pytest.raises(ar.errors.OptionError):
        ar.permutation_importance(ranker, data, n_repeats=0)
    with pytest.raises(ar.errors.OptionError, match="expected a name"):
        ar.permutation_importance(ranker, data, ["map", "ndcg"])
