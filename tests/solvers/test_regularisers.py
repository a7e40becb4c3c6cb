"""L1 and limits on the weights: against generic solvers on all constraints, exact signs, true gaps, warm starts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.optimize import minimize as scipy_minimize

import argrank as ar
from argrank.engines import make_risk
from argrank.errors import ArgrankError
from argrank.solvers import Absolute, Squared, minimise
from argrank.solvers.planes import Inner, best_mixture

LIMITS = {
    "free": (None, None),
    "positive": (np.zeros(3), None),
    "mixed": (np.array([0.0, -np.inf, -np.inf]), np.array([np.inf, 0.0, np.inf])),
    "away from 0": (np.array([0.3, -np.inf, -0.1]), np.array([np.inf, -0.2, 0.1])),
}


def toy() -> ar.Dataset:
    return ar.make_ranking(6, 4, 3, grades=3, relevant=0.5, noise=1.0, random_state=4)


def all_constraints(objective, data):
    """Return rows and right sides of ``gradient · w - slack of the query <= -offset`` for every ranking."""
    rows, sides = [], []
    for q in range(data.n_queries):
        part = data.select([q])
        decay = 1.0 / np.sqrt(1.0 + np.arange(part.n_documents))
        gains, discounts = objective.gains(part), objective.discounts(part.n_documents)
        averaged = np.mean(
            [coefficients(order, decay) for order in ideal_rankings(gains, discounts)], axis=0
        )  # of all ideal rankings
        best = max(discounts @ gains[list(order)] for order in itertools.permutations(range(part.n_documents)))
        for order in itertools.permutations(range(part.n_documents)):
            slack = np.zeros(data.n_queries)
            slack[q] = -1.0
            rows.append(np.concatenate((part.X.T @ (coefficients(order, decay) - averaged), slack)))
            sides.append(-(best - discounts @ gains[list(order)]) if gains.any() and np.ptp(gains) > 0 else 0.0)
            if np.ptp(gains) == 0:
                rows[-1][: data.n_features] = 0.0
    different = np.unique(np.round(np.column_stack((rows, sides)), 14), axis=0)
    return different[:, :-1], different[:, -1]


def coefficients(order, decay):
    result = np.empty(len(order))
    result[list(order)] = decay
    return result


def ideal_rankings(gains, discounts):
    rankings = list(itertools.permutations(range(len(gains))))
    values = np.array([discounts @ gains[list(order)] for order in rankings])
    return [order for order, value in zip(rankings, values, strict=True) if value >= values.max() - 1e-12]


def bounds_of(limits, n_features, n_queries):
    low, high = Squared(*limits).limits(n_features)
    return [(a if np.isfinite(a) else None, b if np.isfinite(b) else None) for a, b in zip(low, high, strict=True)] + [
        (0.0, None)
    ] * n_queries


def generic_squared(rows, sides, C, limits, n_features, n_queries):
    def value(x):
        return x[:n_features] @ x[:n_features] / (2 * C) + x[n_features:].mean()

    def gradient(x):
        return np.concatenate((x[:n_features] / C, np.full(n_queries, 1 / n_queries)))

    start = np.concatenate((Squared(*limits).project(np.zeros(n_features)), np.full(n_queries, 5.0)))
    found = scipy_minimize(
        value,
        start,
        jac=gradient,
        bounds=bounds_of(limits, n_features, n_queries),
        constraints={"type": "ineq", "fun": lambda x: sides - rows @ x, "jac": lambda x: -rows},
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    assert found.success, found.message
    return found.fun


def generic_absolute(rows, sides, C, limits, n_features, n_queries):
    """|w| as a further variable t with -t <= w <= t."""
    n = n_features
    cost = np.concatenate((np.zeros(n), np.full(n_queries, 1 / n_queries), np.full(n, 1 / C)))
    wider = np.hstack((rows, np.zeros((len(rows), n))))
    sized = np.hstack((np.eye(n), np.zeros((n, n_queries)), -np.eye(n)))
    other = np.hstack((-np.eye(n), np.zeros((n, n_queries)), -np.eye(n)))
    bounds = bounds_of(limits, n, n_queries) + [(0.0, None)] * n
    found = linprog(cost, np.vstack((wider, sized, other)), np.append(sides, np.zeros(2 * n)), bounds=bounds)
    assert found.success, found.message
    return found.fun


@pytest.mark.parametrize("C", [0.3, 30.0])
@pytest.mark.parametrize("limits", LIMITS.values(), ids=list(LIMITS))
@pytest.mark.parametrize("penalty", [Squared, Absolute])
def test_a_generic_solver_on_all_constraints_agrees(penalty, limits, C):
    data, objective = toy(), ar.objective("orm", bound="convex", decay="sqrt")
    rows, sides = all_constraints(objective, data)
    generic = generic_squared if penalty is Squared else generic_absolute
    truth = generic(rows, sides, C, limits, data.n_features, data.n_queries)
    result = minimise(make_risk(data, objective), "bundle", C=C, tol=1e-6, max_iter=5000, regulariser=penalty(*limits))
    assert result.converged
    assert result.objective == pytest.approx(truth, rel=3e-6)
    assert result.lower_bound <= truth * (1 + 1e-7)
    low, high = penalty(*limits).limits(3)
    assert (result.w >= low).all()
    assert (result.w <= high).all()


@pytest.fixture(scope="module")
def wide():
    """Thirty features, five of which matter."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40 * 20, 30))
    level = X[:, :5] @ [2.0, -1.5, 1.0, -1.0, 0.5] + 0.5 * rng.standard_normal(len(X))
    return ar.Dataset(X, np.digitize(level, [1.0, 2.0, 3.0]), group=[20] * 40)


