"""Rankings that do not repeat a source."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import argrank as ar
from argrank.errors import InputError, OptionError


def some_data(rng, n_queries=12, mixed=True):
    sizes = rng.integers(2, 12, n_queries)
    qid = np.repeat(np.arange(n_queries), sizes)
    n = len(qid)
    order = rng.permutation(n) if mixed else np.arange(n)
    names = np.array(["anna", "berta", "carla", "dora"])
    return ar.Dataset(
        rng.standard_normal((n, 3)), rng.integers(0, 4, n), qid[order], sources=names[rng.integers(0, 4, n)]
    )


@pytest.mark.parametrize("at_most", [1, 2])
def test_the_choice_is_the_best_for_every_decay(at_most):
    """Sorting and skipping maximises decay · score over all allowed choices (section 7.1)."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        sources, scores = rng.integers(0, 3, 6), rng.standard_normal(6)
        data = ar.Dataset(np.eye(6), np.zeros(6), group=[6], sources=sources)
        order = np.argsort(-ar.diversify(scores, data, k=3, at_most=at_most))
        n_ranks = min(3, int(np.minimum(np.bincount(sources), at_most).sum()))
        allowed = [
            one for one in itertools.permutations(range(6), n_ranks) if np.bincount(sources[list(one)]).max() <= at_most
        ]
        decay = np.sort(rng.random(n_ranks))[::-1]
        best = max(decay @ scores[list(one)] for one in allowed)
        assert decay @ scores[order[:n_ranks]] == pytest.approx(best)


def test_rank_and_diversify_agree_in_the_callers_rows():
    data = some_data(np.random.default_rng(1))
    ranker = ar.make_ranker("regression").fit(data)
    diverse = ranker.rank(data, diverse=True, k=3)
    scores = ar.diversify(ranker.predict(data), data, k=3)
    sources = data.to_caller(data.sources)
    for plain, order in zip(ranker.rank(data), diverse, strict=True):
        assert sorted(plain.tolist()) == sorted(order.tolist())
        assert (np.diff(scores[order]) < 0).all()
        n_sources = len(set(sources[order].tolist()))
        assert len(set(sources[order[: min(3, n_sources)]].tolist())) == min(3, n_sources)


def test_measures_under_the_constraint():
    data = some_data(np.random.default_rng(2))
    labels = data.to_caller(data.y)
    best = ar.evaluate_diverse(labels, data, ["ndcg@3", "dcg@3"], k=3)
    assert best.means == {"ndcg@3": 1.0, "dcg@3": 1.0}
    worst = ar.evaluate_diverse(-labels, data, "ndcg@3", k=3)
    assert worst.means["ndcg@3"] < 1
    assert (worst.values["ndcg@3"][~np.isnan(worst.values["ndcg@3"])] <= 1 + 1e-12).all()
    free = ar.Dataset(data.X, data.y, group=data.sizes, sources=np.arange(data.n_documents))
    scores = np.random.default_rng(3).standard_normal(data.n_documents)
    plain = ar.evaluate(scores, free, "ndcg@3").means["ndcg@3"]
    assert ar.evaluate_diverse(scores, free, "ndcg@3", k=3).means["ndcg@3"] == pytest.approx(plain)


def test_7_and_the_text_7_are_different_sources():
    data = ar.Dataset(np.eye(3), [0, 0, 0], group=[3], sources=np.array([7, "7", 7], object))
    assert np.argsort(-ar.diversify([3.0, 2.0, 1.0], data, k=2)).tolist() == [0, 1, 2]


def test_bad_input():
    data = ar.Dataset(np.eye(3), [0, 1, 0], group=[3])
    with pytest.raises(InputError, match="sources"):
        ar.diversify([1.0, 2.0, 3.0], data)
    ranker = ar.make_ranker("regression").fit(data)
    with pytest.raises(InputError, match="a source per document"):
        ranker.rank(data.X, group=[3], diverse=True, k=2)
    with pytest.raises(OptionError, match="k: expected"):
        ranker.rank(data, diverse=True, k=0)
    with pytest.raises(OptionError, match="diverse: expected"):
        ranker.rank(data, diverse=-1, k=2)
