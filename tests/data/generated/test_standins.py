from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.errors import OptionError

#: (queries, bad, good), as published in KDD 2008, section 4.1
KDD2008 = {
    "td2003": (50, 48_655, 516),
    "td2004": (75, 73_726, 444),
    "trec2000": (50, 218_766, 2_120),
    "trec2001": (50, 203_507, 2_892),
}


@pytest.mark.parametrize("name", KDD2008)
def test_counts_of_kdd2008(name):
    data = ar.make_standin(name)
    queries, bad, good = KDD2008[name]
    assert data.n_queries == queries
    assert np.bincount(data.y.astype(int)).tolist() == [bad, good]
    of_query = np.add.reduceat(data.y, data.indptr[:-1])
    assert of_query.min() >= 1
    assert of_query.max() > 4 * np.median(of_query)  # some have few good documents, some very many
    assert (data.X.min(), data.X.max()) == (0, 1)


def test_orm_web_1():
    data = ar.make_standin("orm-web-1")
    assert (data.n_queries, data.n_documents, len(np.unique(data.y))) == (1500, 50_000, 5)
    parts = data.split(0.6, 0.2, 0.2)
    assert [part.n_queries for part in parts] == [900, 300, 300]


def test_orm_web_2():
    data = ar.make_standin("orm-web-2")
    parts = data.split(1 / 3, 1 / 3, 1 / 3, random_state=None)
    assert [part.n_queries for part in parts] == [1000, 1000, 1000]
    assert set(data.sizes.tolist()) == {50}
    assert np.unique(data.y).tolist() == [0, 1, 2, 3, 4]


def test_always_labelled_as_generated():
    data = ar.make_standin("td2003")
    assert all(query.startswith("generated-td2003-") for query in data.query_ids)


def test_seeds():
    first, again, other = (ar.make_standin("td2003", random_state=seed).fingerprint for seed in (0, 0, 1))
    assert first == again != other


def test_unknown_name():
    with pytest.raises(OptionError, match="did you mean td2003"):
        ar.make_standin("td-2003")
