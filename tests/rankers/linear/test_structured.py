"""Health of the optimisation (KDD 2008, section 4.2): what a structured fit reports, when it warns, how it starts."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

import argrank as ar
from argrank.errors import ArgrankWarning, OptionError
from argrank.rankers.linear.structured_ranker import StructuredRanker
from argrank.rankers.registry import ranker_class

STRUCTURED = [name for name in ar.ranker_names() if issubclass(ranker_class(name), StructuredRanker)]


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(40, (5, 20), 6, grades=2, relevant=0.3, noise=0.5, random_state=3)


@pytest.fixture(scope="module")
def noise():
    """Labels that do not depend on any feature."""
    random = np.random.default_rng(5)
    return ar.Dataset(random.standard_normal((400, 4)), random.integers(0, 2, 400), group=[20] * 20)


@pytest.mark.parametrize("ranker", STRUCTURED)
@pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")
def test_slack_ratio_and_norm_are_reported(data, ranker):
    C = 3.0
    fitted = ar.make_ranker(ranker, C=C, bound="convex").fit(data)
    last = fitted.trace_[-1]
    assert last["norm"] == pytest.approx(np.linalg.norm(fitted.coef_))
    assert last["average_slack"] == pytest.approx(fitted.risk(data).value_and_gradient(fitted.coef_)[0])
    assert fitted.objective_ == pytest.approx(last["average_slack"] + last["norm"] ** 2 / (2 * C))
    assert fitted.objective_at_zero_ == pytest.approx(fitted.risk(data).value_and_gradient(np.zeros(6))[0])
    assert fitted.objective_ <= fitted.objective_at_zero_ * (1 + 1e-12)
    assert last["oracle_seconds"] >= 0
    assert last["master_seconds"] >= 0


@pytest.mark.parametrize("ranker", ["svm-ndcg", "svm-mrr", "dorm", "svm-combo"])
def test_an_optimum_at_zero_is_told_with_what_helps(noise, ranker):
    own = {"feature_map": "first"} if ranker == "svm-combo" else {}
    with pytest.warns(ArgrankWarning) as caught:
        fitted = ar.make_ranker(ranker, C=0.1, bound="convex", **own).fit(noise)
    (message,) = {str(one.message) for one in caught}
    assert not fitted.coef_.any()
    assert fitted.collapsed_.norm <= fitted.collapsed_.tolerance
    assert "the optimum is w = 0 for every C" in message
    assert f"at w = 0 {fitted.objective_at_zero_:.6g}" in message
    for help_ in ("bound='tight'", "measure", "feature_map", "within queries", "query-minmax"):
        assert help_ in message
    assert "larger C" not in message, "no C moves an optimum that is at 0 for all of them"
    assert caught[0].filename == __file__, "the warning points at the caller's line"
    with pytest.warns(ArgrankWarning, match="for every C"):
        again = ar.make_ranker(ranker, C=1e4, bound="convex", **own).fit(noise)
    assert not again.coef_.any()


def test_c_does_not_decide_whether_the_optimum_is_at_zero():
    """0 is optimal exactly where it is a subgradient of the risk there, which does not depend on C."""
    found = set()
    for signal in (0.0, 0.1, 0.3, 1.0):
        random = np.random.default_rng(5)
        X, y = random.standard_normal((400, 4)), random.integers(0, 2, 400)
        weak = ar.Dataset(X + signal * y[:, None], y, group=[20] * 20)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ArgrankWarning)
            fits = [ar.make_ranker("svm-ndcg", C=C, bound="convex").fit(weak) for C in (0.1, 1.0, 100.0)]
        at_zero = {not fitted.coef_.any() for fitted in fits}
        assert at_zero == {fitted.collapsed_ is not None for fitted in fits}
        assert len(at_zero) == 1
        found |= at_zero
    assert found == {True, False}


def test_a_cut_off_beside_a_loss_of_ones_own_is_refused(data):
    def own(index, rank, n_goods):
        return rank / n_goods

    with pytest.raises(OptionError, match="k: expected 'auto' for a loss of your own, whose terms see the rank, got 5"):
        ar.make_ranker("svm-ndcg", measure=own, k=5).fit(data)


def test_a_short_optimum_is_told_without_a_proof(data, noise):
    with pytest.warns(ArgrankWarning, match="nearly.*a larger C") as caught:
        tight = ar.make_ranker("svm-ndcg", C=1e-9, bound="tight").fit(noise)
    assert "bound='tight'" not in str(caught[0].message)
    assert tight.collapsed_ is None
    with pytest.warns(ArgrankWarning, match="nearly.*a larger C"):
        convex = ar.make_ranker("svm-map", C=1e-4, bound="convex").fit(data)
    assert convex.collapsed_ is None
    assert convex.coef_.any()


@pytest.mark.parametrize("solver", ["bundle", "cutting-plane", "frank-wolfe"])
@pytest.mark.parametrize("ranker", ["svm-auc", "svm-map"])
@pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")
def test_features_of_any_scale_leave_zero(data, ranker, solver):
    """A gap of 1e-3 of the objective is far more than features of 1e-8 can gain."""
    ordinary = ar.make_ranker(ranker, C=1e-8, solver=solver).fit(data)
    tiny = ar.make_ranker(ranker, C=1.0, solver=solver).fit(data.with_features(1e-8 * data.X))
    for fitted in (ordinary, tiny):
        assert fitted.coef_.any()
        assert fitted.collapsed_ is None
        assert fitted.objective_ <= fitted.objective_at_zero_ * (1 + 1e-12)
        assert fitted.score(data) > 0.6


@pytest.mark.parametrize("ranker", ["svm-auc", "svm-map", "dorm"])
@pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")
def test_signs_are_no_reason_to_stay_at_zero(data, ranker):
    signs = [1, 1, 0, 0, -1, 1]
    fits = [
        ar.make_ranker(ranker, C=1.0, bound="convex", signs=signs).fit(data.with_features(scale * data.X))
        for scale in (1.0, 1e-4, 1e-8)
    ]
    assert {fitted.collapsed_ is None for fitted in fits} == {fitted.coef_.any() for fitted in fits} == {True}


@pytest.mark.parametrize("options", [{"signs": [1, 0, -1, 0]}, {"penalty": "l1"}], ids=str)
@pytest.mark.parametrize("ranker", ["dorm", "orm"])
def test_a_collapse_is_proven_for_every_penalty(noise, ranker, options):
    with pytest.warns(ArgrankWarning, match="w = 0 for every C") as caught:
        fitted = ar.make_ranker(ranker, C=1e4, bound="convex", **options).fit(noise)
    assert fitted.collapsed_.norm <= fitted.collapsed_.tolerance
    assert "larger C" not in str(caught[0].message)
    assert ("fewer signs" in str(caught[0].message)) == ("signs" in options)


def test_a_healthy_fit_does_not_warn(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ArgrankWarning)
        fitted = ar.make_ranker("svm-auc", C=10.0).fit(data)
    assert fitted.objective_ < 0.9 * fitted.objective_at_zero_


def test_the_tight_bound_learns_where_the_convex_one_collapses():
    random = np.random.default_rng(2)
    X = random.standard_normal((1500, 5))
    y = (X @ [1, 1, 0, 0, 0] + random.standard_normal(1500) > 0).astype(float)
    noisy = ar.Dataset(X, y, group=[30] * 50)
    with pytest.warns(ArgrankWarning, match="for every C"):
        convex = ar.make_ranker("svm-mrr", C=100.0, feature_map="first", bound="convex").fit(noisy)
    tight = ar.make_ranker("svm-mrr", C=100.0, feature_map="first", bound="tight").fit(noisy)
    assert not convex.coef_.any()
    assert tight.objective_ < 0.9 * tight.objective_at_zero_
    assert tight.score(noisy) > convex.score(noisy) + 0.05


@pytest.mark.parametrize("ranker", STRUCTURED)
@pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")
def test_a_path_over_c_gives_what_cold_fits_give(data, ranker):
    template = ar.make_ranker(ranker, bound="convex", tol=1e-4)
    values = [0.1, 1.0, 10.0, 100.0]
    path = ar.regularisation_path(template, values, data, progress=False)
    for point in path.points:
        cold = ar.make_ranker(ranker, bound="convex", tol=1e-4, C=point.C).fit(data)
        assert point.objective == pytest.approx(cold.objective_, rel=1e-4)
    assert [point.C for point in path.points] == values


def measured_losses(combo, fitted, data):
    """Return 1 - measure of every query and component of a combination, at the scores of a fitted ranker."""
    scores = fitted.predict(data)
    losses = []
    for component in combo.hinges:
        values = ar.evaluate(scores, data, component.measure, undefined=1.0, ties="worst").values
        losses.append(1 - next(iter(values.values())))
    return np.array(losses)


@pytest.mark.parametrize("slacks", ["separate", "shared"])
@pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")
def test_the_slacks_of_a_combination_bound_the_losses(data, slacks):
    measures = ("ndcg@5", "map", "mrr@5", "auc")
    for C in (0.1, 10.0):
        fitted = ar.make_ranker("svm-combo", measures=measures, slacks=slacks, C=C).fit(data)
        losses = measured_losses(fitted._objective(), fitted, data)
        slack = fitted.trace_[-1]["average_slack"]
        sum_of_risks, risk_of_greatest = losses.sum(axis=0).mean(), losses.max(axis=0).mean()
        assert sum_of_risks >= risk_of_greatest
        assert slack >= (sum_of_risks if slacks == "separate" else risk_of_greatest) - 1e-12


def test_weights_of_a_combination_are_chosen_on_validation_data(data):
    train, valid = data.split(0.6, 0.4)
    grid = {"C": [1.0, 10.0], "weights": [[1, 0, 0], [0, 1, 0], [1, 1, 1], [0, 0, 0]]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArgrankWarning)
        found = ar.select("svm-combo", grid, train, valid, "map", progress=False)
    assert len(found.points) == 8
    best = max(point.value for point in found.points)
    assert found.value == best
    assert found.params["weights"] in grid["weights"][:3], "a combination of nothing learns nothing"
    values, curve = found.curve("weights")
    assert len(values) == len(curve) == 4
    assert max(curve) == best
    assert "[1, 1, 1]" in repr(found)


def test_solvers_are_named(data):
    with pytest.raises(OptionError, match="unknown solver 'bundel'; did you mean bundle"):
        ar.make_ranker("svm-auc", solver="bundel").fit(data)


STRUCTURED = ("dorm", "svm-auc", "svm-combo", "svm-map", "svm-mrr", "svm-ndcg", "svm-ndcg-nc")


@pytest.mark.parametrize("name", STRUCTURED)
def test_kernels(name):
    """The linear kernel is the linear ranker; another one learns what no linear function of the features can."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((240, 2))
    y = (X[:, 0] * X[:, 1] > 0.4).astype(int)
    train = ar.Dataset(X[:160], y[:160], group=[20] * 8)
    new = ar.Dataset(X[160:], y[160:], group=[20] * 4)
    easy = ar.Dataset(X[:60], (X[:60, 0] > 0.3).astype(int), group=[20] * 3)
    linear, same = (
        ar.make_ranker(name, kernel=kernel, bound="convex", C=1e3, tol=1e-6).fit(easy) for kernel in (None, "linear")
    )
    assert linear.objective_ < 0.9 * linear.objective_at_zero_
    assert same.objective_ == pytest.approx(linear.objective_, rel=2e-6)
    linear, curved = (
        ar.make_ranker(name, bound="tight", C=1e4, **options).fit(train)
        for options in ({}, {"kernel": "poly", "degree": 2})
    )
    measure = "ndcg@10"
    values = [ar.evaluate(one.predict(new), new, measure).means[measure] for one in (linear, curved)]
    assert values[1] > 0.95 > values[0] + 0.1
    with pytest.raises(OptionError, match="kernel: expected penalty='l2' and no signs"):
        ar.make_ranker(name, kernel="rbf", signs=[1, 1]).fit(train)


