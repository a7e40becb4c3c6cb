"""The ranker of the user's own loss: every solver that fits, trees, checkpoints, a model without the function."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from tests.objectives.test_function import pair_hinge

import argrank as ar
from argrank.errors import OptionError


def squares(scores, labels):
    difference = scores - labels
    return (difference**2).sum(), 2.0 * difference


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(40, (4, 10), 4, random_state=2)


@pytest.mark.filterwarnings("ignore:.*proves no gap:argrank.errors.ArgrankWarning")
def test_a_convex_loss_reaches_one_optimum_with_every_solver(data):
    found = {}
    for solver in ("bundle", "cutting-plane", "frank-wolfe", "l-bfgs", "auto"):
        ranker = ar.make_ranker("custom", objective=pair_hinge, convex=True, smooth=False, solver=solver, tol=1e-5)
        found[solver] = ranker.set_params(C=0.1).fit(data).objective_
    assert max(found.values()) == pytest.approx(min(found.values()), rel=1e-3), found
    pairs = ar.objective("rank-svm").n_pairs(data).sum() / data.n_queries
    ours = ar.make_ranker("rank-svm", loss="hinge", C=0.1 * pairs, tol=1e-5).fit(data)
    assert found["auto"] == pytest.approx(ours.objective_ * pairs, rel=1e-3)


def test_solvers_that_do_not_fit_say_why(data):
    with pytest.raises(OptionError, match=r"'bundle' needs .*convex"):
        ar.make_ranker("custom", objective=squares, solver="bundle").fit(data)


def test_squares_by_hand_are_ridge_regression(data):
    ranker = ar.make_ranker("custom", objective=squares, convex=True, C=10.0, tol=1e-12).fit(data)
    X, twice = data.X, 2.0 / data.n_queries
    optimum = np.linalg.solve(np.eye(4) / 10.0 + twice * X.T @ X, twice * X.T @ data.y)
    np.testing.assert_allclose(ranker.coef_, optimum, rtol=1e-5)


def test_trees_on_any_objective_learn_and_ignore_its_scale(data):
    def large(scores, labels):
        value, gradient = squares(scores, labels)
        return 1024.0 * value, 1024.0 * gradient

    settings = {"model": "trees", "n_trees": 30, "min_documents": 5}
    ranker, same, named = (
        ar.make_ranker("custom", objective=one, **settings).fit(data) for one in (squares, large, "svm-ndcg")
    )
    np.testing.assert_array_equal(ranker.predict(data), same.predict(data))
    nothing = ar.evaluate(np.zeros(data.n_documents), data, "ndcg@10").means["ndcg@10"]
    assert min(ranker.score(data), named.score(data)) > nothing + 0.1
    value, _ = ar.objective("custom", objective=squares)(ranker.predict(data), data)
    assert ranker.objective_ == pytest.approx(value, rel=1e-6)


def test_early_stopping_of_trees(data):
    ranker = ar.make_ranker("custom", objective=squares, model="trees", early_stopping=5, min_documents=5)
    ranker.fit(data, eval_set=data.select(np.arange(10)))
    assert ranker.score(data.select(np.arange(10))) == pytest.approx(max(ranker.trace_["validation"]))


@pytest.mark.parametrize("model", ["linear", "trees"])
def test_the_saved_model_needs_no_function(data, tmp_path, model):
    ranker = ar.make_ranker("custom", objective=squares, model=model, n_trees=5, normalise="standard").fit(data)
    ranker.save(tmp_path / "model.json")
    np.testing.assert_array_equal(ar.load_model(tmp_path / "model.json").predict(data), ranker.predict(data))
    assert clone(ranker).objective is squares
    assert pickle.loads(pickle.dumps(ranker)).get_params()["objective"] is squares


@pytest.mark.parametrize("model", ["linear", "trees"])
def test_a_checkpoint_knows_the_loss(data, tmp_path, model):
    settings = {"model": model, "n_trees": 5}
    first = ar.make_ranker("custom", objective=squares, **settings).fit(data, checkpoint=tmp_path / "fit")
    again = ar.make_ranker("custom", objective=squares, **settings).fit(data, checkpoint=tmp_path / "fit")
    np.testing.assert_array_equal(first.predict(data), again.predict(data))
    with pytest.raises(ar.errors.InputError, match="another objective"):
        ar.make_ranker("custom", objective=pair_hinge, **settings).fit(data, checkpoint=tmp_path / "fit")


@pytest.mark.parametrize("name", ["factor-rank", "position-match"])
def test_rankers_of_other_data_have_no_objective(data, name):
    for make in (
        lambda: ar.objective(name),
        lambda: ar.make_ranker("custom", objective=name).fit(data),
        lambda: ar.make_ranker("direct-rank-trees", objective=name).fit(data),
        lambda: ar.make_ranker("symmetric-mart", objective=name).fit(data),
    ):
        with pytest.raises(OptionError, match=f"{name} has no objective"):
            make()
