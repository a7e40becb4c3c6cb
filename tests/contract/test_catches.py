"""The contract rejects what is wrong: each test registers something broken and sees a check fail."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
import typer
from tests.cli import made_command
from tests.contract import test_objectives, test_solvers, test_structured
from tests.contract.measure_checks import CHECKS, check_cutoff, check_row_order, check_ties
from tests.contract.measure_truths import TRUTHS, check_truth
from tests.contract.ranker_checks import check_objective, small_data
from tests.contract.target_checks import CHECKS as TARGET_CHECKS
from tests.contract.target_checks import check_notes, check_parity, check_refusals
from tests.contract.test_commands import check_help

import argrank as ar
from argrank import cli
from argrank.deploy.registry import TARGETS
from argrank.measures import MEASURES
from argrank.measures.measure import Measure
from argrank.objectives.objective import Prepared
from argrank.objectives.pointwise import SquaredError
from argrank.objectives.structured.hinge import ORACLES, REFERENCE_PARTS
from argrank.rankers import RankSVM
from argrank.rankers.linear.linear_ranker import LinearRanker
from argrank.rankers.registry import RANKERS
from argrank.solvers import SOLVERS, bundle, l_bfgs
from argrank.solvers.problem import Stop


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
    return replace(result, gap=0.0, lower_bound=result.objective, reason=Stop.GAP)


def by_score(hinge, data):
    """Take the ranking by score for the most violated one."""
    return REFERENCE_PARTS["pairs"](hinge, data)


def descend(problem):
    """Minimise a smooth risk by SciPy, and stop where the caller says so; it proves nothing."""
    return l_bfgs.conjugate_gradients(problem)


def deaf(problem):
    """Let Ctrl-C through."""
    escaped = []

    def callback(w, facts):
        try:
            return problem.callback(w, facts)
        except KeyboardInterrupt:
            escaped.append(True)
            return True

    result = bundle.minimise(replace(problem, callback=callback))
    if escaped:
        raise KeyboardInterrupt
    return result


@dataclass(frozen=True, repr=False)
class WideR(Measure):
    """R-precision that looks at max(k, R) ranks, where min(k, R) was meant."""

    spelling = "WideR"
    aliases = ("wider",)

    k: int | None = None

    def _values(self, rankings, convention):
        relevance = rankings.relevance(convention.relevant_at)
        n_relevant = rankings.n_relevant(convention.relevant_at)
        ends = np.maximum(n_relevant, self.k or 0)
        found = [row[: int(end)].sum() / max(end, 1) for row, end in zip(relevance, ends, strict=True)]
        return np.where(n_relevant > 0, found, np.nan)


def truth_of_wide_r(labels, k):
    """What WideR's author meant."""
    relevant = sum(y >= 1 for y in labels)
    end = min(k or relevant, relevant)
    return sum(y >= 1 for y in labels[:end]) / end if end else math.nan


class Sql:
    """A target that writes SQL, for linear models; ``dropped`` leaves out what features are shifted by."""

    def __init__(self, dropped=False):
        self._dropped = dropped

    def write(self, plain, options):
        shift = 0.0 * plain.linear.shift if self._dropped else plain.linear.shift
        rows = zip(plain.linear.weights.tolist(), shift.tolist(), plain.linear.scale.tolist(), strict=True)
        return {"model.json": json.dumps(list(rows)).encode()}

    def simulate(self, files, options, X):
        weights, shift, scale = np.array(json.loads(files["model.json"])).T
        return ((np.nan_to_num(X.astype(np.float32)) - shift) / scale) @ weights


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


def test_a_solver_that_lets_ctrl_c_through_fails_a_check_and_ends_no_run(register):
    register(SOLVERS, ar.register_solver, "deaf", deaf, needs=("convex",))
    with pytest.raises(pytest.fail.Exception, match="deaf does not keep its best weights"):
        test_solvers.test_the_caller_can_stop_and_interrupt("deaf")


def test_a_solver_for_smooth_risks_alone_passes(register):
    register(SOLVERS, ar.register_solver, "descend", descend, needs=("smooth",))
    for max_iter in (3, 1000):
        test_solvers.test_every_solver_tells_the_truth_about_its_result("descend", max_iter)
    test_solvers.test_the_caller_can_stop_and_interrupt("descend")
    test_solvers.test_a_centre_is_where_a_tiny_c_stays("descend")


def test_a_measure_of_the_wrong_definition_is_caught_by_its_truth(register, monkeypatch):
    register(MEASURES, ar.register_measure, "WideR", WideR)
    with pytest.raises(AssertionError, match="WideR: expected a truth"):
        check_truth("WideR")
    monkeypatch.setitem(TRUTHS, "WideR", truth_of_wide_r)
    with pytest.raises(AssertionError, match="WideR@"):
        check_truth("WideR")


def test_a_target_that_is_right_passes(register):
    register(TARGETS, ar.register_target, "sql", Sql(), takes=("linear",), singles=True)
    for check in TARGET_CHECKS:
        check("sql")


def test_a_target_without_its_shift_is_caught(register):
    register(TARGETS, ar.register_target, "sql", Sql(dropped=True), takes=("linear",))
    with pytest.raises(AssertionError, match="sql, "):
        check_parity("sql")


def test_a_target_that_takes_less_than_it_says_is_caught(register):
    register(TARGETS, ar.register_target, "sql", Sql(), takes=("linear", "trees"))
    with pytest.raises(AttributeError):
        check_parity("sql")


def test_a_target_that_prints_no_proof_is_caught(register, monkeypatch):
    register(TARGETS, ar.register_target, "sql", Sql(), takes=("linear",))
    monkeypatch.setattr("argrank.deploy.exporting.proof_of", lambda to: "Proof: trust me.")
    with pytest.raises(AssertionError, match="trust me"):
        check_notes("sql")
    check_refusals("sql")


def test_an_option_without_a_help_text_is_caught(monkeypatch):
    monkeypatch.setattr(cli, "COMMANDS", {"made": made_command.__name__})
    check_help("made")
    monkeypatch.setattr(cli, "COMMANDS", {"silent": f"{__name__}"})
    with pytest.raises(AssertionError, match="options without a help text"):
        check_help("silent")


def run(number: int = typer.Option(1, "--number")) -> None:
    """Have an option that says nothing."""
