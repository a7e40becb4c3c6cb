"""QueryKFold: queries never cross, parts are even, LETOR's rule, and scikit-learn takes it as a splitter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import argrank as ar
from argrank.data.folds import letor_parts
from argrank.errors import InputError, OptionError


def make(sizes: list[int]) -> ar.Dataset:
    qid = np.repeat(np.arange(len(sizes)), sizes)
    return ar.Dataset(np.arange(float(len(qid)))[:, None], np.zeros(len(qid)), qid)


@given(st.integers(2, 6), st.integers(0, 30), st.booleans(), st.data())
def test_queries_never_cross_and_parts_are_even(n_splits: int, more: int, shuffle: bool, data: st.DataObject) -> None:
    n_queries = n_splits + more
    letor = n_splits >= 3 and data.draw(st.booleans())
    folds = list(ar.QueryKFold(n_splits, shuffle=shuffle, letor=letor).split(make([1] * n_queries)))
    assert len(folds) == n_splits
    sizes = [len(test) for _, test in folds]
    assert max(sizes) - min(sizes) <= 1
    assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(n_queries))
    for train, test in folds:
        assert not set(train.tolist()) & set(test.tolist())
        left_out = n_queries - len(train) - len(test)
        assert left_out in (sizes if letor else [0])


@given(st.lists(st.sampled_from("abcdefg"), min_size=7, max_size=40), st.booleans())
def test_rows_in_any_order(qid: list[str], shuffle: bool) -> None:
    qid += list("abcdefg")
    groups = np.array(qid, dtype=object)
    splitter = ar.QueryKFold(3, shuffle=shuffle)
    tested = []
    for train, test in splitter.split(np.zeros((len(qid), 1)), groups=groups):
        assert sorted([*train, *test]) == list(range(len(qid)))
        assert not set(groups[train]) & set(groups[test])
        assert (np.diff(train) > 0).all()
        tested += test.tolist()
    assert sorted(tested) == list(range(len(qid)))


def test_the_seed_decides() -> None:
    data = make([2] * 40)

    def tests(seed: int | None) -> list[list[int]]:
        return [test.tolist() for _, test in ar.QueryKFold(4, random_state=seed).split(data)]

    assert tests(0) == tests(0)
    assert tests(0) != tests(1)
    assert tests(1) == tests(1)


def test_letors_rule() -> None:
    """The table that LETOR publishes, parts counted from 0."""
    published = {
        1: ([0, 1, 2], 3, 4),
        2: ([1, 2, 3], 4, 0),
        3: ([2, 3, 4], 0, 1),
        4: ([3, 4, 0], 1, 2),
        5: ([4, 0, 1], 2, 3),
    }
    assert {fold: tuple(letor_parts(fold)) for fold in range(1, 6)} == published
    with pytest.raises(OptionError, match="fold: expected a number from 1 to 5, got 6"):
        letor_parts(6)


def test_folds_of_datasets_follow_letors_rule() -> None:
    data = make([3, 1, 2, 1, 1, 2, 1, 1, 1, 4])
    folds = list(ar.QueryKFold(5, shuffle=False).folds(data))
    assert folds[1].train.query_ids.tolist() == [2, 3, 4, 5, 6, 7]
    assert folds[1].valid is not None
    assert folds[1].valid.query_ids.tolist() == [8, 9]
    assert folds[1].test.query_ids.tolist() == [0, 1]
    assert folds[1].test.n_documents == 4
    by_split = [test.tolist() for _, test in ar.QueryKFold(5, shuffle=False, letor=True).split(data)]
    assert by_split == [fold.test.query_ids.tolist() for fold in folds]


@pytest.mark.parametrize(
    ("make_it", "error", "message"),
    [
        (lambda: ar.QueryKFold(1), OptionError, "n_splits: expected a whole number from 2 up, got 1"),
        (
            lambda: ar.QueryKFold(2, letor=True),
            OptionError,
            "n_splits: expected a whole number from 3 up with letor=True, got 2",
        ),
        (lambda: ar.QueryKFold(2.5), OptionError, "n_splits: expected a whole number from 2 up, got 2.5"),
        (lambda: list(ar.QueryKFold(2).folds(make([1, 1, 1]))), OptionError, "folds: expected n_splits from 3 up"),
        (
            lambda: list(ar.QueryKFold(4).split(make([9, 9, 9]))),
            InputError,
            "at least 4 queries for as many folds, got 3",
        ),
        (lambda: list(ar.QueryKFold(2).split(np.eye(3))), InputError, "groups: expected the query id of every row"),
        (lambda: list(ar.QueryKFold(2).split(np.eye(3), groups=[1, 2])), InputError, "one id for each of 3 rows"),
    ],
)
def test_what_does_not_fit_is_refused(make_it, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make_it()


def test_scikit_learn_takes_it_as_splitter() -> None:
    from sklearn import config_context
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GridSearchCV, cross_validate

    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(60, 3)), rng.integers(0, 12, 60)
    y = X[:, 0] + rng.normal(size=60)
    splitter = ar.QueryKFold(4)
    assert splitter.get_n_splits() == 4
    result = cross_validate(Ridge(), X, y, groups=qid, cv=splitter, return_indices=True)
    for train, test in zip(result["indices"]["train"], result["indices"]["test"], strict=True):
        assert not set(qid[train]) & set(qid[test])
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(Ridge(), {"alpha": [0.1, 1]}, cv=splitter).fit(X, y, groups=qid)
    assert search.n_splits_ == 4


def test_its_repr_makes_it_again() -> None:
    text = repr(ar.QueryKFold(7, shuffle=False, random_state=None, letor=True))
    assert repr(eval(text, {"QueryKFold": ar.QueryKFold})) == text
