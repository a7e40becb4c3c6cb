from __future__ import annotations

import numpy as np
import pytest

from argrank.errors import OptionError
from argrank.trials.grid import beyond, borders, points_of, weakness


def test_a_dict_is_a_product_and_a_list_is_a_union():
    assert points_of({"a": [1, 2], "b": ["x"], "c": None}) == [
        {"a": 1, "b": "x", "c": None},
        {"a": 2, "b": "x", "c": None},
    ]
    assert points_of([{"a": 1}, {"b": np.array([2.0, 3.0])}]) == [{"a": 1}, {"b": 2.0}, {"b": 3.0}]
    assert points_of({}) == [{}]


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"C": []}, "C: expected at least one value"),
        ([], "expected at least one point"),
        ([3], "expected a dict of parameter -> values"),
        ({"C": {"values": [1.0]}}, "C: expected a list of values"),
    ],
)
def test_what_is_no_grid_is_refused(grid, message):
    with pytest.raises(OptionError, match=message):
        points_of(grid)


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


def test_beyond_goes_on_by_the_last_step_and_only_for_regularisers():
    assert beyond({"C": 10.0, "n": 1}, [{"C": c, "n": n} for c in (0.1, 1.0, 10.0) for n in (1, 2, 3)]) == [
        {"C": 100.0, "n": 1}
    ]
    assert beyond({"C": 0.1}, [{"C": c} for c in (0.1, 0.2, 10.0)]) == [{"C": 0.05}]
    assert beyond({"C": 1.0}, [{"C": c} for c in (0.1, 1.0, 10.0)]) == []
    assert beyond({"ridge": 0.0}, [{"ridge": r} for r in (0.0, 1.0, 10.0)]) == []
    assert beyond({"ridge": 1.0}, [{"ridge": r} for r in (-1.0, 0.0, 1.0)]) == []  # no ratio leads away from 0
