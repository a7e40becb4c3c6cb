"""L-BFGS: the optimum another solver finds, a true gap, fewer passes than SciPy, several starts, resuming."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize

import argrank as ar
from argrank.engines import make_risk
from argrank.errors import OptionError
from argrank.solvers import minimise
from argrank.solvers.problem import Stop


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(30, 15, 6, random_state=3)


def test_it_reaches_newtons_optimum(data):
    risk = make_risk(data, ar.objective("rank-svm"))
    mine, theirs = minimise(risk, "l-bfgs", C=100.0, tol=1e-10), minimise(risk, "newton", C=100.0, tol=1e-9)
    assert mine.converged
    assert mine.objective == pytest.approx(theirs.objective, rel=1e-9)
    np.testing.assert_allclose(mine.w, theirs.w, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["log-convex", "log-mle", "log-gain", "listnet", "rank-cosine", "softrank"])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_it_takes_no_more_passes_than_scipy(data, name, C):
    risk, start = make_risk(data, ar.objective(name)), np.full(6, 0.1)

    def whole(w):
        value, slope = risk.value_and_gradient(w)
        return value + w @ w / (2 * C), slope + w / C

    class Flat(Exception):
        pass

    def stop(w):
        value, slope = whole(w)
        risk._products -= 2  # this look is the test's
        if C * slope @ slope / 2 <= 1e-6 * abs(value):
            raise Flat

    before = risk.n_passes
    try:
        options = {"maxcor": 20, "ftol": 0.0, "gtol": 0.0}
        scipy_minimize(whole, start, jac=True, method="L-BFGS-B", callback=stop, options=options)
    except Flat:
        pass
    theirs = risk.n_passes - before
    mine = minimise(risk, "l-bfgs", C=C, tol=1e-6, start=start)
    assert mine.converged
    assert mine.n_passes <= 1.2 * theirs + 1


@pytest.mark.parametrize("name", ["log-convex", "log-mle", "listnet"])
def test_the_gap_holds_the_true_optimum(data, name):
    risk = make_risk(data, ar.objective(name))
    best = minimise(risk, "l-bfgs", C=15.0, tol=1e-12, max_iter=5000)
    for max_iter in (2, 3, 5):
        early = minimise(risk, "l-bfgs", C=15.0, tol=1e-12, max_iter=max_iter)
        assert early.reason == Stop.PASSES
        assert not early.converged
        assert early.n_passes <= max_iter + 1
        assert early.gap == pytest.approx(15.0 / 2 * early.gradient_norm**2)
        assert early.lower_bound <= best.objective <= early.objective * (1 + 1e-12)


def test_resampling_at_every_evaluation_breaks_the_line_search(data):
    """Section 4 of LogRank: with a new sample every time, objective and gradient contradict each other."""

    class Resampling:
        """The same risk, but with another sample at every call."""

        def __init__(self) -> None:
            self.calls, self._risk = 0, make_risk(data, ar.objective("log-convex", n_samples=20), 1)

        def __getattr__(self, name):
            return getattr(self._risk, name)

        def at_scores(self, scores):
            self.calls += 1
            objective = ar.objective("log-convex", n_samples=20, random_state=self.calls)
            return make_risk(data, objective, 1).at_scores(scores)

    fixed = minimise(make_risk(data, ar.objective("log-convex", n_samples=20)), C=15.0, tol=1e-8, max_iter=400)
    assert fixed.reason == Stop.GRADIENT
    broken = minimise(Resampling(), C=15.0, tol=1e-8, max_iter=400)
    assert broken.reason in (
        Stop.PRECISION,
        Stop.PASSES,
    )  # no step seems to lower the objective, or it walks in circles
    assert not broken.converged
    assert broken.gradient_norm > 100 * fixed.gradient_norm


def test_more_starts_are_never_worse_and_the_result_is_told_last(data):
    risk = make_risk(data, ar.objective("log-gain", measure="auc"))
    told = []

    def note(w, facts):
        told.append((w.copy(), facts["objective"]))

    one = minimise(risk, C=1500.0, tol=1e-6)
    many = minimise(risk, C=1500.0, tol=1e-6, max_iter=5000, callback=note, n_starts=5)
    assert many.objective <= one.objective * (1 + 1e-12)
    assert np.isnan(many.gap)
    np.testing.assert_array_equal(told[-1][0], many.w)
    assert told[-1][1] == many.objective
    again = minimise(risk, C=1500.0, tol=1e-6, max_iter=5000, n_starts=5)
    assert again.w.tobytes() == many.w.tobytes()


def test_a_later_start_that_is_cut_short_says_so_with_the_best_weights_so_far(data):
    risk = make_risk(data, ar.objective("log-gain", measure="auc"))
    one = minimise(risk, C=1500.0, tol=1e-6)
    assert one.reason == Stop.GRADIENT

    def in_the_second_start(w, facts):
        return facts["n_passes"] > one.n_passes + 2

    cut = minimise(risk, C=1500.0, tol=1e-6, max_iter=5000, callback=in_the_second_start, n_starts=5)
    assert cut.reason == Stop.CALLBACK
    assert cut.objective <= one.objective


def test_the_caller_may_stop_it_and_ctrl_c_keeps_the_best(data):
    risk = make_risk(data, ar.objective("log-mle"))
    stopped = minimise(risk, C=1e3, tol=1e-9, callback=lambda w, facts: facts["n_passes"] > 4)
    assert stopped.reason == Stop.CALLBACK

    def interrupt(w, facts):
        if facts["n_passes"] > 4:
            raise KeyboardInterrupt

    kept = minimise(risk, C=1e3, tol=1e-9, callback=interrupt)
    assert kept.reason == Stop.INTERRUPTED
    assert kept.objective < risk.value_and_gradient(np.zeros(6))[0]


def test_a_flat_objective_is_done_at_once_and_c_is_checked():
    flat = ar.Dataset(np.ones((4, 2)), [1, 1, 1, 1], group=[2, 2])
    result = minimise(make_risk(flat, ar.objective("log-mle")))
    assert result.converged
    assert not result.w.any()
    with pytest.raises(OptionError, match="C: expected a positive number"):
        minimise(make_risk(flat, ar.objective("log-mle")), C=0.0)
