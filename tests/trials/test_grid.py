from __future__ import annotations

import itertools

import numpy as np
import pytest

import argrank as ar
from argrank.errors import OptionError
from argrank.trials.grid import borders, n_pairs, points_of, size_of, weakness


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(12, (3, 15), 4, grades=4, random_state=3)


def test_pairs_are_counted_as_by_enumeration(data):
    expected = sum(
        data.y[i] != data.y[j]
        for first, last in zip(data.indptr[:-1], data.indptr[1:], strict=True)
        for i, j in itertools.combinations(range(first, last), 2)
    )
    assert n_pairs(data) == expected > 0


def test_without_labels_the_preferences_are_the_pairs():
    data = ar.Dataset(np.eye(4), None, [1, 1, 2, 2], preferences=[(0, 1), (3, 2)])
    assert n_pairs(data) == 2


def test_data_without_pairs_divides_by_one():
    assert size_of(ar.Dataset(np.eye(2), [0, 0], [1, 1]), "pairs") == 1


def test_a_dict_is_a_product_and_a_list_is_a_union(data):
    assert points_of({"a": [1, 2], "b": ["x"], "c": None}, data) == [
        {"a": 1, "b": "x", "c": None},
        {"a": 2, "b": "x", "c": None},
    ]
    assert points_of([{"a": 1}, {"b": np.array([2.0, 3.0])}], data) == [{"a": 1}, {"b": 2.0}, {"b": 3.0}]
    assert points_of({}, data) == [{}]


@pytest.mark.parametrize(("unit", "size"), [("queries", "n_queries"), ("documents", "n_documents")])
def test_values_are_divided_by_the_size_of_the_data(data, unit, size):
    points = points_of({"C": {"values": [1.0, 10.0], "divide_by": unit}}, data)
    assert [point["C"] for point in points] == [1.0 / getattr(data, size), 10.0 / getattr(data, size)]


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"C": []}, "C: expected at least one value"),
        ([], "expected at least one point"),
        ([3], "expected a dict of parameter -> values"),
        ({"C": {"values": [1.0], "divide_by": "pears"}}, "unknown scale of a grid 'pears'; did you mean pairs"),
        ({"C": {"values": ["x"], "divide_by": "pairs"}}, "expected numbers to divide"),
        ({"C": {"value": [1.0]}}, 'expected {"values"'),
    ],
)
def test_what_is_no_grid_is_refused(data, grid, message):
    with pytest.raises(OptionError, match=message):
        points_of(grid, data)


def test_the_more_regularised_point_comes_first():
    assert min([{"C": 10.0}, {"C": 0.1}, {"C": 1.0}], key=weakness) == {"C": 0.1}
    assert min([{"ridge": 0.0}, {"ridge": 5.0}], key=weakness) == {"ridge": 5.0}
    assert weakness({"loss": "squared"}) == weakness({"loss": "hinge"})


def test_borders():
    points = [{"C": c, "loss": "squared", "flag": flag} for c in (0.1, 1, 10) for flag in (True, False)]
    assert borders({"C": 10, "loss": "squared", "flag": True}, points) == {"C": "above"}
    assert borders({"C": 0.1}, points) == {"C": "below"}
    assert borders({"C": 1}, points) == {}
    assert borders({"C": 1}, [{"C": 0.5}, {"C": 1}]) == {}  # two values have no inside
    assert borders({"ridge": 0.0}, [{"ridge": value} for value in (0.0, 1.0, 2.0)]) == {}  # nothing lies below 0