@pytest.mark.parametrize("ranker", ["orm", "svm-ndcg", "svm-map"])
def test_l1_leaves_needless_features_at_exactly_0(wide, ranker):
    found = ar.make_ranker(ranker, penalty="l1", bound="convex", C=2.0).fit(wide)
    dense = ar.make_ranker(ranker, bound="convex", C=2.0).fit(wide)
    assert 0 < (found.coef_ != 0).sum() <= 15 < (dense.coef_ != 0).sum()
    assert set(np.argsort(-np.abs(found.coef_))[:3].tolist()) <= set(range(5))
    assert found.gap_ <= 1e-3 * found.objective_
    value = found.risk(wide).value_and_gradient(found.coef_)[0] + np.abs(found.coef_).sum() / 2.0
    assert found.objective_ == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(
    ("penalty", "bound", "w0"),
    [("l1", "convex", "regression"), ("l1", "tight", None), ("l2", "convex", None), ("l2", "tight", "regression")],
)
def test_signs_hold_exactly_and_the_objective_is_what_it_says(wide, penalty, bound, w0):
    signs = np.zeros(30)
    signs[[0, 1, 2, 6]], signs[[3, 4, 7]] = 1, -1  # wrong for features 1 and 4
    ranker = ar.make_ranker("orm", C=30.0, penalty=penalty, bound=bound, w0=w0, signs=signs, decay="measure", tol=3e-3)
    ranker.fit(wide)
    assert (ranker.coef_ * signs >= 0).all()
    assert ranker.coef_[1] == ranker.coef_[4] == 0
    if bound == "tight":
        assert (np.diff(ranker.trace_["objective"]) <= 1e-12).all()
    away = ranker.coef_ - (0.0 if w0 is None else ar.make_ranker("regression").fit(wide).coef_)
    size = np.abs(away).sum() / 30.0 if penalty == "l1" else away @ away / 60.0
    value = ranker.risk(wide).value_and_gradient(ranker.coef_)[0]
    assert ranker.objective_ == pytest.approx(value + size, rel=1e-9)
    if bound == "convex":
        loose = ar.make_ranker("orm", bound="convex", C=30.0, penalty=penalty, w0=w0, decay="measure").fit(wide)
        assert ranker.objective_ >= loose.objective_ - loose.gap_


@pytest.mark.filterwarnings("ignore:.*proves no gap:argrank.errors.ArgrankWarning")
def test_signs_by_name_online_and_from_a_stream(wide):
    data = ar.Dataset(wide.X, wide.y, group=wide.sizes, feature_names=[f"f{i}" for i in range(30)])
    parameters = {"C": 1.0, "signs": {"f1": 1, "f0": 1, "f4": -1}, "decay": "measure"}
    batch = ar.make_ranker("orm", bound="convex", tol=1e-4, **parameters).fit(data)
    assert batch.coef_[1] == batch.coef_[4] == 0
    online = ar.make_ranker("orm", bound="convex", solver="online", tol=1e-5, **parameters).fit(data)
    stream = ar.make_ranker("orm", bound="convex", **parameters).fit_stream(lambda: data.batches(400), epochs=20)
    for found in (online, stream):
        assert min(found.coef_[0], found.coef_[1], -found.coef_[4]) >= 0
        assert batch.objective_ - batch.gap_ <= found.objective_ <= 1.003 * batch.objective_


