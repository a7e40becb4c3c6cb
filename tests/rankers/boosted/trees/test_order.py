"""Boosted trees do not depend on the order of queries or rows: the same bits, also from a checkpoint or a pack."""

from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.data import arranged as arranging
from argrank.errors import ArgrankWarning
from argrank.rankers.boosted.trees.seeded_boosters import LightGBMBoosters

LEAFWISE = ("mart", "lambda-mart", "query-mart", "pair-mart", "xendcg-mart", "mcrank", "direct-rank-trees")
NAMES = (*LEAFWISE, "symmetric-mart")
SMALL = {"n_trees": 6, "n_leaves": 6, "min_documents": 3, "verbose": -1}


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(30, (3, 20), 5, truth="nonlinear", random_state=4)


def shuffled(data, seed):
    rows = np.random.default_rng(seed).permutation(data.n_documents)
    return ar.Dataset(data.X[rows], data.y[rows], qid=data.qid[rows])


def made(name, **more):
    small = SMALL if name in LEAFWISE else {"n_trees": 6, "depth": 3, "verbose": -1}
    return ar.make_ranker(name, **{**small, **more})


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("more", [{}, {"normalise": "standard"}, {"normalise": "query-minmax"}, {"n_jobs": 2}])
def test_the_same_bits_for_any_order(name, more, data):
    expected = made(name, **{**more, "n_jobs": 1}).fit(data)
    for seed in range(2):
        found = made(name, **more).fit(shuffled(data, seed))
        assert found.predict(data, qid=None).tobytes() == expected.predict(data).tobytes()
        assert found.objective_ == pytest.approx(expected.objective_, rel=1e-12)
        assert found.model_.training["data"] != expected.model_.training["data"]  # it is the caller's


@pytest.mark.parametrize("name", ["mart", "lambda-mart", "symmetric-mart"])
def test_queries_held_out_to_stop_by_are_the_same(name, data):
    settings = {"n_trees": 40, "early_stopping": 3}
    expected, found = (made(name, **settings).fit(one) for one in (data, shuffled(data, 1)))
    assert found.n_iter_ == expected.n_iter_ < 40
    assert found.predict(data).tobytes() == expected.predict(data).tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_large_features_that_are_gathered_give_the_same_bits(name, data, monkeypatch):
    expected = made(name).fit(data).predict(data)
    monkeypatch.setattr(arranging, "LARGE", 0)
    found = made(name).fit(shuffled(data, 3)).predict(data)
    np.testing.assert_allclose(found, expected, rtol=1e-12)  # a linear start multiplies in blocks
    again = made(name).fit(shuffled(data, 4)).predict(data)
    assert found.tobytes() == again.tobytes()


def test_a_fit_that_was_interrupted_ends_with_the_same_bits(tmp_path, data, monkeypatch):
    expected = ar.make_ranker("mart", **SMALL).fit(data).predict(data)
    other, grow, count = shuffled(data, 0), LightGBMBoosters.grow, [0]

    def interrupted(boosters):
        count[0] += 1
        if count[0] == 4:
            raise KeyboardInterrupt
        return grow(boosters)

    monkeypatch.setattr(LightGBMBoosters, "grow", interrupted)
    with pytest.warns(ArgrankWarning, match="interrupted"):
        ar.make_ranker("mart", **SMALL).fit(other, checkpoint=tmp_path / "a", every=1e-9)
    found = ar.make_ranker("mart", **SMALL).fit(other, checkpoint=tmp_path / "a", every=1e-9)
    assert count[0] == 4 + SMALL["n_trees"] - 3
    assert found.predict(data).tobytes() == expected.tobytes()
