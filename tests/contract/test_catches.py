"""The contract rejects what is wrong: each test registers something broken and sees a check fail."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from tests.contract.measure_checks import CHECKS, check_cutoff, check_row_order, check_ties

import argrank as ar
from argrank.measures import ALIASES, MEASURES
from argrank.measures.measure import Measure


@dataclass(frozen=True, repr=False)
class Success(Measure):
    """Right where no scores tie: it takes the order of the rows for an order of the scores."""

    spelling = "Success"
    aliases = ("success",)

    k: int | None = None

    def _values(self, rankings, convention):
        return rankings.relevant(convention.relevant_at)[:, : self.k].any(axis=1).astype(np.float64)


@dataclass(frozen=True, repr=False)
class LatePrecision(Measure):
    """Looks one rank too far, or with ``shift=-1`` one rank too short."""

    spelling = "LateP"
    aliases = ("latep",)

    k: int | None = None
    shift: int = 1

    def _values(self, rankings, convention):
        cut = None if self.k is None else self.k + self.shift
        return rankings.relevance(convention.relevant_at)[:, :cut].sum(axis=1) / (self.k or 1)


@pytest.fixture
def registered(monkeypatch):
    """Register measures as a newcomer would; the contract tests go over these names."""
    for kind in (Success, LatePrecision):
        monkeypatch.setitem(MEASURES, kind.spelling, kind)
        monkeypatch.setitem(ALIASES, kind.aliases[0], kind.spelling)


def test_a_measure_that_ignores_ties_is_caught(registered):
    measure = ar.measure("success")
    for check in (check_ties, check_row_order):
        with pytest.raises(AssertionError, match="Success"):
            check(measure)
    for check in set(CHECKS) - {check_ties, check_row_order}:
        check(measure)


@pytest.mark.parametrize("shift", [1, -1])
def test_a_measure_that_is_wrong_at_its_cutoff_is_caught(registered, shift):
    with pytest.raises(AssertionError, match="rank"):
        check_cutoff(ar.measure(f"latep(shift={shift})"))
    check_ties(ar.measure(f"latep(shift={shift})"))
