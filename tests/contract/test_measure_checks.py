"""Every registered measure keeps what measures promise, with ties and at cut-offs."""

from __future__ import annotations

import pytest
from tests.contract.measure_checks import CHECKS
from tests.contract.measure_truths import check_truth

import argrank as ar
from argrank.measures import MEASURES


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", [*MEASURES, "gAUC", "nERU"])
def test_every_measure(name, check):
    check(ar.measure(name))


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_is_its_truth(name):
    check_truth(name)
