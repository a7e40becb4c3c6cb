"""The bundle method first: when it hands over, and what the caller is told."""

from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.engines import make_risk
from argrank.solvers import bundle, minimise
from argrank.solvers.problem import Stop


def hard_risk():
    data = ar.make_ranking(20, 30, 10, grades=2, relevant=0.2, noise=1.0, random_state=1)
    return make_risk(data, ar.objective("svm-mrr", feature_map="first", bound="convex"))


def test_an_easy_problem_is_the_bundle_methods():
    data = ar.make_ranking(20, 10, 5, random_state=1)
    risks = [make_risk(data, ar.objective("svm-auc")) for _ in range(2)]
    one, other = (minimise(risk, solver) for solver, risk in zip(("auto", "bundle"), risks, strict=True))
    np.testing.assert_array_equal(one.w, other.w)
    assert one.n_passes == other.n_passes


def test_the_second_solver_ends_what_the_first_does_not(monkeypatch):
    monkeypatch.setattr(bundle, "PATIENCE", 5)
    told = []
    result = minimise(hard_risk(), C=100.0, callback=lambda w, facts: told.append(facts))
    assert not minimise(hard_risk(), "bundle", C=100.0, max_iter=5).converged
    assert result.converged
    assert result.gap <= 1e-3 * result.objective
    assert result.n_passes > 5
    assert result.n_iter == len(told)
    for name, sign in (("objective", -1), ("lower_bound", 1), ("n_passes", 1)):
        assert (sign * np.diff([facts[name] for facts in told]) >= 0).all(), name
    assert told[-1]["objective"] == result.objective
    assert told[-1]["gap"] == pytest.approx(result.gap)


def test_large_data_stays_with_the_bundle_method(monkeypatch):
    monkeypatch.setattr(bundle, "PATIENCE", 5)
    monkeypatch.setattr(bundle, "MOST_CELLS", 10)
    result = minimise(hard_risk(), C=100.0, max_iter=8)
    assert (result.reason, result.n_passes) == (Stop.PASSES, 8.5)


def test_features_of_wild_scales_take_few_passes():
    """The planes of such a risk differ greatly in length; a master problem that is inexact in short ones is slow."""
    data = ar.make_ranking(20, 15, 16, noise=1.0, random_state=2)
    wild = data.with_features(data.X * np.geomspace(1e-2, 1e6, 16))
    result = minimise(make_risk(wild, ar.objective("svm-auc")), "bundle", C=100.0, tol=1e-3, max_iter=150)
    assert result.converged
    assert result.n_iter <= 80
