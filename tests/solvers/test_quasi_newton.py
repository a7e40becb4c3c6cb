"""L-BFGS: the optimum another solver finds, a true gap, several starts, and what resampling does to it."""

from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.engines.local import LocalRisk
from argrank.errors import OptionError
from argrank.solvers import newton, quasi_newton


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(30, 15, 6, random_state=3)


def test_it_reaches_newtons_optimum(data):
    """|w|²/C + Q risk is 2/C times |w|²/2 + (C/2) Q risk, which Newton minimises."""
    C = 0.1
    risk = LocalRisk(data, ar.objective("rank-svm"))
    mine, theirs = quasi_newton.minimise(risk, C, 1e-10), newton.minimise(risk, C / 2, 1e-9)
    assert mine.converged
    assert mine.objective == pytest.approx(2 / C * theirs.objective, rel=1e-9)
    np.testing.assert_allclose(mine.w, theirs.w, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["log-convex", "log-mle", "listnet"])
def test_the_gap_holds_the_true_optimum(data, name):
    risk = LocalRisk(data, ar.objective(name))
    best = quasi_newton.minimise(risk, 1.0, 1e-12, 5000)
    for max_iter in (2, 3, 5):
        early = quasi_newton.minimise(risk, 1.0, 1e-12, max_iter)
        assert early.reason == "passes"
        assert not early.converged
        assert early.n_passes <= max_iter + 1
        assert early.gap == pytest.approx(early.gradient_norm**2 / 4)
        assert early.lower_bound <= best.objective <= early.objective * (1 + 1e-12)


def test_resampling_at_every_evaluation_breaks_the_line_search(data):
    """Section 4 of LogRank: with a new sample every time, objective and gradient contradict each other."""

    class Resampling:
        """The same risk, but with another sample at every call."""

        def __init__(self) -> None:
            self.calls, self.n_queries, self.n_features = 0, data.n_queries, data.n_features
            self.n_passes, self.seconds = 0.0, 0.0

        def value_and_gradient(self, w):
            self.calls += 1
            self.n_passes += 1.0
            objective = ar.objective("log-convex", n_samples=20, random_state=self.calls)
            return LocalRisk(data, objective, 1).value_and_gradient(w)

    fixed = quasi_newton.minimise(LocalRisk(data, ar.objective("log-convex", n_samples=20)), 1.0, 1e-8, 400)
    assert fixed.reason == "gradient"
    broken = quasi_newton.minimise(Resampling(), 1.0, 1e-8, 400)
    assert broken.reason == "precision"  # SciPy gave up: no step seemed to lower the objective
    assert not broken.converged
    assert broken.gradient_norm > 100 * fixed.gradient_norm


def test_more_starts_are_never_worse_and_the_result_is_told_last(data):
    risk = LocalRisk(data, ar.objective("log-gain", measure="auc"))
    told = []

    def note(w, facts):
        told.append((w.copy(), facts["objective"]))

    one = quasi_newton.minimise(risk, 100.0, 1e-6, convex=False)
    many = quasi_newton.minimise(risk, 100.0, 1e-6, 5000, None, note, convex=False, n_starts=5)
    assert many.objective <= one.objective * (1 + 1e-12)
    assert np.isnan(many.gap)
    np.testing.assert_array_equal(told[-1][0], many.w)
    assert told[-1][1] == many.objective
    again = quasi_newton.minimise(risk, 100.0, 1e-6, 5000, convex=False, n_starts=5)
    assert again.w.tobytes() == many.w.tobytes()


def test_the_caller_may_stop_it_and_ctrl_c_keeps_the_best(data):
    risk = LocalRisk(data, ar.objective("log-mle"))
    stopped = quasi_newton.minimise(risk, 1.0, 1e-9, callback=lambda w, facts: facts["n_passes"] > 4)
    assert stopped.reason == "callback"

    def interrupt(w, facts):
        if facts["n_passes"] > 4:
            raise KeyboardInterrupt

    kept = quasi_newton.minimise(risk, 1.0, 1e-9, callback=interrupt)
    assert kept.reason == "interrupted"
    assert kept.objective < data.n_queries * risk.value_and_gradient(np.zeros(6))[0]


def test_a_flat_objective_is_done_at_once_and_c_is_checked():
    flat = ar.Dataset(np.ones((4, 2)), [1, 1, 1, 1], group=[2, 2])
    result = quasi_newton.minimise(LocalRisk(flat, ar.objective("log-mle")))
    assert result.converged
    assert not result.w.any()
    with pytest.raises(OptionError, match="C: expected a positive number"):
        quasi_newton.minimise(LocalRisk(flat, ar.objective("log-mle")), C=0.0)
