"""The sampler: all valid rankings and no other, reproducible, never stuck, whatever the order of rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from tests.objectives.conditional.enumeration import pairs_of, valid_y

import argrank as ar
from argrank.measures.conventions import Convention
from argrank.objectives.conditional import sampling as sampling_module
from argrank.objectives.conditional.losses import RankingLoss
from argrank.objectives.conditional.sampling import distinct, draw, inverted_pairs
from argrank.objectives.conditional.valid_rankings import (
    Query,
    Sampling,
    diverse_states,
    document_keys,
    every_ranking,
    few_rankings,
    rankings_to_start_from,
    walks,
)

NDCG = RankingLoss((ar.measure("ndcg@10"),), (1.0,), Convention())


def sampling(n_samples=100, skew=-30.0, random_state=0):
    return Sampling(n_samples=n_samples, skew=skew, importance=False, random_state=random_state)


def drawn(query, sampling, generator):
    states = rankings_to_start_from(query, sampling, generator)
    return walks(query, sampling, states, NDCG(query.levels[states], query.labels), generator)


def query_of(labels):
    labels = np.asarray(labels)
    return Query(labels.astype(np.int64), labels.astype(float), np.arange(len(labels), dtype=np.uint64))


def rows_of(labels):
    """Return the coefficient rows (halved dphi) of all valid rankings, from the definition by pairs."""
    pairs = pairs_of(labels)
    rows = set()
    for y in valid_y(labels, pairs)[0]:
        row = np.zeros(len(labels), int)
        for (i, j), sign in zip(pairs, y, strict=True):
            row[i] += sign < 0
            row[j] -= sign < 0
        rows.add(tuple(row.tolist()))
    return rows


def stored(query, coefficients):
    rows = np.empty_like(coefficients)
    rows[:, query.place] = coefficients
    return {tuple(row) for row in rows.tolist()}


@pytest.mark.parametrize(
    ("labels", "number"), [([1, 1, 0, 0, 0], 46), ([1, 1, 1, 0, 0, 0], 230), ([2, 0, 1, 1, 0], None)]
)
def test_enumeration_finds_every_valid_ranking_once(labels, number):
    query = query_of(labels)
    ranked, coefficients = every_ranking(query).ranked, every_ranking(query).coefficients
    assert number is None or len(ranked) == number  # the poly-Bernoulli numbers
    assert stored(query, coefficients) == rows_of(labels)
    assert not coefficients[0].any()  # the best ranking inverts nothing
    positive = np.abs(coefficients).sum(axis=1)
    assert (positive[1:] > 0).all()


@pytest.mark.parametrize(
    "labels", [[1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0, 0], [2, 1, 0, 0], [3, 2, 1, 0], [2, 2, 1, 0, 0]]
)
@pytest.mark.parametrize("skew", ["best", "worst", "mixed", 0.0])
def test_walks_reach_every_valid_ranking_and_no_other(labels, skew):
    query, generator = query_of(labels), np.random.default_rng(0)
    reached = stored(query, drawn(query, sampling(3_000, skew), generator).coefficients)
    assert reached <= rows_of(labels)
    assert reached | {(0,) * len(labels)} == rows_of(labels)


def test_one_long_walk_leaves_both_extremes_and_reaches_everything():
    """The paper's flip probability is 0 at the best and at the worst ranking; the smoothed one is not."""
    labels = [1, 1, 0, 0, 0]
    query = query_of(labels)
    for state in (0, 1):
        restart = np.full(5_000, -1)
        restart[0] = state
        moves = np.ones(5_000, np.int64)
        moves[0] = 0
        uniform = np.random.default_rng(state).random(3 * 5_000)
        found = query.walk(query.best_and_worst, restart, moves, uniform)
        assert stored(query, found.coefficients) == rows_of(labels)
        steps = np.abs(np.diff(inverted_pairs(found.ranked)))
        assert (steps == 1).all()  # every move flips exactly one pair


def test_a_move_has_the_probability_of_the_papers_coin():
    """From the best ranking of two goods, three bads, after one flip: next borders weigh (pairs) x (coin)."""
    query = query_of([1, 1, 0, 0, 0])
    n = 40_000
    uniform = np.random.default_rng(1).random((n, 6))
    restart, moves = np.zeros(n, np.int64), np.full(n, 2)
    ranked = query.walk(query.best_and_worst, restart, moves, uniform.reshape(-1)).ranked
    # The first move gives g b g b b. Coins, times 1 + 2 + 3: upper border (g over b): bads above the good 0, goods
    # below the bad 1; middle (b over g): goods above the bad 1, bads below the good 2; lower (g over b b): 1 and 0.
    weights = np.array([1 * 1 * (1 + 0 + 1), 1 * 1 * (1 + 1 + 2), 1 * 2 * (1 + 1 + 0)]) / 6.0
    wanted = weights / weights.sum()
    outcomes = [(0, 1, 1, 0, 0), (1, 1, 0, 0, 0), (1, 0, 0, 1, 0)]
    got = [float((ranked == outcome).all(axis=1).mean()) for outcome in outcomes]
    assert sum(got) == pytest.approx(1.0)
    np.testing.assert_allclose(got, wanted, atol=4 * np.sqrt(0.25 / n))


def test_samples_are_reproducible_and_start_with_the_best_ranking():
    query = query_of(np.random.default_rng(2).integers(0, 3, 40))
    for skew in ("best", "worst", "mixed", -2.0):
        one, again = (distinct(drawn(query, sampling(50, skew), np.random.default_rng(3))) for _ in range(2))
        np.testing.assert_array_equal(one.coefficients, again.coefficients)
        assert not one.coefficients[0].any()
        assert 25 < len(one.ranked) <= 51
        assert len(np.unique(one.coefficients, axis=0)) == len(one.ranked)
    other = distinct(drawn(query, sampling(50, "best"), np.random.default_rng(4)))
    assert stored(query, one.coefficients) != stored(query, other.coefficients)


