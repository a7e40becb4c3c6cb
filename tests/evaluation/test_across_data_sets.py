from __future__ import annotations

import numpy as np
import pytest

from argrank.errors import InputError
from argrank.evaluation.across_data_sets import micro_average, winning_numbers

# Three systems on two data sets; on the second b and c are level, which is nobody's win.
TABLE = {
    "first": {
        "a": {"ndcg@1": 0.5, "ndcg@5": 0.4},
        "b": {"ndcg@1": 0.3, "ndcg@5": 0.6},
        "c": {"ndcg@1": 0.1, "ndcg@5": 0.5},
    },
    "second": {
        "a": {"ndcg@1": 0.2, "ndcg@5": 0.9},
        "b": {"ndcg@1": 0.7, "ndcg@5": 0.1},
        "c": {"ndcg@1": 0.7, "ndcg@5": 0.2},
    },
}


def test_winning_numbers_by_hand():
    assert winning_numbers(TABLE) == {
        "a": {"ndcg@1": 2, "ndcg@5": 2},
        "b": {"ndcg@1": 2, "ndcg@5": 2},
        "c": {"ndcg@1": 1, "ndcg@5": 2},
    }


def test_winning_numbers_take_values_per_query():
    table = {"d": {"a": {"map": [0.5, np.nan, 1.0]}, "b": {"map": np.array([0.7, 0.7, np.nan])}}}
    assert winning_numbers(table) == {"a": {"map": 1}, "b": {"map": 0}}


def test_winning_numbers_reach_at_most_data_sets_times_rivals():
    numbers = winning_numbers({name: {s: {"map": float(ord(s))} for s in "abcd"} for name in ("x", "y", "z")})
    assert [numbers[s]["map"] for s in "abcd"] == [0, 3, 6, 9]


def test_micro_average_weighs_data_sets_by_their_defined_queries():
    table = {
        "large": {"a": {"map": [0.1, 0.2, 0.3, np.nan]}, "b": {"map": np.ones(4)}},
        "small": {"a": {"map": [1.0]}, "b": {"map": [0.0]}},
    }
    average = micro_average(table)
    assert average["a"]["map"] == pytest.approx((3 * 0.2 + 1 * 1.0) / 4)
    assert average["b"]["map"] == pytest.approx(4 / 5)


def test_micro_average_of_nothing_defined_is_nan():
    assert np.isnan(micro_average({"d": {"a": {"map": [np.nan]}}})["a"]["map"])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "empty mapping"),
        ({"d": {}}, "empty mapping"),
        ({"d": {"a": {"map": 1}}, "e": {"b": {"map": 1}}}, r"systems \['a'\] in every data set, got \['b'\] in 'e'"),
        ({"d": {"a": {"map": 1}, "b": {"mrr": 1}}}, r"measures \['map'\] everywhere, got \['mrr'\] for 'b' in 'd'"),
        ({"d": {"a": 0.5}}, "a mapping from measures, got float"),
    ],
)
@pytest.mark.parametrize("function", [winning_numbers, micro_average])
def test_gaps_are_refused(function, table, message):
    with pytest.raises(InputError, match=message):
        function(table)


def test_means_cannot_be_pooled():
    with pytest.raises(InputError, match=r"one value of 'map' for every query, got 0\.5"):
        micro_average({"d": {"a": {"map": 0.5}}})
