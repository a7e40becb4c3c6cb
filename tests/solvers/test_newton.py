from __future__ import annotations

import lzma

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_svmlight_file

from argrank import Dataset, objective
from argrank.engines import LocalRisk, make_risk
from argrank.errors import OptionError
from argrank.solvers import minimise as solve
from argrank.solvers.problem import Stop


def make(dtype=np.float64, **options) -> Dataset:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 8)) * [1, 1, 10, 0.01, 1, 1, 1, 0]  # scales differ, one column is empty
    truth = X @ np.array([1, -1, 0.1, 20, 0, 0, 0.5, 3]) + 0.5 * rng.standard_normal(600)
    return Dataset(X.astype(dtype), np.digitize(truth, [0, 1, 2]), group=[20] * 30, **options)


def risk_of(data: Dataset) -> LocalRisk:
    return make_risk(data, objective("rank-svm"))


def minimise(risk, C=1.0, **options):
    return solve(risk, "newton", C=C, **options)


def test_published_minimum_on_mq2008(real_data):
    parts = []
    for part in ("S1", "S2", "S3"):
        with lzma.open(real_data / "MQ2008" / f"{part}.txt.xz") as file:
            parts.append(load_svmlight_file(file, n_features=46, query_id=True))
    X = np.concatenate([part[0].toarray() for part in parts])
    data = Dataset(X, np.concatenate([p[1] for p in parts]), np.concatenate([p[2] for p in parts]))
    assert (data.n_documents, data.n_queries) == (9630, 471)
    zero, _ = risk_of(data).value_and_gradient(np.zeros(46))
    assert zero == pytest.approx(1.0, rel=1e-14)  # at w = 0 every pair costs 1
    result = minimise(risk_of(data), C=52_325)
    assert result.converged
    assert 52_325 * result.objective == pytest.approx(29566.5228463766, rel=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4, 1e8])
def test_it_converges_for_any_regularisation(C, dtype):
    risk = risk_of(make(dtype))
    result = minimise(risk, C)
    assert result.converged, result.message
    value, slope = risk.value_and_gradient(result.w)
    assert result.objective == pytest.approx(0.5 * result.w @ result.w / C + value, rel=1e-12)
    gradient = result.w / C + slope
    first = np.linalg.norm(risk.value_and_gradient(np.zeros(8))[1])
    assert np.linalg.norm(gradient) <= 1.0001e-6 * first


@pytest.mark.parametrize("name", ["rank-svm", "regression"])
@pytest.mark.parametrize("C", [3.0, 3e3])
def test_it_agrees_with_scipy_and_its_gap_holds(name, C):
    risk = make_risk(make(), objective(name))

    def whole(w):
        value, slope = risk.value_and_gradient(w)
        return 0.5 * w @ w / C + value, w / C + slope

    best = minimize(whole, np.zeros(8), jac=True, method="L-BFGS-B", options={"ftol": 1e-16, "gtol": 1e-12}).fun
    assert minimise(risk, C).objective == pytest.approx(best, rel=1e-9)
    for passes in (1, 6, 10):
        early = minimise(risk, C, tol=1e-12, max_iter=passes)
        assert early.objective - best <= early.gap * (1 + 1e-9) + 1e-9 * best
        assert early.lower_bound == early.objective - early.gap


def test_every_iteration_lowers_the_objective():
    facts = []
    result = minimise(risk_of(make()), 3e4, callback=lambda w, f: facts.append({**f, "w": w.copy()}))
    objectives = [fact["objective"] for fact in facts]
    assert len(facts) == result.n_iter > 2
    assert (np.diff(objectives) < 0).all()
    assert np.array_equal(facts[-1]["w"], result.w)
    assert facts[-1]["gradient_norm"] == result.gradient_norm
    assert facts[-1]["norm"] == pytest.approx(np.linalg.norm(result.w))
    assert 0 < facts[-1]["n_passes"] <= result.n_passes


def test_a_warm_start_takes_fewer_passes_to_the_same_place():
    C = 1.0 / risk_of(make()).query_shares[0]  # the number of pairs
    cold = minimise(risk_of(make()), C)
    warm = minimise(risk_of(make()), 1.1 * C, start=cold.w)
    again = minimise(risk_of(make()), 1.1 * C)
    assert warm.objective == pytest.approx(again.objective, rel=1e-9)
    assert warm.n_passes < again.n_passes
    assert minimise(risk_of(make()), C, start=cold.w).n_iter == 0


def test_passes_are_limited_but_one_iteration_is_made():
    short = minimise(risk_of(make()), 3e3, tol=1e-12, max_iter=12)
    assert (short.converged, short.reason) == (False, Stop.PASSES)
    assert short.n_passes <= 12
    assert f"{short.n_passes:g} passes" in short.message
    one = minimise(risk_of(make()), 3e3, max_iter=1)
    assert one.n_iter == 1
    at_zero, _ = risk_of(make()).value_and_gradient(np.zeros(8))
    assert one.objective < at_zero


def test_the_callback_may_stop_it():
    result = minimise(risk_of(make()), 3e3, callback=lambda w, facts: True)
    assert (result.n_iter, result.reason, result.converged) == (1, Stop.CALLBACK, False)


def test_an_interruption_returns_the_best_so_far():
    seen = []

    def interrupt(w, facts):
        seen.append(facts["objective"])
        if len(seen) == 2:
            raise KeyboardInterrupt

    result = minimise(risk_of(make()), 3e3, callback=interrupt)
    assert (result.reason, result.converged, result.n_iter) == (Stop.INTERRUPTED, False, 2)
    assert result.objective == seen[-1]


def test_an_unreachable_tolerance_ends_with_the_precision_reached():
    result = minimise(risk_of(make()), 3e3, tol=1e-18, max_iter=10_000)
    assert (result.converged, result.reason) == (False, Stop.PRECISION)
    assert result.gradient_norm < 1e-8 * result.objective


def test_data_without_pairs_has_its_minimum_at_zero():
    data = Dataset(np.eye(4), [1, 1, 2, 2], group=[2, 2])
    result = minimise(risk_of(data))
    assert (result.converged, result.objective, result.w.tolist()) == (True, 0.0, [0.0] * 4)


@pytest.mark.parametrize("C", [0.0, -1.0, np.nan, np.inf])
def test_only_a_positive_c_is_accepted(C):
    with pytest.raises(OptionError, match="C: expected a positive number"):
        minimise(risk_of(make()), C)
