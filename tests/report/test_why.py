from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.errors import InputError, OptionError


@pytest.mark.parametrize("normalise", [None, "query-zscore", "standard"])
def test_adds_up_to_the_difference_of_the_scores(normalise):
    rng = np.random.default_rng(3)
    qid = rng.permutation(np.repeat(np.arange(5), 6))  # rows of a query are not together
    y = rng.integers(0, 3, 30)
    data = ar.Dataset(y[:, None] + rng.normal(size=(30, 4)), y, qid)
    ranker = ar.make_ranker("regression", normalise=normalise).fit(data)
    scores = ranker.predict(data)
    a, b = np.flatnonzero(qid == 2)[:2]
    why = ar.why_above(ranker, data, int(a), int(b))
    assert why.contributions.sum() == pytest.approx(scores[a] - scores[b])
    assert why.difference == pytest.approx(scores[a] - scores[b])
    assert f"row {a} is {'above' if why.difference > 0 else 'below'} row {b}" in repr(why)


def test_refuses_other_queries_and_rows_that_are_not_there():
    data = ar.make_ranking(3, 4, 2, random_state=0)
    ranker = ar.make_ranker("regression").fit(data)
    with pytest.raises(InputError, match="one query"):
        ar.why_above(ranker, data, 0, 5)
    with pytest.raises(OptionError, match="0 to 11"):
        ar.why_above(ranker, data, 0, 12)
