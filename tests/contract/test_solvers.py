"""Every pair of convex solvers reaches the same optimum; the gap is true; a generic solver agrees on toy data."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

import argrank as ar
from argrank.engines.local import LocalRisk
from argrank.rankers.linear._structured import SOLVERS, StructuredRanker
from argrank.rankers.registry import ranker_class
from argrank.solvers import block_qp

STRUCTURED = [name for name in ar.ranker_names() if issubclass(ranker_class(name), StructuredRanker)]


def small_toy() -> ar.Dataset:
    return ar.make_ranking(6, 4, 3, grades=2, relevant=0.5, noise=1.0, random_state=4)


def brackets(risk_of, C, tol, max_iter):
    """Return what each solver proves: the minimum lies between bound and objective."""
    found = {}
    for name, minimise in SOLVERS.items():
        result = minimise(risk_of(), C, tol, max_iter)
        again = risk_of().at_scores(risk_of().scores(result.w))[0] + result.w @ result.w / (2 * C)
        assert result.objective == pytest.approx(again, rel=1e-9)
        assert result.gap == pytest.approx(result.objective - result.lower_bound)
        found[name] = (result.lower_bound, result.objective)
    return found


def check_agreement(found, tol):
    for (name, (bound, objective)), (other, (_, other_objective)) in itertools.product(found.items(), repeat=2):
        assert bound <= other_objective * (1 + 1e-9), (name, other)
        assert objective - bound <= tol * objective * (1 + 1e-9), name


@pytest.mark.parametrize("C", [1e-2, 1.0, 100.0])
@pytest.mark.parametrize("ranker", STRUCTURED)
@pytest.mark.parametrize("collection", ["OHSUMED-LETOR3", "MQ2008"])
def test_solvers_agree_on_real_data(real_data, collection, ranker, C):
    data = ar.load(real_data / collection / "S1.txt.xz")
    if collection == "OHSUMED-LETOR3":
        data = data.select(np.arange(10))
    objective = ar.make_ranker(ranker)._objective()
    found = brackets(lambda: LocalRisk(data, objective), C, 1e-3, 300)
    check_agreement(found, 1e-3)


def test_solvers_agree_on_wide_data():
    data = ar.make_ranking(12, 8, block_qp.MOST_FEATURES + 1, noise=1.0, random_state=3)
    objective = ar.make_ranker("svm-map")._objective()
    check_agreement(brackets(lambda: LocalRisk(data, objective), 1.0, 1e-3, 300), 1e-3)


def all_planes(objective, data):
    """Every ranking's plane (offset, gradient) of every query, found by enumeration on the identity."""
    planes = []
    for q in range(data.n_queries):
        part = data.select([q])
        n = part.n_documents
        planes.append([(offset, part.X.T @ u) for offset, u in rankings(objective, part, n)])
    return planes


def rankings(objective, part, n):
    """Return (loss, coefficients less the reference's) of all rankings on the pairs map, for a binary query."""
    good = part.y >= 1
    n_pairs = good.sum() * (~good).sum()
    if n_pairs == 0:
        yield 0.0, np.zeros(n)
        return
    for order in itertools.permutations(range(n)):
        u = np.zeros(n)
        for above, below in itertools.combinations(order, 2):
            if good[below] and not good[above]:
                u[below] -= 2.0 / n_pairs
                u[above] += 2.0 / n_pairs
        scores = np.empty(n)
        scores[list(order)] = -np.arange(n)
        yield 1 - next(iter(ar.evaluate(scores, part, objective.measure, undefined=1).means.values())), u


@pytest.mark.parametrize("ranker", ["svm-auc", "svm-map", "svm-ndcg-nc"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_a_generic_solver_on_all_constraints_agrees(ranker, C):
    data = small_toy()
    objective = ar.make_ranker(ranker)._objective()
    planes = all_planes(objective, data)
    n_features, n_queries = data.n_features, data.n_queries

    def value(x):
        return x[:n_features] @ x[:n_features] / (2 * C) + x[n_features:].mean()

    def gradient(x):
        return np.concatenate([x[:n_features] / C, np.full(n_queries, 1 / n_queries)])

    rows, offsets = [], []
    for q, query_planes in enumerate(planes):
        for offset, slope in query_planes:
            slack = np.zeros(n_queries)
            slack[q] = 1.0
            rows.append(np.concatenate([-slope, slack]))
            offsets.append(-offset)
    different = np.unique(np.column_stack([rows, offsets]), axis=0)
    rows, offsets = different[:, :-1], different[:, -1]
    constraints = {"type": "ineq", "fun": lambda x: rows @ x + offsets, "jac": lambda x: rows}
    start = np.concatenate([np.zeros(n_features), np.full(n_queries, 2.0)])
    truth = minimize(
        value, start, jac=gradient, constraints=constraints, method="SLSQP", options={"ftol": 1e-12, "maxiter": 1000}
    )
    assert truth.success, truth.message
    for name, minimise in SOLVERS.items():
        result = minimise(LocalRisk(data, objective), C, 1e-6, 5000)
        assert result.objective == pytest.approx(truth.fun, rel=3e-6), name
        assert result.lower_bound <= truth.fun * (1 + 1e-7), name


def test_no_pairs_means_nothing_to_do():
    data = ar.Dataset(np.eye(4), [0, 0, 1, 1], qid=[1, 1, 2, 2])
    objective = ar.make_ranker("svm-auc")._objective()
    for minimise in SOLVERS.values():
        result = minimise(LocalRisk(data, objective), 1.0, 1e-3, 100)
        assert result.objective == 0
        assert not result.w.any()


@pytest.mark.parametrize("solver", SOLVERS)
def test_running_out_of_passes_is_told_with_a_true_gap(solver):
    data = ar.make_ranking(40, 20, 10, random_state=1)
    objective = ar.make_ranker("svm-map")._objective()
    best = SOLVERS["bundle"](LocalRisk(data, objective), 1e3, 1e-6, 5000).objective
    result = SOLVERS[solver](LocalRisk(data, objective), 1e3, 1e-6, 3)
    assert not result.converged
    assert result.reason == "passes"
    assert result.lower_bound <= best * (1 + 1e-6)
    assert result.objective >= best * (1 - 1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_caller_can_stop_and_interrupt(solver):
    data = ar.make_ranking(40, 20, 10, random_state=1)
    objective = ar.make_ranker("svm-map")._objective()

    def interrupt(w, facts):
        raise KeyboardInterrupt

    stopped = SOLVERS[solver](LocalRisk(data, objective), 1e3, 1e-6, 100, None, lambda w, facts: True)
    assert (stopped.reason, stopped.n_iter) == ("callback", 1)
    interrupted = SOLVERS[solver](LocalRisk(data, objective), 1e3, 1e-6, 100, None, interrupt)
    assert interrupted.reason == "interrupted"
    assert np.isfinite(interrupted.objective)


@pytest.mark.parametrize("ranker", STRUCTURED)
def test_the_tight_bound_only_falls(ranker):
    data = ar.make_ranking(30, (5, 15), 6, noise=1.0, random_state=2)
    trained = ar.make_ranker(ranker, bound="tight", C=30.0)
    trained.fit(data)
    objective = trained.trace_["objective"]
    assert (np.diff(objective) <= 1e-12).all()
    tight = trained.risk(data)
    value = tight.at_scores(tight.scores(trained.coef_))[0] + trained.coef_ @ trained.coef_ / 60.0
    assert trained.objective_ == pytest.approx(value, rel=1e-9)