@pytest.mark.parametrize("skew", ["best", "worst", -2.0])
def test_without_repetitions_the_moves_lead_to_the_same_rankings(skew):
    """Of few documents most rankings are met again: what is left are the first of each, by other moves."""
    query = query_of([2, 1, 1, 0, 0, 0, 0])
    every = drawn(query, sampling(400, skew), np.random.default_rng(8))
    rows = every.coefficients
    first = np.sort(np.unique(rows, axis=0, return_index=True)[1])
    left = distinct(every)
    assert len(left.ranked) == len(first) < 300
    np.testing.assert_array_equal(left.coefficients, rows[first])
    np.testing.assert_array_equal(left.ranked, every.ranked[first])


def test_skew_decide_how_good_the_sampled_rankings_are():
    query = query_of((np.arange(60) < 15).astype(int))
    means = {}
    for skew in ("best", "mixed", "worst", -8.0, 0.0, 8.0):
        found = drawn(query, sampling(500, skew), np.random.default_rng(5))
        means[skew] = inverted_pairs(found.ranked).mean()
    assert means["best"] < means["mixed"] < means["worst"]
    assert means[-8.0] < means[0.0] < means[8.0]


def test_diverse_states_go_from_the_best_to_the_worst_ranking():
    query = query_of([2, 1, 1, 0, 0, 0, 0])
    inverted = inverted_pairs(query.levels[diverse_states(query, np.random.default_rng(6))])
    assert inverted[0] == 0
    assert inverted[-1] == query.n_pairs
    assert 0 < inverted[len(inverted) // 2] < query.n_pairs


def test_the_sample_of_a_query_is_its_own():
    """Neither the order of rows nor the other queries nor sparseness change it."""
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((45, 3)) * (rng.random((45, 3)) < 0.7), rng.integers(0, 3, 45)
    qid = np.repeat([0, 1, 2], 15)
    mix = rng.permutation(45)
    data = ar.Dataset(X, y, qid)
    mixed = ar.Dataset(sparse.csr_matrix(X[mix]), y[mix], qid[mix])
    sample = draw(data, NDCG, data.y, sampling())
    other = draw(mixed, NDCG, mixed.y, sampling())
    alone = draw(data.select([1]), NDCG, data.select([1]).y, sampling())
    place = {int(q): number for number, q in enumerate(mixed.query_ids)}
    for query in range(3):
        rows, losses = sample.of(query)
        theirs, their_losses = other.of(place[query])
        columns = mixed.rows[mixed.indptr[place[query]] : mixed.indptr[place[query] + 1]]
        np.testing.assert_array_equal(theirs, rows[:, mix[columns] - 15 * query])
        np.testing.assert_array_equal(their_losses, losses)
    np.testing.assert_array_equal(alone.of(0)[0], sample.of(1)[0])
    assert sample.flips.dtype == np.int16
    assert draw(data, NDCG, data.y, sampling()) is sample  # shared by all fits of a grid
    assert draw(data, NDCG, data.y, sampling(random_state=1)) is not sample
    again, other = (data.with_features(np.asarray(data.X) * factor) for factor in (1.0, 2.0))
    assert draw(again, NDCG, again.y, sampling()) is sample
    assert draw(other, NDCG, other.y, sampling()) is not sample


def test_the_sample_is_the_same_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(sampling_module, "CELLS", 2000)  # blocks of one query
    data = ar.make_ranking(20, 15, 3, random_state=8)
    one = draw(data, NDCG, data.y, sampling())
    data = data.with_labels(np.array(data.y))
    two = draw(data, NDCG, data.y, replace(sampling(), n_jobs=2))
    assert one is not two
    for mine, other in zip(vars(one).values(), vars(two).values(), strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("normalise", [None, "standard", "query-minmax"])
def test_a_grid_draws_once(monkeypatch, normalise):
    drawn = []
    real = sampling_module._draw
    monkeypatch.setattr(sampling_module, "_draw", lambda *asked: drawn.append(1) or real(*asked))
    train, valid = ar.make_ranking(30, 10, 3, random_state=9).split(0.7, 0.3)
    ranker = ar.make_ranker("log-convex", normalise=normalise, max_iter=3)
    with pytest.warns(ar.errors.ArgrankWarning):
        ar.select(ranker, {"C": [0.1, 1.0, 10.0]}, train, valid, "ndcg@10", n_jobs=2, progress=False)
    assert len(drawn) == 1


def test_queries_of_one_ranking_or_few_are_listed():
    assert not few_rankings(query_of([1] * 9), 5).coefficients.any()
    assert len(few_rankings(query_of([1, 1, 0, 0, 0]), 46).ranked) == 46
    assert few_rankings(query_of([1, 1, 0, 0, 0]), 45) is None
    assert few_rankings(query_of([1, 0, 0, 0, 0, 0, 0]), 1000) is None


def test_document_keys_ignore_zeros_and_precision_of_storage():
    X = np.array([[0.5, 0.0, 2.0], [0.0, 0.5, 2.0], [0.5, -0.0, 2.0]])
    keys = document_keys(X)
    assert keys[0] == keys[2] != keys[1]
    np.testing.assert_array_equal(document_keys(X.astype(np.float32)), keys)
    np.testing.assert_array_equal(document_keys(sparse.csr_matrix(X)), keys)
