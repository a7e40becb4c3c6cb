"""position-match: news slots on generated data, the bound against all pages, model files."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import argrank as ar
from argrank.errors import InputError
from argrank.rankers.factors.position_match import _MatchRisk

SLOTS = ("domestic", "international", "entertainment")


def news(n_pages=40, n_articles=8, random_state=0):
    """Articles with a topic and a quality: they gain their quality at the slot of their topic, nothing elsewhere."""
    rng = np.random.default_rng(random_state)
    n = n_pages * n_articles
    topic, quality = rng.integers(0, 3, n), rng.random(n)
    X = np.column_stack((np.eye(3)[topic], np.eye(3)[topic] * quality[:, None], rng.standard_normal(n)))
    return X, np.eye(3)[topic] * quality[:, None], np.repeat(np.arange(n_pages), n_articles)


def earned(pages, gains):
    return np.mean([gains[page, np.arange(3)].sum() for page in pages])


def test_news_go_to_their_slots():
    X, gains, qid = news()
    shuffled = np.random.default_rng(1).permutation(len(X))
    ranker = ar.make_ranker("position-match", C=100.0).fit(X[shuffled], gains[shuffled], qid=qid[shuffled])
    X, gains, qid = news(random_state=2)
    best = np.mean(
        [
            max(gains[list(page), np.arange(3)].sum() for page in itertools.permutations(range(a, a + 8), 3))
            for a in range(0, 320, 8)
        ]
    )
    assert earned(ranker.match(X, qid=qid), gains) > 0.95 * best
    for page, query in zip(ranker.match(X, qid=qid), np.unique(qid), strict=True):
        assert len(set(page.tolist())) == 3
        assert (qid[page] == query).all()


def test_the_bound_is_the_greatest_over_all_pages():
    rng = np.random.default_rng(3)
    X, gains, scores = rng.standard_normal((5, 2)), rng.random((5, 3)), rng.standard_normal((5, 3))
    risk = _MatchRisk(ar.Dataset(X, None, group=[5]), gains, np.eye(3))
    value, u = risk.at_scores(scores.ravel())
    pages = [list(page) for page in itertools.permutations(range(5), 3)]
    slots = np.arange(3)
    best = max(pages, key=lambda page: gains[page, slots].sum())
    hinges = [(scores - gains)[page, slots].sum() + (gains - scores)[best, slots].sum() for page in pages]
    assert value == pytest.approx(max(hinges))
    by_score = max(pages, key=lambda page: scores[page, slots].sum())
    assert value >= gains[best, slots].sum() - gains[by_score, slots].sum() - 1e-12
    step = 1e-6 * rng.standard_normal(15)
    assert risk.at_scores(scores.ravel() + step)[0] >= value + u @ step - 1e-12


def test_slots_may_share_weights_and_stay_empty(tmp_path):
    X, gains, qid = news(20)
    ranker = ar.make_ranker("position-match", slots=[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]).fit(X, gains, qid=qid)
    assert ranker.model_.weights.shape == (7, 2)
    page = ranker.match(X[:2], group=[2])[0]
    assert sorted(page.tolist())[0] == -1
    ranker.save(tmp_path / "model.json")
    np.testing.assert_array_equal(ar.load_model(tmp_path / "model.json").predict(X), ranker.predict(X))
    with pytest.raises(InputError, match="3 slots"):
        ar.make_ranker("position-match", slots=np.eye(2)).fit(X, gains, qid=qid)
    with pytest.raises(InputError, match="expected 160 rows"):
        ar.make_ranker("position-match").fit(X, gains[:3], qid=qid)
    with pytest.raises(InputError, match="gains: expected finite numbers"):
        ar.make_ranker("position-match").fit(X, [["much"]], qid=qid)
    with pytest.raises(InputError, match="X: expected no missing values"):
        ar.make_ranker("position-match").fit(np.where(X > 1, np.nan, X), gains, qid=qid)
    assert ar.ranker_names("slots") == ["position-match"]


def test_a_dataset_normalised_and_on_threads(tmp_path):
    X, gains, qid = news(20)
    X = X * [1, 1, 1, 1000, 1000, 1000, 1]
    mix = np.random.default_rng(5).permutation(len(X))
    data = ar.Dataset(X[mix], None, qid[mix])
    one, two = (
        ar.make_ranker("position-match", normalise="query-minmax", n_jobs=jobs).fit(data, gains[mix]) for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.model_.weights, two.model_.weights)
    plain = ar.make_ranker("position-match", normalise="query-minmax").fit(X, gains, qid=qid)
    assert plain.objective_ == pytest.approx(one.objective_, rel=2e-3)  # within the gaps: planes come in another order
    assert plain.predict(X, qid=qid).shape == one.predict(data).shape == (160, 3)
    one.save(tmp_path / "model.json")
    loaded = ar.load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(data), one.predict(data))
    assert [page.tolist() for page in loaded.match(data)] == [page.tolist() for page in one.match(data)]
    with pytest.raises(InputError, match="expected qid or group"):
        loaded.predict(X)
