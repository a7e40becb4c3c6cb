"""auto learns the same bits from any order of queries and rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import argrank as ar


@pytest.mark.parametrize("settings", [{"family": "linear"}, {"max_trees": 8, "n_folds": 2}])
def test_the_order_of_queries_and_rows_moves_no_bit(settings: dict[str, Any]) -> None:
    data = ar.make_ranking(20, (2, 12), 4, truth="nonlinear", random_state=3)
    rows = np.random.default_rng(0).permutation(data.n_documents)
    other = ar.Dataset(data.X[rows], data.y[rows], qid=data.qid[rows])
    found = [ar.make_ranker("auto", **settings, verbose=-1).fit(one) for one in (data, other)]
    scores = [ranker.predict(data.X) for ranker in found]
    assert scores[0].tobytes() == scores[1].tobytes()
    assert found[0].estimate_ == found[1].estimate_
    assert [one[:4] for one in found[0].members_] == [one[:4] for one in found[1].members_]
