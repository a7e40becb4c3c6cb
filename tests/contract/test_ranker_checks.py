"""A ranker minimises what its name says, at any setting, and reports the value at its weights."""

from __future__ import annotations

import pytest
from tests.contract.ranker_checks import check_objective, settings, small_data
from tests.contract.test_objectives import NAMES

N_SETTINGS = 20


@pytest.mark.parametrize("name", NAMES)
def test_the_objective_is_that_of_the_name_and_of_the_weights(name):
    data = small_data()
    found = settings(name, N_SETTINGS, data)
    assert len(found) == N_SETTINGS
    for parameters in found:
        check_objective(name, parameters, data)
