"""Every pair of convex solvers reaches the same optimum; the gap is true; a generic solver agrees on toy data."""

from __future__ import annotations

import functools
import inspect
import itertools

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize

import argrank as ar
from argrank.engines import make_risk
from argrank.errors import OptionError
from argrank.rankers.linear.structured_ranker import StructuredRanker
from argrank.rankers.registry import ranker_class
from argrank.solvers import SOLVERS, Squared, block_qp, choose, minimise
from argrank.solvers.problem import Stop

STRUCTURED = [name for name in ar.ranker_names() if issubclass(ranker_class(name), StructuredRanker)]


def small_toy() -> ar.Dataset:
    return ar.make_ranking(6, 4, 3, grades=2, relevant=0.5, noise=1.0, random_state=4)


def provers(risk):
    """Return the registered solvers that can do a risk and prove a gap."""
    return [name for name, solver in SOLVERS.items() if solver.proves and not solver.lacks(risk)]


def brackets(risk_of, C, tol, max_iter):
    """Return what each solver proves: the minimum lies between bound and objective."""
    found = {}
    for name in provers(risk_of()):
        result = minimise(risk_of(), name, C=C, tol=tol, max_iter=max_iter)
        again = risk_of().at_scores(risk_of().scores(result.w))[0] + result.w @ result.w / (2 * C)
        assert result.objective == pytest.approx(again, rel=1e-9)
        assert result.gap == pytest.approx(result.objective - result.lower_bound)
        found[name] = (result.lower_bound, result.objective)
    return found


def check_agreement(found, tol):
    for (name, (bound, objective)), (other, (_, other_objective)) in itertools.product(found.items(), repeat=2):
        assert bound <= other_objective * (1 + 1e-9), (name, other)
        assert objective - bound <= tol * objective * (1 + 1e-9), name


@functools.cache
def some_queries(path, n_queries):
    return ar.load(path).select(np.arange(n_queries))


@pytest.mark.parametrize("C", [1e-2, 1.0, 100.0])
@pytest.mark.parametrize("ranker", STRUCTURED)
@pytest.mark.parametrize("collection", ["OHSUMED-LETOR3", "MQ2008"])
def test_solvers_agree_on_real_data(real_data, collection, ranker, C):
    data = some_queries(real_data / collection / "S1.txt.xz", {"OHSUMED-LETOR3": 5, "MQ2008": 40}[collection])
    objective = ar.objective(ranker, bound="convex")
    found = brackets(lambda: make_risk(data, objective), C, 1e-3, 300)
    check_agreement(found, 1e-3)


def test_solvers_agree_on_wide_data():
    data = ar.make_ranking(12, 8, block_qp.MOST_FEATURES + 1, noise=1.0, random_state=3)
    objective = ar.make_ranker("svm-map")._objective()
    check_agreement(brackets(lambda: make_risk(data, objective), 1.0, 1e-3, 300), 1e-3)


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
    objective = ar.objective(ranker, bound="convex")
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
    truth = scipy_minimize(
        value, start, jac=gradient, constraints=constraints, method="SLSQP", options={"ftol": 1e-12, "maxiter": 1000}
    )
    assert truth.success, truth.message
    for name in provers(make_risk(data, objective)):
        result = minimise(make_risk(data, objective), name, C=C, tol=1e-6, max_iter=5000)
        assert result.objective == pytest.approx(truth.fun, rel=3e-6), name
        assert result.lower_bound <= truth.fun * (1 + 1e-7), name


def test_no_pairs_means_nothing_to_do():
    data = ar.Dataset(np.eye(4), [0, 0, 1, 1], qid=[1, 1, 2, 2])
    risk = make_risk(data, ar.make_ranker("svm-auc")._objective())
    for name in provers(risk):
        result = minimise(risk, name)
        assert result.objective == 0
        assert not result.w.any()


#: An objective that fits each solver: the first here that has what the solver needs.
FITTING = {
    "svm-map": {},
    "rank-svm": {},
    "orm": {"bound": "tight"},
}


def fitting_objective(solver, data):
    """Return an objective that has what a solver declares to need; it is known by nothing else."""
    objectives = (ar.objective(name, **options) for name, options in FITTING.items())
    return next(one for one in objectives if not SOLVERS[solver].lacks(make_risk(data, one)))


def fitting_risk(solver, n_jobs=None):
    data = ar.make_ranking(40, 20, 10, random_state=1)
    return make_risk(data, fitting_objective(solver, data), n_jobs)