@pytest.mark.parametrize("name", STRUCTURED)
def test_weights_to_stay_near(name):
    data = ar.make_ranking(20, 10, 3, random_state=2)
    w0 = np.array([1.0, -2.0, 0.5])
    for bound in ("convex", "tight"):
        near = ar.make_ranker(name, w0=w0, C=1e-9, bound=bound).fit(data)
        np.testing.assert_allclose(near.coef_, w0, rtol=1e-6)
        free = ar.make_ranker(name, w0=w0, C=1.0, bound=bound).fit(data)
        away, risk = free.coef_ - w0, free.risk(data)
        value = risk.at_scores(risk.scores(free.coef_))[0]
        assert free.objective_ == pytest.approx(value + away @ away / 2, rel=1e-9)
        assert free.objective_ <= risk.at_scores(risk.scores(w0))[0]
    start = ar.make_ranker("regression").fit(data).coef_
    np.testing.assert_allclose(ar.make_ranker(name, w0="regression", C=1e-9).fit(data).coef_, start, rtol=1e-5)


def test_copies_of_features_differ_by_no_more_than_tol_leaves_open():
    """Sparse and dense copies differ by rounding; F is 1/C-strongly convex, so a gap g leaves sqrt(2 C g) open.

    A gap is the difference of two values of F, so that one below F's spacing may be computed as 0.
    """
    made = ar.make_ranking(60, (10, 30), 8, noise=1.0, random_state=0)
    X = made.X * (np.abs(made.X) > 0.7)
    copies = [ar.Dataset(kind(X), made.y, group=made.sizes) for kind in (np.asarray, sparse.csr_matrix)]
    for tol in (1e-3, 1e-9):
        one, other = (ar.make_ranker("svm-map", bound="convex", C=1e4, tol=tol).fit(part) for part in copies)
        open_by = sum(np.sqrt(2 * 1e4 * max(fit.gap_, np.spacing(fit.objective_))) for fit in (one, other))
        distance = np.linalg.norm(one.coef_ - other.coef_)
        assert distance <= open_by
        assert distance > 0
    assert distance < 1e-2 * np.linalg.norm(one.coef_)
