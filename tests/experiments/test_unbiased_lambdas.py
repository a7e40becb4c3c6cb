"""XGBoost's unbiased LambdaRank on distinct lists with weights learns what XGBoost's own learns on repeated lists."""

from __future__ import annotations

import numpy as np
import pytest

import argrank as ar

pytest.importorskip("xgboost")


def test_distinct_lists_give_the_scores_of_repeated_ones(monkeypatch):
    from experiments.clicks import learning
    from experiments.clicks._logs import numbered

    data = ar.make_ranking(12, (8, 20), 5, grades=3, random_state=1)
    data = numbered(data, data.X)
    monkeypatch.setitem(learning.TREES, "n_trees", 8)
    drawn = learning.draw_log(data, 4_000, 0)[1]
    lists, distinct = drawn.clicked_sessions(False), drawn.clicked_sessions(True)
    assert len(distinct.sizes) < len(lists.sizes) == distinct.times.sum()
    repeated = {tuple(one) for one in np.split(lists.rows, np.cumsum(lists.sizes)[:-1])}
    assert repeated == {tuple(one) for one in np.split(distinct.rows, np.cumsum(distinct.sizes)[:-1])}
    own, weighed = (learning.xgboost_scores(drawn, data, data, distinct=one) for one in (False, True))
    np.testing.assert_allclose(weighed - weighed.mean(), own - own.mean(), atol=1e-5)
    assert own.std() > 0.05