def uninterruptible(risk, solver, **options):
    """Minimise; Ctrl-C that a solver lets through fails its check instead of ending the run."""
    try:
        return minimise(risk, solver, **options)
    except KeyboardInterrupt:
        pytest.fail(f"{solver} does not keep its best weights when it is interrupted")


def objective_at(risk, w, C):
    return risk.at_scores(risk.scores(w))[0] + w @ w / (2 * C)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("max_iter", [3, 10, 1000])
def test_every_solver_tells_the_truth_about_its_result(solver, max_iter):
    """The objective is that of the weights, and a solver that proves has a gap >= true suboptimality >= 0."""
    C = 30.0
    result = minimise(fitting_risk(solver), solver, C=C, tol=1e-6, max_iter=max_iter)
    fresh = fitting_risk(solver)
    assert result.objective == pytest.approx(objective_at(fresh, result.w, C), rel=1e-9)
    assert result.message
    if result.converged:
        judged = (Stop.GAP, Stop.GRADIENT, Stop.STEPS)  # fixed steps are counted, nothing else
        assert result.reason in ((Stop.EPOCHS,) if solver == "fixed-steps" else judged)
    if SOLVERS[solver].proves:
        best = minimise(fitting_risk(solver), "bundle", C=C, tol=1e-9, max_iter=5000)
        assert result.lower_bound == result.objective - result.gap
        assert result.gap >= 0
        assert result.objective >= best.lower_bound * (1 - 1e-12)
        assert result.lower_bound <= best.objective * (1 + 1e-12)
        if result.reason == Stop.GAP:
            assert result.gap <= 1e-6 * result.objective
    elif fresh.convex:
        best = minimise(fitting_risk(solver), C=C, tol=1e-6)
        assert result.objective >= best.lower_bound * (1 - 1e-12)


