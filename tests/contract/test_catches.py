"""The contract rejects what is wrong: each test registers something broken and sees a check fail."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from tests.contract import test_objectives, test_solvers, test_structured
from tests.contract.measure_checks import CHECKS, check_cutoff, check_row_order, check_ties
from tests.contract.ranker_checks import check_objective, small_data

import argrank as ar
from argrank.measures import MEASURES
from argrank.measures.measure import Measure
from argrank.objectives.objective import Prepared
from argrank.objectives.pointwise import SquaredError
from argrank.objectives.structured.hinge import ORACLES, REFERENCE_PARTS
from argrank.rankers import RankSVM
from argrank.rankers.linear.linear_ranker import LinearRanker
from argrank.rankers.registry import RANKERS
from argrank.solvers import SOLVERS, bundle


@dataclass(frozen=True, repr=False)
class LateSuccess(Measure):
    """Right where no scores tie: it takes the order of the rows for an order of the scores."""

    spelling = "LateSuccess"
    aliases = ("latesuccess",)

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
def register():
    """Register things as another package would, and take them away afterwards; the contract goes over these names."""
    added = []

    def add(registry, function, name, *given, **options):
        function(*given, **options) if registry is MEASURES else function(name, *given, **options)
        added.append((registry, name))

    yield add
    for registry, name in added:
        registry.remove(name)


@pytest.fixture
def measures(register):
    for kind in (LateSuccess, LatePrecision):
        register(MEASURES, ar.register_measure, kind.spelling, kind)


def test_a_measure_that_ignores_ties_is_caught(measures):
    measure = ar.measure("latesuccess")
    for check in (check_ties, check_row_order):
        with pytest.raises(AssertionError, match="LateSuccess"):
            check(measure)
    for check in set(CHECKS) - {check_ties, check_row_order}:
        check(measure)


@pytest.mark.parametrize("shift", [1, -1])
def test_a_measure_that_is_wrong_at_its_cutoff_is_caught(measures, shift):
    with pytest.raises(AssertionError, match="rank"):
        check_cutoff(ar.measure(f"latep(shift={shift})"))
    check_ties(ar.measure(f"latep(shift={shift})"))


class TwiceTheGradient(Prepared):
    """A squared error whose gradient is twice too long."""

    ranks = False

    def __init__(self, inner):
        self.indptr, self._inner = inner.indptr, inner

    def evaluate(self, first, last, scores, order, gradient):
        losses = self._inner.evaluate(first, last, scores, order, gradient)
        gradient *= 2.0
        return losses


@dataclass(frozen=True, kw_only=True)
class WrongError(SquaredError):
    def prepare(self, data):
        return TwiceTheGradient(super().prepare(data))


@dataclass(eq=False, repr=False, kw_only=True)
class WrongGradient(LinearRanker):
    """A ranker with a wrong gradient."""

    def _objective(self):
        return WrongError(gain="linear", intercept=0.0)


@dataclass(eq=False, repr=False, kw_only=True)
class WrongReport(RankSVM):
    """A ranker that reports less than the objective at its weights."""

    def _train(self, data, watcher, start):
        outcome = super()._train(data, watcher, start)
        return outcome._replace(objective=0.999 * outcome.objective)


def boast(problem):
    """Claim that the weights found are optimal."""
    result = bundle.minimise(problem)
    return replace(result, gap=0.0, lower_bound=result.objective, reason="gap")


def by_score(hinge, data):
    """Take the ranking by score for the most violated one."""
    return REFERENCE_PARTS["pairs"](hinge, data)


@pytest.fixture
def wrong(register):
    """Register rankers and a solver under names of their own."""
    register(RANKERS, ar.register_ranker, "wrong-gradient", WrongGradient)
    register(RANKERS, ar.register_ranker, "wrong-report", WrongReport, family="pairwise")
    register(SOLVERS, ar.register_solver, "boast", boast, needs=("convex",), proves=True)


def test_a_wrong_gradient_is_caught(wrong):
    data = ar.Dataset(np.eye(6), [2, 0, 1, 1, 0, 2], group=[3, 3])
    scores = np.array([0.3, 1.0, -0.5, 0.2, 0.9, -1.0])
    test_objectives.test_the_gradient_is_the_slope_of_the_value("regression", data, scores)
    with pytest.raises(AssertionError):
        test_objectives.test_the_gradient_is_the_slope_of_the_value("wrong-gradient", data, scores)


def test_a_ranker_that_reports_another_objective_is_caught(wrong):
    data = small_data()
    check_objective("rank-svm", {"C": 3.0}, data)
    with pytest.raises(AssertionError):
        check_objective("wrong-report", {"C": 3.0}, data)


def test_a_solver_with_a_false_gap_is_caught(wrong):
    test_solvers.test_every_solver_tells_the_truth_about_its_result("bundle", 3)
    with pytest.raises(AssertionError):
        test_solvers.test_every_solver_tells_the_truth_about_its_result("boast", 3)


def test_a_wrong_oracle_is_caught(monkeypatch):
    case = next(case for case in test_structured.CASES if case.name == "svm-map")
    test_structured.test_the_worst_ranking_is_the_best_of_all(case, "jit")
    monkeypatch.setitem(ORACLES, ("pairs", "precision"), by_score)
    with pytest.raises(AssertionError):
        test_structured.test_the_worst_ranking_is_the_best_of_all(case, "jit")
