"""symmetric-mart: objectives, weights, signs, categories, missing values, stopping, and use without LightGBM."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

import argrank as ar
from argrank.errors import ArgrankWarning, InputError, OptionError
from argrank.evaluation.evaluate import mean_of
from argrank.models.symmetric import SymmetricTrees
from argrank.rankers.boosted.symmetric.symmetric_boosters import SymmetricBoosters


@pytest.fixture(scope="module")
def data():
    made = ar.make_ranking(60, (5, 30), 6, truth="nonlinear", random_state=3)
    return ar.Dataset(made.X, made.y, group=made.sizes, feature_names=list("abcdef"))


def make(**parameters):
    return ar.make_ranker(
        "symmetric-mart", **{"n_trees": 12, "start": None, "depth": 4, "l2": 3.0, "bagging_fraction": 0.6} | parameters
    )


PLAIN = {"feature_fraction": 1.0, "bagging_fraction": 1.0}


def squares(scores, labels):
    difference = scores - labels
    return (difference**2).sum(), 2.0 * difference


@pytest.mark.parametrize("objective", ["query-mart", "pair-mart", "mart", squares, "listnet", "rank-svm"])
def test_the_loss_never_rises_on_training_data(data, objective):
    ranker = make(objective=objective, n_trees=60, learning_rate=0.02, verbose=1, **PLAIN).fit(data)
    losses = np.array([row["objective"] for row in ranker.trace_])
    assert len(losses) == 60
    assert (np.diff(losses) <= 1e-12 * losses[0]).all()
    assert losses[-1] < 0.99 * losses[0]


@pytest.mark.parametrize(
    "objective", ["lambda-mart", "xendcg-mart", ar.make_ranker("lambda-mart", measure="map", truncation=5)]
)
def test_lambdas_of_any_measure_and_drawn_targets_are_learned(data, objective):
    ranker = make(objective=objective, n_trees=40).fit(data)
    assert ranker.score(data) > mean_of(np.zeros(data.n_documents), data, ranker._reported) + 0.2
    if not isinstance(objective, str):
        assert str(ranker._optimised) == "map"
        assert ranker.objective_ == pytest.approx(1 - ranker.score(data), abs=1e-12)


def test_the_first_tree_is_the_newton_step_of_its_leaves(data):
    ranker = make(n_trees=1, learning_rate=1.0, l2=2.0, **PLAIN).fit(data)
    centred = data.y - np.repeat(np.add.reduceat(data.y, data.indptr[:-1]) / data.sizes, data.sizes)
    scores = ranker.predict(data)
    for value in np.unique(scores):
        own = scores == value
        assert value == pytest.approx(centred[own].sum() / (own.sum() + 2.0), abs=1e-12)


def test_the_penalty_is_counted_in_documents_whatever_the_scale_of_the_loss(data):
    ranker = make(n_trees=1, learning_rate=1.0, l2=2.0, objective="lambda-mart", **PLAIN).fit(data)
    gradient, curvature = ar.make_ranker("lambda-mart")._loss(data).slopes(np.zeros((data.n_documents, 1)), None)
    assert curvature.mean() < 0.1
    scores = ranker.predict(data)
    assert len(np.unique(scores)) > 4
    for value in np.unique(scores):
        own = scores == value
        expected = -gradient[own].sum() / (curvature[own].sum() + 2.0 * curvature.mean())
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_objective_is_the_loss_of_the_model(data):
    for more in ({}, {"n_seeds": 3}, {"start": "linear"}):
        ranker = make(**more).fit(data)
        error = ranker.predict(data) - data.y
        centred = error - np.repeat(np.add.reduceat(error, data.indptr[:-1]) / data.sizes, data.sizes)
        assert ranker.objective_ == pytest.approx(0.5 * (centred**2).sum())


@pytest.mark.parametrize("objective", ["query-mart", "rank-svm"])
def test_a_row_of_weight_two_is_two_rows(data, objective):
    weight = np.random.default_rng(0).integers(0, 3, data.n_documents)
    weight[data.indptr[:-1]] = 1
    twice = np.repeat(np.arange(data.n_documents), weight)
    settings = {"n_bins": 255, "objective": objective, **PLAIN}
    weighed = make(**settings).fit(data.X, data.y, group=data.sizes, sample_weight=weight)
    repeated = make(**settings).fit(data.X[twice], data.y[twice], qid=data.qid[twice])
    found, expected = weighed.predict(data), repeated.predict(data)
    np.testing.assert_allclose(found - found.mean(), expected - expected.mean(), atol=1e-6)


@pytest.mark.parametrize("objective", ["query-mart", "mart", "pair-mart", "lambda-mart", "listnet", squares])
def test_a_query_of_weight_two_is_two_queries_and_one_of_weight_zero_is_none(objective):
    made = ar.make_ranking(60, 10, 6, truth="nonlinear", random_state=3)
    weight = np.repeat([2, 0, 1], [10, 10, 40])
    settings = {"n_bins": 255, "objective": objective, **PLAIN}
    weighed = make(**settings).fit(made.X, made.y, group=made.sizes, query_weight=weight)
    twice = np.concatenate([np.arange(made.indptr[q], made.indptr[q + 1]) for q in np.repeat(np.arange(60), weight)])
    repeated = make(**settings).fit(made.X[twice], made.y[twice], group=[10] * 60)
    found, expected = weighed.predict(made), repeated.predict(made)
    np.testing.assert_allclose(found - found.mean(), expected - expected.mean(), atol=1e-6)


def test_objectives_without_row_weights_refuse_them(data):
    with pytest.raises(InputError, match="sample_weight: ListNet does not support"):
        make(objective="listnet").fit(data.X, data.y, group=data.sizes, sample_weight=data.y + 1)


@pytest.mark.parametrize("objective", ["mcrank", 3, "nothing", "auto", lambda scores: 1])
def test_other_objectives_are_refused(data, objective):
    with pytest.raises((OptionError, InputError)):
        make(objective=objective).fit(data)


@pytest.mark.parametrize("start", [None, "linear"])
def test_monotone_features_move_the_score_one_way(data, start):
    signs = {"a": 1, "b": -1, 2: 1, 3: -1}
    free, held = (make(start=start, n_trees=40, monotone=one).fit(data) for one in (None, signs))
    steps, bent = np.linspace(-3, 3, 40), 0
    for column, sign in enumerate((1, -1, 1, -1)):
        rows = np.repeat(data.X[:20], 40, axis=0)
        rows[:, column] = np.tile(steps, 20)
        assert (sign * np.diff(held.model_.predict(rows).reshape(20, 40), axis=1) >= -1e-12).all()
        bent += (sign * np.diff(free.model_.predict(rows).reshape(20, 40), axis=1) < -1e-12).any()
    assert bent
    assert held.score(data) > 0.6


def test_monotone_features_move_the_score_one_way_through_leaves_without_documents():
    data = ar.make_ranking(15, (3, 10), 4, truth="nonlinear", random_state=2)
    model = make(n_trees=30, depth=8, l2=0.1, monotone={0: 1}).fit(data).model_
    assert (model.counts == 0).any()
    rows = np.repeat(np.random.default_rng(9).normal(size=(300, 4)), 30, axis=0)
    rows[:, 0] = np.tile(np.linspace(-4, 4, 30), 300)
    assert (np.diff(model.predict(rows).reshape(300, 30), axis=1) >= -1e-12).all()


def test_missing_values_go_where_they_gain(data):
    X = data.X.copy()
    lacks = np.random.default_rng(1).random(data.n_documents) < 0.4 * (data.y > 1)  # being missing tells something
    X[lacks, 5] = np.nan
    ranker = make(n_trees=40).fit(X, data.y, group=data.sizes)
    model = ranker.model_
    assert isinstance(model, SymmetricTrees)
    assert model.missing.any()
    rows = np.repeat(X[:20], 2, axis=0)
    rows[::2, 5], rows[1::2, 5] = np.nan, np.nanmedian(X[:, 5])
    risen = np.diff(model.predict(rows).reshape(20, 2), axis=1)
    assert (risen < 0).mean() > 0.8


def test_a_column_that_is_only_there_or_missing_can_be_asked():
    X = np.array([[np.nan], [1.0], [np.nan], [1.0]] * 10)
    model = make(bagging_fraction=1.0, l2=0.1).fit(X, [1, 0, 1, 0] * 10, group=[4] * 10).model_
    present, absent = model.predict(np.array([[1.0], [np.nan]]))
    assert absent > present


def test_sparse_and_dense_features_give_the_same_trees(data):
    X = np.where(np.abs(data.X) < 0.6, 0.0, data.X)
    dense, thin = (make(n_bins=16).fit(one, data.y, group=data.sizes) for one in (X, sparse.csr_array(X)))
    assert dense.predict(X).tobytes() == thin.predict(sparse.csr_array(X)).tobytes()


def test_sparse_columns_without_zeros_have_the_cuts_of_dense_ones():
    rng = np.random.default_rng(0)
    X = np.stack([rng.choice([-1.0, 1.0], 300), np.full(300, 3.0), rng.normal(size=300), rng.normal(size=300)], axis=1)
    X[:, 3] = np.where(X[:, 3] < 0, 0.0, X[:, 3])
    dense, thin = (make().fit(one, (X[:, 0] > 0) + (X[:, 2] > 0), group=[10] * 30) for one in (X, sparse.csr_array(X)))
    for name in ("features", "cuts", "values"):
        assert getattr(dense.model_, name).tobytes() == getattr(thin.model_, name).tobytes()


def test_categories_are_asked_by_what_held_out_queries_say_of_them():
    rng = np.random.default_rng(2)
    code, noise = rng.integers(0, 40, 3000), rng.normal(size=3000)
    good = rng.permutation(40) < 20
    y = (good[code] + 0.3 * noise > 0.5).astype(float)
    X = np.stack([code, rng.normal(size=3000)], axis=1)
    train, test = ar.Dataset(X[:2000], y[:2000], group=[10] * 200), ar.Dataset(X[2000:], y[2000:], group=[10] * 100)
    plain = make(n_trees=20, depth=2, start="linear").fit(train)
    ranker = make(n_trees=20, depth=2, start="linear", categorical_features=[0]).fit(train)
    assert ranker.score(test) > plain.score(test) + 0.03
    numbers = ranker.model_.members[-1].codes[0]
    assert numbers[good].min() > numbers[~good].max()
    useless = rng.integers(0, 1500, 2000).astype(float)  # rare categories tell nothing
    taught = ar.Dataset(np.stack([useless, X[:2000, 1]], axis=1), y[:2000], group=[10] * 200)
    learned = make(n_trees=20, categorical_features=[0]).fit(taught)
    assert learned.model_.importances("gain")[0] < 3 * learned.model_.importances("gain")[1]


@pytest.mark.parametrize("name", ["symmetric-mart", "query-mart"])
@pytest.mark.parametrize("start", [None, "linear"])
def test_texts_are_categories_and_unknown_ones_count_as_missing(name, start):
    import pandas as pd

    rng = np.random.default_rng(0)
    brand = rng.choice(["good", "bad", "so"], 300)
    y = np.where(brand == "good", 2, brand == "so").astype(int)
    frame = pd.DataFrame({"brand": brand, "x": rng.normal(size=300), "qid": np.repeat(range(30), 10), "label": y})
    further = frame.assign(brand=frame["brand"].where(frame.index % 3 > 0, "new"))
    ranker = ar.make_ranker(name, n_trees=60, l2=0.1, start=start).fit(frame, eval_set=ar.Dataset(further))
    assert ranker.score(frame) == 1.0
    assert ranker.score(further) == ranker.trace_["validation"][-1]
    rows = pd.DataFrame({"brand": ["new", None], "x": [0.0, 0.0]})
    new, missing = ranker.predict(rows)
    assert new == missing
    assert np.isfinite(ranker.shap_values(rows)).all()


def test_several_seeds_are_the_mean_of_each(data):
    both, first = make(n_seeds=2, random_state=4).fit(data), make(random_state=4).fit(data)
    model = both.model_
    half = 2 * SymmetricTrees(
        *(getattr(model, name)[:12] for name in ("features", "cuts", "missing", "values", "gains", "counts")),
        n_columns=6,
    ).predict(data.X)
    np.testing.assert_allclose(half, first.predict(data), atol=1e-12)


def test_early_stopping_keeps_the_best_round(data):
    train, valid = data.split(0.7, 0.3)
    ranker = make(n_trees=200, early_stopping=10, learning_rate=0.3).fit(train, eval_set=valid)
    seen = [row["validation"] for row in ranker.trace_]
    assert len(seen) < 200
    assert ranker.score(valid) == max(seen)
    assert len(ranker.model_.values) == ranker.n_iter_ == int(np.argmax(seen)) + 1
    held = make(n_trees=200, early_stopping=10, learning_rate=0.3).fit(data)
    assert held.n_iter_ < 200


def test_interrupting_keeps_what_was_grown(data, monkeypatch):
    grow, calls = SymmetricBoosters._grow, []

    def interrupted(self, number):
        calls.append(1)
        if len(calls) == 16:  # the second seed of a round
            raise KeyboardInterrupt
        return grow(self, number)

    whole = make(n_trees=7, n_seeds=2).fit(data)
    monkeypatch.setattr(SymmetricBoosters, "_grow", interrupted)
    with pytest.warns(ArgrankWarning, match="interrupted; the 7 earlier rounds"):
        ranker = make(n_seeds=2).fit(data)
    assert ranker.predict(data).tobytes() == whole.predict(data).tobytes()
    assert ranker.objective_ == pytest.approx(whole.objective_)


def test_saved_explained_and_counted(data, tmp_path):
    ranker = make(start="linear", n_trees=5).fit(data)
    ranker.save(tmp_path / "model.json")
    assert ar.load_model(tmp_path / "model.json").predict(data).tobytes() == ranker.predict(data).tobytes()
    rest = ranker.predict(data) - ranker.shap_values(data).sum(axis=1)
    np.testing.assert_allclose(rest, rest[0], atol=1e-9)
    trees = ranker.model_.members[-1]
    assert (trees.counts.sum(axis=1) == data.n_documents).all()
    assert (trees.gains >= 0).all()
    assert ranker.feature_importances_.sum() == pytest.approx(1.0)


def test_shap_values_begin_at_the_mean_score_of_the_training_data(data):
    model = make(depth=8).fit(data).model_
    assert (model.counts == 0).any()
    scores = model.predict(data.X)
    for parts in (model.shap_values(data.X), model.contributions(data.X)):
        np.testing.assert_allclose(scores - parts.sum(axis=1), scores.mean(), atol=1e-12)


def test_nothing_to_split_is_told():
    with pytest.warns(ArgrankWarning, match="no tree found a split"):
        ranker = make().fit(np.ones((6, 2)), [0, 1, 2, 0, 1, 2], group=[3, 3])
    assert len(set(ranker.predict(np.ones((6, 2))))) == 1


def test_it_grows_without_lightgbm(tmp_path):
    code = """
import sys
sys.modules["lightgbm"] = None
import argrank as ar
data = ar.make_ranking(30, 10, 4, truth="nonlinear", random_state=1)
for objective in ("query-mart", "pair-mart", "lambda-mart", "xendcg-mart", "listnet"):
    ranker = ar.make_ranker("symmetric-mart", n_trees=5, objective=objective).fit(data)
    assert ranker.score(data) > 0.5
ranker.save(sys.argv[1])
ar.load_model(sys.argv[1]).predict(data)
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "m.json")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_jit_off_grows_the_same_trees(tmp_path):
    code = """
import sys
import numpy as np
import argrank as ar
data = ar.make_ranking(8, 8, 3, truth="nonlinear", random_state=1)
X = data.X.copy()
X[::7, 0] = np.nan
ranker = ar.make_ranker("symmetric-mart", n_trees=3, depth=3, monotone={1: 1}).fit(X, data.y, group=data.sizes)
sys.stdout.write(ranker.model_.values.tobytes().hex() + ranker.model_.cuts.tobytes().hex())
"""
    on, off = (
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "NUMBA_DISABLE_JIT": flag},
        ).stdout
        for flag in ("0", "1")
    )
    assert on == off != ""