@pytest.mark.parametrize("solver", [name for name, line in SOLVERS.items() if line.proves])
def test_running_out_of_passes_is_told_with_a_true_gap(solver):
    best = minimise(fitting_risk(solver), "bundle", C=1e3, tol=1e-6, max_iter=5000).objective
    result = minimise(fitting_risk(solver), solver, C=1e3, tol=1e-12, max_iter=3)
    assert not result.converged
    assert result.reason == Stop.PASSES
    assert "passes over the data" in result.message
    assert result.lower_bound <= best * (1 + 1e-6)
    assert result.objective >= best * (1 - 1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_caller_can_stop_and_interrupt(solver):
    told = []

    def stop(w, facts):
        told.append((w.copy(), facts))
        return True

    def interrupt(w, facts):
        raise KeyboardInterrupt

    stopped = minimise(fitting_risk(solver), solver, C=1e3, tol=1e-9, max_iter=100, callback=stop)
    assert (stopped.reason, stopped.n_iter, stopped.converged) == (Stop.CALLBACK, 1, False)
    ((w, facts),) = told
    assert facts["objective"] == pytest.approx(objective_at(fitting_risk(solver), w, 1e3), rel=1e-9)
    assert facts["norm"] == pytest.approx(np.linalg.norm(w))
    assert 0 < facts["n_passes"] <= stopped.n_passes
    interrupted = uninterruptible(fitting_risk(solver), solver, C=1e3, tol=1e-9, max_iter=100, callback=interrupt)
    assert interrupted.reason == Stop.INTERRUPTED
    assert interrupted.objective == pytest.approx(objective_at(fitting_risk(solver), interrupted.w, 1e3), rel=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_centre_is_where_a_tiny_c_stays(solver):
    w0 = np.linspace(-1.0, 1.0, 10)
    risk, own = fitting_risk(solver), {"learning_rate": 1e-13} if solver == "fixed-steps" else {}
    result = minimise(risk, solver, C=1e-9, regulariser=Squared(centre=w0), max_iter=50, start=w0, **own)
    np.testing.assert_allclose(result.w, w0, atol=1e-6)
    away = result.w - w0
    assert result.objective == pytest.approx(risk.at_scores(risk.scores(result.w))[0] + away @ away / 2e-9, rel=1e-9)


@pytest.mark.parametrize("solver", [name for name, line in SOLVERS.items() if line.proves])
def test_units_are_features_of_another_scale(solver):
    """A penalty on units * (w - centre) is the plain one where every feature is divided by its unit."""
    data, units, centre = small_toy(), np.array([0.1, 1.0, 7.0]), np.array([0.3, -0.1, 0.0])
    objective = fitting_objective(solver, data)
    scaled = ar.Dataset(data.X / units, data.y, group=data.sizes)
    options = {"C": 2.0, "tol": 1e-9, "max_iter": 2000}
    with_units = Squared(centre=centre, units=units)
    one = minimise(make_risk(data, objective), solver, regulariser=with_units, **options)
    other = minimise(make_risk(scaled, objective), solver, regulariser=Squared(centre=centre * units), **options)
    np.testing.assert_allclose(one.w, other.w / units, rtol=1e-3, atol=1e-5)
    assert one.objective == pytest.approx(other.objective, rel=1e-8)
    value = make_risk(data, objective).value_and_gradient(one.w)[0]
    assert one.objective == pytest.approx(value + 0.5 * ((units * (one.w - centre)) ** 2).sum() / 2.0, rel=1e-9)


def test_a_mismatch_names_the_option_and_the_solvers_that_can():
    risk = fitting_risk("bundle")
    with pytest.raises(
        OptionError, match=r"solver: 'newton' needs an objective with second derivatives; expected .*'bundle'"
    ):
        minimise(risk, "newton")
    with pytest.raises(OptionError, match="signs: expected solver='bundle' or 'online', got 'frank-wolfe'"):
        minimise(risk, "frank-wolfe", regulariser=Squared(np.zeros(10), None))
    with pytest.raises(OptionError, match="unknown solver 'bundel'; did you mean bundle"):
        minimise(risk, "bundel")
    tight = fitting_risk("convex-steps")
    with pytest.raises(OptionError, match="solver: 'bundle' needs a convex objective; expected 'convex-steps'"):
        minimise(tight, "bundle")


def test_auto_is_the_solver_that_fits():
    data = ar.make_ranking(5, 6, 3, random_state=0)
    chosen = {
        name: choose(make_risk(data, ar.make_ranker(name)._objective()), Squared())
        for name in ("rank-svm", "log-mle", "log-gain", "svm-map", "orm")
    }
    assert list(chosen.values()) == ["newton", "l-bfgs", "l-bfgs", "bundle-then-planes", "convex-steps"]
    assert choose(make_risk(data, ar.objective("svm-map")), Squared(np.zeros(3), None)) == "bundle"


class Opaque:
    """Scores as another engine would have them: they can only be added, subtracted and scaled."""

    def __init__(self, values):
        self.values = values

    def __add__(self, other):
        return Opaque(self.values + other.values)

    def __sub__(self, other):
        return Opaque(self.values - other.values)

    def __mul__(self, factor):
        return Opaque(self.values * float(factor))

    __rmul__ = __mul__
    __array_ufunc__ = None


class OpaqueRisk:
    """A risk that hands out opaque scores."""

    def __init__(self, risk):
        self._risk = risk

    def __getattr__(self, name):
        return getattr(self._risk, name)

    def zero_scores(self):
        return Opaque(self._risk.zero_scores())

    def scores(self, w):
        return Opaque(self._risk.scores(w))

    def at_scores(self, scores):
        value, u = self._risk.at_scores(scores.values)
        return value, Opaque(u)

    def pull_back(self, u):
        return self._risk.pull_back(u.values)

    def dot(self, u, v):
        return self._risk.dot(u.values, v.values)

    def spread(self, scores):
        return self._risk.spread(scores.values)

    def parts(self):
        return tuple(OpaqueRisk(part) for part in self._risk.parts())


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("centre", [None, np.linspace(-0.1, 0.1, 10)], ids=["zero", "centre"])
def test_solvers_see_scores_only_through_the_risk(solver, centre):
    options = {"C": 3.0, "max_iter": 30, "regulariser": Squared(centre=centre)}
    options |= {"n_starts": 2} if "n_starts" in SOLVERS[solver].options else {}
    plain = minimise(fitting_risk(solver, 1), solver, **options)
    opaque = minimise(OpaqueRisk(fitting_risk(solver, 2)), solver, **options)
    assert plain.w.tobytes() == opaque.w.tobytes()
    assert plain.objective == opaque.objective


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


def test_options_are_those_that_a_solver_declares():
    risk = fitting_risk("l-bfgs", 1)
    with pytest.raises(OptionError, match=r"unknown option of a solver 'batchsize'; did you mean batch_size"):
        minimise(risk, "l-bfgs", batchsize=3)
    with pytest.raises(OptionError, match=r"batch_size: expected solver='online', got 'l-bfgs'"):
        minimise(risk, "l-bfgs", batch_size=3)
    for name, line in SOLVERS.items():
        taken = list(inspect.signature(line.run).parameters)[1:]
        assert set(line.options) <= set(taken), name
        # what only argrank itself hands over is no option
        assert set(taken) - set(line.options) <= {"planes"}, name