def test_a_warm_start_outside_the_limits_is_brought_inside(wide):
    risk, limits = make_risk(wide, ar.objective("orm", bound="convex", decay="measure")), Squared(np.zeros(30), None)
    cold = minimise(risk, tol=1e-5, regulariser=limits)
    warm = minimise(risk, tol=1e-5, start=-np.ones(30), regulariser=limits)
    assert warm.objective == pytest.approx(cold.objective, rel=2e-5)
    again = minimise(risk, start=cold.w, regulariser=limits)
    assert again.n_passes <= cold.n_passes


@pytest.mark.parametrize("shrink", [0.0, 0.2])
def test_the_best_mixture_is_a_saddle_point(shrink):
    rng = np.random.default_rng(1)
    gradients, offsets = rng.standard_normal((12, 5)), rng.standard_normal(12)
    low, high = np.full(5, -0.3), np.full(5, 0.4)
    inner = Inner(Squared(low, high), 0.1 * rng.standard_normal(5), 2.0, shrink)
    a = best_mixture(gradients, offsets, np.eye(12)[0], inner, 1e-10)
    v = inner.best(a @ gradients)

    def penalised(v):
        away = v - inner.centre
        return away @ away / 4.0 + shrink / 2.0 * np.abs(v).sum() + (gradients @ v + offsets).max()

    primal = scipy_minimize(
        lambda x: (x[:5] - inner.centre) @ (x[:5] - inner.centre) / 4.0 + shrink / 2.0 * x[6:].sum() + x[5],
        np.concatenate((np.zeros(5), [10.0], np.ones(5))),
        bounds=[*zip(low, high, strict=True), (None, None), *[(0.0, None)] * 5],
        constraints=[
            {"type": "ineq", "fun": lambda x: x[5] - gradients @ x[:5] - offsets},
            {"type": "ineq", "fun": lambda x: np.concatenate((x[6:] - x[:5], x[6:] + x[:5]))},
        ],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert penalised(v) == pytest.approx(primal.fun, abs=1e-7)


def test_what_a_solver_cannot_do_is_refused(wide):
    for solver in ("cutting-plane", "frank-wolfe", "l-bfgs", "online"):
        with pytest.raises(ArgrankError, match="penalty='l1': expected solver='bundle'"):
            ar.make_ranker("orm", bound="convex", penalty="l1", solver=solver).fit(wide)
    with pytest.raises(ArgrankError, match="signs: expected solver='bundle' or 'online'"):
        ar.make_ranker("orm", bound="convex", signs=np.ones(30), solver="frank-wolfe").fit(wide)
    with pytest.raises(ArgrankError, match="signs: expected solver='bundle' or 'online', got"):
        ar.make_ranker("svm-map", signs=np.ones(30), solver="frank-wolfe").fit(wide)
    with pytest.raises(ArgrankError, match="penalty='l1'"):
        ar.make_ranker("orm", bound="convex", penalty="l1").fit_stream(lambda: wide.batches(400))
    with pytest.raises(ArgrankError, match="kernel"):
        ar.make_ranker("orm", bound="convex", penalty="l1", kernel="rbf").fit(wide)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"penalty": "l3"}, "penalty"),
        ({"signs": [1, 0]}, "30 features"),
        ({"signs": np.full(30, 2)}, "-1, 0 or 1"),
        ({"signs": ["up"] * 30}, "-1, 0 or 1"),
        ({"signs": {"price": -1}}, "no names"),
    ],
)
def test_bad_signs_and_penalties_are_refused(wide, parameters, message):
    with pytest.raises(ArgrankError, match=message):
        ar.make_ranker("orm", bound="convex", **parameters).fit(wide)


def test_a_name_that_no_feature_has_is_refused(wide):
    named = ar.Dataset(wide.X, wide.y, group=wide.sizes, feature_names=[f"f{i}" for i in range(30)])
    with pytest.raises(ArgrankError, match="feature in signs 'f99'"):
        ar.make_ranker("orm", bound="convex", signs={"f99": 1}).fit(named)


def test_the_solvers_themselves_take_a_shifted_centre(wide):
    """|w - w0| with limits on w: at a tiny C the weights are w0, brought inside."""
    w0 = np.linspace(-1.0, 1.0, 30)
    convex, tight = (make_risk(wide, ar.objective("orm", decay="measure", bound=b)) for b in ("convex", "tight"))
    for penalty in (Squared, Absolute):
        near = penalty(np.zeros(30), None, w0)
        for risk in (convex, tight):
            found = minimise(risk, C=1e-9, max_iter=100, regulariser=near, start=w0)
            np.testing.assert_allclose(found.w, np.maximum(w0, 0.0), atol=1e-6)
    found = minimise(convex, "online", C=1e-9, max_iter=20, regulariser=Squared(np.zeros(30), None, w0))
    np.testing.assert_allclose(found.w, np.maximum(w0, 0.0), atol=1e-6)
