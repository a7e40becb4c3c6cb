"""A ranker minimises what its name says, at any setting, and reports the value at its weights."""

from __future__ import annotations

import pytest
from tests.contract.ranker_checks import check_objective, settings, small_data
from tests.contract.test_objectives import NAMES

from argrank.rankers.linear.linear_ranker import LinearRanker
from argrank.rankers.registry import ranker_class

N_SETTINGS = 20


@pytest.mark.parametrize("name", NAMES)
def test_the_objective_is_that_of_the_name_and_of_the_weights(name):
    data = small_data()
    found = settings(name, N_SETTINGS, data)
    assert len(found) == N_SETTINGS
    fitted = [check_objective(name, parameters, data) for parameters in found]
    if issubclass(ranker_class(name), LinearRanker):
        assert sum(fitted) >= 15
