"""The logistic loss of pairs: against a sum over pairs, finite differences, weights, and XGBoost's gradients."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import argrank as ar
from argrank.data import grouping
from argrank.rankers.boosted.trees.boosting import Draw
from argrank.rankers.boosted.trees.pair_mart import PairLoss


@pytest.fixture(scope="module")
def data():
    """Queries of 1 to 9 documents, and two of 40: one with few relevant documents, one with many."""
    made = ar.make_ranking(22, (1, 9), 4, grades=4, random_state=3)
    X, y, sizes = made.X, made.y.copy(), made.sizes.tolist()
    short = int(np.sum(sizes[:12]))
    assert len(y) >= short + 40
    rare = np.where(np.arange(40) % 9 == 4, 1 + np.arange(40) % 3, 0)
    X, y = np.concatenate([X[:short], X[:40], X[:40]]), np.concatenate([y[:short], rare, np.arange(40) % 4])
    return ar.Dataset(X, y, group=[*sizes[:12], 40, 40])


def scores_of(data, spread=2.0):
    return spread * np.random.default_rng(1).normal(size=(data.n_documents, 1))


def by_pairs(scores, data, gains, row_weight, query_weight):
    """Return loss, gradient and curvature by the definition."""
    total, gradient, curvature = 0.0, np.zeros(data.n_documents), np.zeros(data.n_documents)
    for query, (begin, end) in enumerate(itertools.pairwise(data.indptr)):
        for i, j in itertools.permutations(range(begin, end), 2):
            if gains[i] > gains[j]:
                weight = (gains[i] - gains[j]) * row_weight[i] * row_weight[j] * query_weight[query] / (end - begin)
                wrong = 1.0 / (1.0 + np.exp(scores[i] - scores[j]))
                total += weight * np.logaddexp(0.0, scores[j] - scores[i])
                gradient[[i, j]] += weight * wrong * np.array([-1.0, 1.0])
                curvature[[i, j]] += weight * wrong * (1.0 - wrong)
    return total / data.n_queries, gradient, curvature


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("spread", [1.0, 30.0])
def test_it_is_the_sum_over_pairs(data, weighted, spread):
    rng, rows, queries = np.random.default_rng(0), np.ones(data.n_documents), np.ones(data.n_queries)
    if weighted:
        rows, queries = rng.random(data.n_documents) + 0.5, rng.random(data.n_queries) + 0.5
        data = ar.Dataset(data.X, data.y, group=data.sizes, sample_weight=rows, query_weight=queries)
    scores, gains = scores_of(data, spread), np.exp2(data.y)
    loss = PairLoss(gains, data, 1)
    expected = by_pairs(scores[:, 0], data, gains, rows / rows.mean(), queries / queries.mean())
    np.testing.assert_allclose(loss.value(scores), expected[0], rtol=1e-12)
    for one, other in zip(loss.slopes(scores, Draw(0, 0)), expected[1:], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-14)


def test_the_gradient_is_that_of_the_loss(data):
    loss, scores, step = PairLoss(data.y, data, 1), scores_of(data), 1e-5
    gradient, curvature = loss.slopes(scores, Draw(0, 0))
    moves = step * np.eye(data.n_documents)[:, :, None]
    up, down = (np.array([data.n_queries * loss.value(scores + way * move) for move in moves]) for way in (1, -1))
    np.testing.assert_allclose((up - down) / (2 * step), gradient, atol=1e-8)
    here = data.n_queries * loss.value(scores)
    np.testing.assert_allclose((up - 2 * here + down) / step**2, curvature, atol=1e-3)


def test_blocks_and_threads_change_no_bit(data, monkeypatch):
    scores = scores_of(data)
    whole = PairLoss(data.y, data, 1).slopes(scores, Draw(0, 0))
    monkeypatch.setattr(grouping, "BLOCK_ROWS", 7)
    for one, other in zip(whole, PairLoss(data.y, data, 2).slopes(scores, Draw(0, 0)), strict=True):
        assert one.tobytes() == other.tobytes()


def test_scores_far_apart_stay_finite(data):
    scores = scores_of(data, 1e6)
    gradient, curvature = PairLoss(data.y, data, 1).slopes(scores, Draw(0, 0))
    assert np.isfinite(gradient).all()
    assert (curvature >= 0).all()
    assert np.isfinite(PairLoss(data.y, data, 1).value(scores))


def test_the_first_step_is_xgboosts_on_binary_labels():
    """With binary labels and all pairs, the first tree of XGBoost's rank:pairwise grows on twice our gradients."""
    xgboost = pytest.importorskip("xgboost")
    made = ar.make_ranking(30, 8, 3, grades=2, random_state=2)
    matrix = xgboost.DMatrix(made.X, made.y, group=made.sizes)
    settings = {"objective": "rank:pairwise", "lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": 8,
                "lambdarank_normalization": False, "max_depth": 2, "reg_lambda": 0.0, "min_child_weight": 0.0,
                "learning_rate": 1.0, "base_score": 0.0, "tree_method": "exact"}  # fmt: skip
    theirs = xgboost.train(settings, matrix, 1)
    gradient, curvature = PairLoss(made.y, made, 1).slopes(np.zeros((made.n_documents, 1)), Draw(0, 0))
    leaf = theirs.predict(matrix, pred_leaf=True)
    found = theirs.predict(matrix)
    assert len(np.unique(leaf)) > 2
    for number in np.unique(leaf):
        own = leaf == number
        # XGBoost doubles the curvature, so its steps are half of Newton's
        assert found[own][0] == pytest.approx(-0.5 * gradient[own].sum() / curvature[own].sum(), rel=1e-5)


@pytest.mark.parametrize("name", ["pair-mart", "symmetric-mart"])
def test_trees_learn_the_order(name):
    made = ar.make_ranking(60, 20, 5, truth="nonlinear", random_state=1)
    train, test = made.split(0.7, 0.3)
    given = {"objective": "pair-mart", "start": None} if name == "symmetric-mart" else {}
    ranker = ar.make_ranker(name, n_trees=80, **given).fit(train)
    linear = ar.make_ranker("rank-svm").fit(train)
    assert ranker.score(test) > linear.score(test) + 0.05
    assert ranker.objective_ == pytest.approx(
        PairLoss(train.y, train, 1).value(train.from_caller(ranker.predict(train))[:, None]), rel=1e-9
    )


def test_gains_weigh_the_pairs(data):
    plain, powers = (ar.make_ranker("pair-mart", n_trees=5, gain=gain, min_documents=2) for gain in ("linear", "exp2"))
    assert plain.fit(data).predict(data).tobytes() != powers.fit(data).predict(data).tobytes()
    with pytest.raises(ar.errors.OptionError, match="gain"):
        ar.make_ranker("pair-mart", gain="cubic").fit(data)
