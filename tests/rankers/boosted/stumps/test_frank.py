"""FRank: rounds by definition, pair by pair; the promise of a step; the published row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import argrank as ar
from argrank.errors import ArgrankWarning, OptionError
from argrank.models.stumps import StumpsModel
from argrank.rankers.boosted.stumps._thresholds import Steps
from argrank.trials.config import read_config

EXPERIMENT = Path(__file__).resolve().parents[4] / "experiments" / "letor" / "ohsumed2.toml"


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(15, (4, 20), 4, random_state=2)


def pairs_of(data):
    """Return the better and the worse row of every pair, and what the pair counts: all queries alike."""
    query, y = data.query_of_row, data.y
    better, worse = np.nonzero((query[:, None] == query) & (y[:, None] > y))
    return better, worse, 1.0 / np.bincount(query[better])[query[better]] / data.n_queries


def losses(apart):
    return 1 - np.sqrt(1 / (1 + np.exp(-apart)))


def test_rounds_follow_the_definition_pair_by_pair(data):
    better, worse, share = pairs_of(data)
    X, scores = data.X, np.zeros(data.n_documents)
    for rounds in (1, 2, 3):
        apart = scores[better] - scores[worse]
        chance = 1 / (1 + np.exp(-apart))
        weight = share * 0.5 * np.sqrt(chance) * (1 - chance)
        best = (0.0, 0, 0.0, 1.0, 1.0)
        for j in range(X.shape[1]):
            for threshold in np.unique(X[:, j])[:-1]:
                above = X[:, j] > threshold
                right, wrong = weight @ (above[better] & ~above[worse]), weight @ (above[worse] & ~above[better])
                gain = (np.sqrt(right) - np.sqrt(wrong)) ** 2
                if gain > best[0] + 1e-14:
                    best = (gain, j, threshold, right, wrong)
        promised, j, threshold, right, wrong = best
        step = 0.5 * np.log(right / wrong)
        h = (X[:, j] > threshold)[better].astype(float) - (X[:, j] > threshold)[worse]

        def promise(t, h=h, weight=weight):
            return weight @ (1 - np.exp(-t * h))

        before = share @ losses(apart)
        for t in np.linspace(-3, 3, 25):  # the bound that the step is made for
            assert share @ losses(apart + t * h) <= before - promise(t) + 1e-15
        assert minimize_scalar(lambda t, promise=promise: -promise(t)).x == pytest.approx(step, abs=1e-6)
        assert promise(step) == pytest.approx(promised, rel=1e-9)
        scores += step * (X[:, j] > threshold)
        ranker = ar.make_ranker("frank", n_rounds=rounds).fit(data)
        np.testing.assert_allclose(ranker.predict(data), scores, atol=1e-9)
        assert ranker.objective_ == pytest.approx(share @ losses(scores[better] - scores[worse]), rel=1e-9)
        assert ranker.objective_ == pytest.approx(ar.objective("frank")(scores, data)[0], rel=1e-12)
        assert ranker.trace_["promised"][-1] == pytest.approx(promised, rel=1e-9)


def test_every_round_keeps_its_promise():
    big = ar.make_ranking(30, 40, 3, random_state=4)  # more values than thresholds
    ranker = ar.make_ranker("frank", n_rounds=60).fit(big)
    start, _ = ar.objective("frank")(np.zeros(big.n_documents), big)
    values = np.concatenate(([start], ranker.trace_["objective"]))
    assert start == pytest.approx(1 - np.sqrt(0.5))
    assert (-np.diff(values) >= ranker.trace_["promised"] - 1e-15).all()
    assert isinstance(ranker.model_, StumpsModel)
    assert ranker.n_iter_ == 60


def test_the_published_row_of_letor_2(real_data, tmp_path, monkeypatch):
    monkeypatch.setenv("ARGRANK_DATA", str(real_data))
    config = read_config(EXPERIMENT)
    ranker = replace(next(one for one in config.rankers if one.name == "frank"), grid={"n_rounds": [10, 30]})
    expected = tuple(one for one in config.expected if one.ranker == "frank")
    results = ar.run_experiment(
        replace(config, rankers=(ranker,), expected=expected), tmp_path, n_jobs=1, progress=False
    )
    assert [check.expected.measure for check in results.checks] == ["ndcg@10", "map"]
    assert results.failures == []


def test_the_loss_is_exact_for_scores_far_apart():
    data = ar.Dataset([[0.0], [0.0]], [1, 0], group=[2])
    for apart, expected in ((80.0, 0.5 * np.exp(-80.0)), (-2000.0, 1.0), (2000.0, 0.0)):
        value, gradient = ar.objective("frank")([apart, 0.0], data)
        assert value == pytest.approx(expected, rel=1e-12)
        assert np.isfinite(gradient).all()
        assert gradient.sum() == 0.0


def test_separable_pairs_end_the_training():
    data = ar.Dataset([[1.0], [2.0], [5.0], [7.0]], [0, 1, 0, 1], qid=[1, 1, 2, 2])
    ranker = ar.make_ranker("frank").fit(data)
    assert ranker.score(data) == 1.0
    assert ranker.objective_ < 1e-6
    assert ranker.n_iter_ < 100


@pytest.mark.parametrize("name", ["frank", "rankboost"])
def test_an_interrupted_fit_keeps_its_rounds(name, data, monkeypatch):
    taken = Steps.take

    def stop(self, *arguments):
        if len(self) == 3:
            raise KeyboardInterrupt
        taken(self, *arguments)

    expected = ar.make_ranker(name, n_rounds=3).fit(data)
    monkeypatch.setattr(Steps, "take", stop)
    with pytest.warns(ArgrankWarning, match="the 3 earlier rounds were kept"):
        ranker = ar.make_ranker(name, n_rounds=9).fit(data)
    np.testing.assert_array_equal(ranker.predict(data), expected.predict(data))
    assert ranker.objective_ == expected.objective_


def test_unusable_numbers_of_rounds_are_refused(data):
    with pytest.raises(OptionError, match="n_rounds: expected"):
        ar.make_ranker("frank", n_rounds=0).fit(data)
