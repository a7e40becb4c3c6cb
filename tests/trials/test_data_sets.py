from __future__ import annotations

import numpy as np

import argrank as ar
from argrank.data.folds import Fold
from argrank.trials.config import DataSpec
from argrank.trials.experiment import prepare, read_data


def test_binarise_makes_two_levels_of_every_part():
    data = ar.make_ranking(6, 10, 3, random_state=1)
    fold = prepare(Fold(data, None, data), ({"binarise": 2},))
    assert fold.valid is None
    for part in (fold.train, fold.test):
        np.testing.assert_array_equal(part.y, data.y >= 2)
        np.testing.assert_array_equal(part.X, data.X)


def test_cleaning_reaches_the_test_part():
    good_and_bad_alike = ar.Dataset([[1, 0], [1, 0], [0, 1], [1, 1]], [1, 0, 1, 0], qid=[1, 1, 1, 1])
    fold = prepare(Fold(good_and_bad_alike, None, good_and_bad_alike), ({"clean": "kdd2008"},))
    assert fold.test.n_documents == fold.train.n_documents == 2


def test_standins_fall_into_five_parts_of_their_queries():
    spec = DataSpec("td2003 (generated)", (1, 2), standin="td2003")
    first, second = (read_data(spec, fold) for fold in spec.folds)
    assert [part.n_queries for part in first] == [30, 10, 10]
    assert not set(first.test.query_ids) & set(second.test.query_ids)
    assert str(first.test.query_ids[0]).startswith("generated-")
