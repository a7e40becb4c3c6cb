"""DirectRank with trees: every weight is the best of its range, on the measure itself."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

import argrank as ar
from argrank.data.arranged import arranged
from argrank.errors import ArgrankWarning, InputError, ModelError, OptionError
from argrank.rankers.boosted.trees.direct_rank_trees import DirectRankTrees
from argrank.rankers.boosted.trees.mart import MART

FEW = {"n_trees": 12, "n_leaves": 8, "min_documents": 5}
PLAIN = {"start": None, "folds": 0, "feature_fraction": 1.0, "extra_trees": False}  # as the paper grows them
SMALL = FEW | PLAIN
WIDE = (0.1, 0.5)  # the paper's range


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(40, (5, 25), 6, truth="nonlinear", random_state=3)


def mean(scores, data, measure="ndcg@10"):
    return ar.evaluate(scores, data, measure).means[measure]


def outputs_of(ranker, data):
    """Return every tree's output as the model has it, weight included."""
    return [tree.value.take(tree.leaves(np.ascontiguousarray(data.X.T))) for tree in ranker.model_.trees]


@pytest.mark.parametrize("measure", ["ndcg@10", "map", "err@5", "mrr@10"])
def test_every_weight_is_the_best_of_the_range(data, measure):
    ranker = DirectRankTrees(measure=measure, weight_range=WIDE, **SMALL | {"n_trees": 6}).fit(data)
    scores = np.zeros(data.n_documents)
    for weight, output in zip(ranker.weights_, outputs_of(ranker, data), strict=True):
        assert 0.1 <= weight <= 0.5
        taken = mean(scores + output, data, measure)
        others = [mean(scores + output * (w / weight), data, measure) for w in np.linspace(0.1, 0.5, 81)]
        assert taken >= max(others) - 1e-9
        scores = scores + output
    assert ranker.objective_ == pytest.approx(1 - mean(scores, data, measure), abs=1e-12)
    np.testing.assert_allclose(ranker.predict(data), scores, atol=1e-12)


def test_a_range_of_one_point_is_mart(data):
    near = DirectRankTrees(weight_range=(0.3, 0.3 + 1e-12), **SMALL).fit(data)
    plain = {"feature_fraction": 1.0, "bagging_fraction": 1.0, "extra_trees": False}
    mart = MART(learning_rate=0.3, **FEW, **plain).fit(data)
    shift = mart.predict(data) - near.predict(data)
    np.testing.assert_allclose(shift, data.y.mean(), atol=1e-6)


def test_leaves_with_weights_of_their_own_are_no_worse_than_the_tree_and_stay_in_the_range(data):
    one = {"weight_range": WIDE, **SMALL, "n_trees": 1}
    together, apart = (DirectRankTrees(leaves=leaves, **one).fit(data) for leaves in ("together", "exact"))
    assert apart.objective_ <= together.objective_
    (tree,), (same,) = apart.model_.trees, together.model_.trees
    share = tree.value / same.value * together.weights_[0]
    assert (share >= 0.1 - 1e-9).all()
    assert (share <= 0.5 + 1e-9).all()


def test_no_leaf_can_be_moved_for_the_better_after_its_turn(data):
    """With one round over the leaves the last one searched is at its best given all others."""
    ranker = DirectRankTrees(n_trees=1, n_leaves=4, min_documents=5, leaves="exact", **PLAIN).fit(data)
    tree = ranker.model_.trees[0]
    plain = DirectRankTrees(n_trees=1, n_leaves=4, min_documents=5, **PLAIN).fit(data)
    unit = plain.model_.trees[0].value / plain.weights_[0]
    last, leaf = int(np.argmax(unit)), tree.leaves(np.ascontiguousarray(data.X.T))
    taken = mean(tree.value.take(leaf), data)
    for weight in np.linspace(0.1, 0.5, 201):
        values = tree.value.copy()
        values[last] = weight * unit[last]
        assert mean(values.take(leaf), data) <= taken + 1e-9


def test_leveraged_weights_are_at_a_coordinate_optimum_and_no_worse_than_before(data):
    plain = {"feature_fraction": 1.0, "bagging_fraction": 1.0, "extra_trees": False}
    before = MART(learning_rate=0.1, **FEW, **plain).fit(data)
    ranker = DirectRankTrees(weight_range=WIDE, variant="leveraged", reweighting_rounds=30, **SMALL).fit(data)
    assert 1 - ranker.objective_ >= mean(before.predict(data), data) - 1e-12
    assert (np.diff(ranker.trace_["objective"][SMALL["n_trees"] - 1 :]) <= 1e-12).all()
    outputs = outputs_of(ranker, data)
    total = np.sum(outputs, axis=0)
    for weight, output in zip(ranker.weights_, outputs, strict=True):
        assert 0.1 - 1e-12 <= weight <= 0.5 + 1e-12
        others = [mean(total + output * (w / weight - 1), data) for w in np.linspace(0.1, 0.5, 41)]
        assert max(others) <= 1 - ranker.objective_ + 1e-6


