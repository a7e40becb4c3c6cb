"""Ctrl-C in a fit that is a step of another one, such as the model it starts from, ends both."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import argrank as ar
from argrank.errors import ArgrankWarning
from argrank.solvers import minimise
from argrank.solvers.problem import Stop

DATA = ar.make_ranking(8, (3, 6), 3, random_state=0)
CHEAP = "argrank.rankers.cheap_models"


def interrupt(monkeypatch, module: str, call: int) -> list[int]:
    """Have a solver return as it does after Ctrl-C; return the numbers of its calls."""
    calls, numbers = [], itertools.count(1)

    def interrupted(*given, **options):
        calls.append(next(numbers))
        result = minimise(*given, **options)
        return replace(result, reason=Stop.INTERRUPTED) if calls[-1] == call else result

    monkeypatch.setattr(f"{module}.minimise", interrupted)
    return calls


@pytest.mark.parametrize("name", ["direct-rank", "svm-ndcg", "log-gain"])
def test_in_the_start_of_a_fit(monkeypatch, name):
    interrupt(monkeypatch, CHEAP, 1)
    with pytest.raises(KeyboardInterrupt):
        ar.make_ranker(name).fit(DATA)


def test_in_the_start_of_a_bag_the_bags_before_are_kept(monkeypatch):
    one = ar.make_ranker("direct-rank", bags=1).fit(DATA)
    calls = interrupt(monkeypatch, CHEAP, 2)
    with pytest.warns(ArgrankWarning, match="interrupted"):
        ranker = ar.make_ranker("direct-rank", bags=2**31).fit(DATA)
    assert calls == [1, 2]
    np.testing.assert_array_equal(ranker.coef_, one.coef_)


def test_in_a_half_of_factors_what_was_found_is_kept(monkeypatch):
    ratings = sparse.csr_matrix(np.array([[1.0, 2, 0, 5], [3, 0, 1, 2], [0, 2, 5, 1]]))
    calls = interrupt(monkeypatch, "argrank.rankers.factors.factor_rank", 2)
    with pytest.warns(ArgrankWarning, match="interrupted in round 1"):
        ranker = ar.make_ranker("factor-rank", rank=1).fit(ratings)
    assert (calls, ranker.n_iter_) == ([1, 2], 0)
    assert len(ranker.recommend(0, seen=True)) == 4
