"""ORM with kernels: the linear kernel is the linear ranker, the others learn what no linear function can."""

from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.errors import InputError, OptionError
from argrank.models.kernel import Kernel


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(25, (4, 12), 5, noise=0.5, random_state=1)


@pytest.mark.parametrize("solver", ["bundle", "cutting-plane"])
def test_the_linear_kernel_reaches_the_linear_objective(data, solver):
    linear = ar.make_ranker("orm", bound="convex", C=3.0, tol=1e-5).fit(data)
    dual = ar.make_ranker("orm", bound="convex", C=3.0, tol=1e-5, kernel="linear", solver=solver).fit(data)
    assert dual.objective_ == pytest.approx(linear.objective_, rel=3e-5)
    np.testing.assert_allclose(dual.predict(data), linear.predict(data), atol=0.02)
    assert dual.model_.coefficients @ dual.model_.support @ linear.coef_ == pytest.approx(
        linear.coef_ @ linear.coef_, rel=0.05
    )


def test_a_precomputed_gram_matrix_in_any_row_order(data):
    shuffled = np.random.default_rng(0).permutation(data.n_documents)
    X, y, qid = data.X[shuffled], data.y[shuffled], data.query_of_row[shuffled]
    kernel = Kernel("rbf", gamma=0.2)
    direct = ar.make_ranker("orm", bound="convex", C=3.0, tol=1e-5, kernel="rbf", gamma=0.2).fit(X, y, qid=qid)
    given = ar.make_ranker("orm", bound="convex", C=3.0, tol=1e-5, kernel="precomputed").fit(kernel(X, X), y, qid=qid)
    new = np.random.default_rng(1).standard_normal((7, 5))
    np.testing.assert_allclose(given.predict(kernel(new, X)), direct.predict(new), rtol=1e-6, atol=1e-8)
    with pytest.raises(InputError, match="square"):
        ar.make_ranker("orm", kernel="precomputed").fit(data)


@pytest.mark.parametrize(("kernel", "gamma"), [("rbf", 0.5), ("poly", 1.0)])
def test_a_curved_target(kernel, gamma, tmp_path):
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (400, 2))
    y = np.digitize(np.abs(X).max(axis=1), [0.5, 0.8])  # symmetric: every linear function is as good as none
    data = ar.Dataset(X, y, group=[20] * 20)
    train, valid = data.split(0.6, 0.4)
    ranker = ar.make_ranker("orm", kernel=kernel, gamma=gamma, C=100.0).fit(train, eval_set=valid)
    assert ranker.score(valid) > ar.make_ranker("regression").fit(train).score(valid) + 0.15
    assert ranker.trace_["validation"][-1] == pytest.approx(ranker.score(valid))
    ranker.save(tmp_path / "model.json")
    assert ar.load_model(tmp_path / "model.json").predict(valid).tobytes() == ranker.predict(valid).tobytes()


def test_unknown_kernels_are_refused(data):
    with pytest.raises(OptionError, match="kernel"):
        ar.make_ranker("orm", kernel="cosine").fit(data)
    with pytest.raises(OptionError, match="gamma"):
        ar.make_ranker("orm", kernel="rbf", gamma=0.0).fit(data)