@pytest.mark.parametrize("name", ["rank-svm", "svm-ndcg", "svm-map"])
def test_trees_grow_on_the_gradients_of_any_objective(data, name):
    ranker = DirectRankTrees(objective=name, **SMALL).fit(data)
    risk = ar.objective(name)
    start = risk(np.zeros(data.n_documents), data)[0]
    assert risk(ranker.predict(data), data)[0] < 0.9 * start
    assert ranker.score(data) > mean(np.zeros(data.n_documents), data) + 0.1


@pytest.mark.parametrize("base", [DecisionTreeRegressor(max_leaf_nodes=8), Ridge()])
def test_any_regressor_is_a_weak_learner(data, base, tmp_path):
    ranker = DirectRankTrees(base_estimator=base, n_trees=6, start=None, folds=0).fit(data)
    again = DirectRankTrees(base_estimator=base, n_trees=6, start=None, folds=0).fit(data)
    assert ranker.predict(data).tobytes() == again.predict(data).tobytes()
    assert ranker.score(data) > mean(np.zeros(data.n_documents), data) + 0.1
    assert len(ranker.model_.members) == ranker.n_iter_ == len(ranker.weights_)
    assert ranker.objective_ == pytest.approx(1 - ranker.score(data), abs=1e-12)
    with pytest.raises(ModelError, match="joblib"):
        ranker.save(tmp_path / "model.json")
    assert ranker.feature_importances_.sum() == pytest.approx(1.0)
    X = data.X.copy()
    X[0, 0] = np.nan
    if isinstance(base, Ridge):
        with pytest.raises(InputError, match="missing"):
            ranker.fit(X, data.y, group=data.sizes)


@pytest.mark.parametrize("objective", ["regression", "listnet", "rank-svm"])
@pytest.mark.parametrize("base", [None, DecisionTreeRegressor(max_depth=3)])
def test_a_query_of_weight_two_is_two_queries_and_one_of_weight_zero_is_none(objective, base):
    made = ar.make_ranking(60, 10, 6, truth="nonlinear", random_state=3)
    X, weight = np.clip(np.round(2 * made.X), -3, 3), np.repeat([2, 0, 1], [10, 10, 40])
    settings = {"objective": objective, "base_estimator": base, **SMALL, "n_trees": 1, "min_documents": 1}
    weighed = DirectRankTrees(**settings).fit(X, made.y, group=made.sizes, query_weight=weight)
    twice = np.concatenate([np.arange(made.indptr[q], made.indptr[q + 1]) for q in np.repeat(np.arange(60), weight)])
    repeated = DirectRankTrees(**settings).fit(X[twice], made.y[twice], group=[10] * 60)
    np.testing.assert_allclose(weighed.predict(X), repeated.predict(X), atol=1e-6)


def test_a_regressor_without_weights_refuses_queries_of_different_weight(data):
    weight = np.arange(data.n_queries)
    ranker = DirectRankTrees(base_estimator=KNeighborsRegressor(), **SMALL)
    with pytest.raises(OptionError, match="base_estimator: expected a regressor that takes sample_weight"):
        ranker.fit(data.X, data.y, group=data.sizes, query_weight=weight)


def test_a_linear_start_refuses_validation_data_with_missing_values(data):
    X = data.X.copy()
    X[3, 0] = np.nan
    with pytest.raises(InputError, match="eval_set: expected no missing values"):
        DirectRankTrees(**FEW).fit(data, eval_set=ar.Dataset(X, data.y, group=data.sizes))


def test_early_stopping_keeps_the_best_round(data):
    train, valid = data.split(0.6, 0.4)
    ranker = DirectRankTrees(early_stopping=8, **SMALL | {"n_trees": 60}).fit(train, eval_set=valid)
    assert ranker.score(valid) == max(ranker.trace_["validation"])
    assert len(ranker.weights_) == ranker.n_iter_ == len(ranker.model_.trees)
    leveraged = DirectRankTrees(variant="leveraged", early_stopping=8, **SMALL).fit(train, eval_set=valid)
    assert leveraged.score(valid) == max(leveraged.trace_["validation"])


def test_labels_in_file_order_bring_no_advantage(data):
    order = np.lexsort((-data.y, data.query_of_row))
    by_label = ar.Dataset(data.X[order], data.y[order], group=data.sizes)
    shuffled = np.random.default_rng(0).permutation(data.n_documents)
    plain = ar.Dataset(data.X[shuffled], data.y[shuffled], data.query_of_row[shuffled])
    one, two = DirectRankTrees(**SMALL).fit(by_label), DirectRankTrees(**SMALL).fit(plain)
    np.testing.assert_allclose(one.predict(data.X), two.predict(data.X), atol=1e-9)


