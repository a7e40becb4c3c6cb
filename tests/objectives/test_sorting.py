from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from argrank.objectives.objective import Sorter


@given(st.lists(st.integers(1, 70), min_size=1, max_size=12), st.integers(0, 3), st.integers(0, 10_000))
@settings(max_examples=40)
def test_every_query_is_ranked_by_descending_score(sizes, decimals, seed):
    indptr = 100 + np.concatenate(([0], np.cumsum(sizes)))  # a block in the middle of the data
    scores = np.round(1e3 * np.random.default_rng(seed).standard_normal(sum(sizes)), decimals - 3)
    order, stable = Sorter(indptr).descending(scores), Sorter(indptr).descending(scores, stable=True)
    for a, b in zip(indptr[:-1] - 100, indptr[1:] - 100, strict=True):
        assert sorted(order[a:b]) == list(range(b - a))
        assert (np.diff(scores[a:b][order[a:b]]) <= 0).all()
        assert (stable[a:b] == np.argsort(-scores[a:b], kind="stable")).all()


def test_sizes_that_differ_wildly_need_little_padding():
    indptr = np.concatenate(([0], np.cumsum([1, 40_000, *[2] * 3000])))
    scores = np.arange(indptr[-1], dtype=float)
    order = Sorter(indptr).descending(scores)
    assert order[0] == 0
    assert (order[1:40_001] == np.arange(40_000)[::-1]).all()
    assert (order[40_001:].reshape(-1, 2) == [1, 0]).all()