@pytest.mark.filterwarnings("ignore:.*nothing to learn")
def test_data_without_a_relevant_document_is_harmless(data):
    with pytest.warns(ArgrankWarning, match="no tree found a split"):
        ranker = DirectRankTrees(**SMALL).fit(data.X, np.zeros(data.n_documents), group=data.sizes)
    assert np.isfinite(ranker.predict(data.X)).all()


@pytest.mark.parametrize("more", [{}, {"leaves": "exact"}, {"variant": "leveraged"}, {"objective": "rank-svm"}])
def test_trees_grow_on_what_a_linear_model_leaves_over(data, more, tmp_path):
    train, valid = data.split(0.6, 0.4)
    ranker = DirectRankTrees(folds=0, weight_range=WIDE, **FEW, **more).fit(train, eval_set=valid)
    linear, trees = ranker.model_.members
    begin = linear.scores(train.X)
    left = MART(start="linear", n_trees=1).fit(train).model_.members[0]
    np.testing.assert_array_equal(linear.weights, left.weights)
    scores = begin + trees.scores(train.X)
    assert ranker.objective_ == pytest.approx(1 - mean(train.to_caller(scores), train), abs=1e-12)
    assert ranker.score(valid) == ranker.trace_["validation"][-1]
    if not more:  # every weight is the best, now on top of the linear scores
        scores = begin
        for weight, tree in zip(ranker.weights_, trees.trees, strict=True):
            output = tree.value.take(tree.leaves(np.ascontiguousarray(train.X.T)))
            others = [mean(scores + output * (w / weight), train) for w in np.linspace(0.1, 0.5, 41)]
            scores = scores + output
            assert mean(scores, train) >= max(others) - 1e-9
    ranker.save(tmp_path / "model.json")
    np.testing.assert_array_equal(ar.load_model(tmp_path / "model.json").predict(valid), ranker.predict(valid))


def test_only_trees_that_help_queries_left_out_are_grown(data):
    """Where the truth is linear there is nothing for trees to add, and the start is the model."""
    linear = ar.make_ranking(40, (5, 25), 6, noise=2.0, random_state=3)
    few, many = (DirectRankTrees(**FEW).fit(one) for one in (linear, data))
    assert len(few.weights_) == few.n_iter_ <= 2
    assert many.n_iter_ > 6
    assert many.gain_ > few.gain_ >= 0
    values = []
    fold_of, ordered = np.random.default_rng(0).permutation(40) % 3, arranged(data)
    for fold in range(3):
        train, held = ordered.select(fold_of != fold), ordered.select(fold_of == fold)
        grown = DirectRankTrees(folds=0, **FEW).fit(train, eval_set=held)
        begin = grown.model_.members[0].scores(held.X)
        values.append([mean(held.to_caller(begin), held), *grown.trace_["validation"]])
    means = np.mean(values, axis=0)
    assert many.n_iter_ == np.argmax(means)
    assert many.gain_ == pytest.approx(means.max() - means[0], abs=1e-12)
    alone = DirectRankTrees(**FEW, folds=0).fit(data)
    assert (alone.n_iter_, np.isnan(alone.gain_)) == (FEW["n_trees"], True)


def test_where_queries_are_too_few_to_judge_trees_the_start_is_the_model():
    made = ar.make_ranking(310, (20, 60), 20, noise=2.0, random_state=1)
    train, new = made.select(np.arange(10)), made.select(np.arange(10, 310))
    ranker = DirectRankTrees().fit(train)
    assert (ranker.n_iter_, np.isnan(ranker.gain_)) == (0, True)
    assert DirectRankTrees(folds=0).fit(train).score(new) < ranker.score(new) - 0.01
    assert DirectRankTrees(start=None, n_trees=3).fit(train).n_iter_ == 3  # there is none


def test_a_regressor_and_a_linear_start(data):
    ranker = DirectRankTrees(base_estimator=DecisionTreeRegressor(max_leaf_nodes=8), n_trees=3).fit(data)
    assert ranker.objective_ == pytest.approx(1 - ranker.score(data), abs=1e-12)
    assert ranker.model_.members[0].kind == "linear"


@pytest.mark.parametrize(
    "wrong",
    [
        {"variant": "other"}, {"leaves": "other"}, {"weight_range": (0.5, 0.1)}, {"weight_range": 3},
        {"weight_range": (-0.1, 0.5)}, {"objective": "nonsense"}, {"point": "left"}, {"base_estimator": 3},
        {"start": "other"}, {"folds": -1}, {"folds": 1.5}, {"leaves": "exact", "variant": "leveraged"},
        {"leaves": "exact", "base_estimator": Ridge()},
    ],
)  # fmt: skip
def test_wrong_parameters_are_refused(data, wrong):
    with pytest.raises(OptionError):
        DirectRankTrees(**{**SMALL, **wrong}).fit(data)
