"""DirectRank with trees: every weight is the best of its range, on the measure itself."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

import argrank as ar
from argrank.errors import ArgrankWarning, InputError, ModelError, OptionError
from argrank.rankers.boosted.direct_rank_trees import DirectRankTrees
from argrank.rankers.boosted.mart import MART

SMALL = {"n_trees": 12, "n_leaves": 8, "min_documents": 5}
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
    ranker = DirectRankTrees(measure=measure, weight_range=WIDE, n_trees=6, n_leaves=8, min_documents=5).fit(data)
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
    mart = MART(learning_rate=0.3, **SMALL, **plain).fit(data)
    shift = mart.predict(data) - near.predict(data)
    np.testing.assert_allclose(shift, data.y.mean(), atol=1e-6)


def test_leaves_with_weights_of_their_own_are_no_worse_than_the_tree_and_stay_in_the_range(data):
    one = {"weight_range": WIDE, "n_trees": 1, "n_leaves": 8, "min_documents": 5}
    together, apart = (DirectRankTrees(leaves=leaves, **one).fit(data) for leaves in ("together", "exact"))
    assert apart.objective_ <= together.objective_
    (tree,), (same,) = apart.model_.trees, together.model_.trees
    share = tree.value / same.value * together.weights_[0]
    assert (share >= 0.1 - 1e-9).all()
    assert (share <= 0.5 + 1e-9).all()


def test_no_leaf_can_be_moved_for_the_better_after_its_turn(data):
    """With one round over the leaves the last one searched is at its best given all others."""
    ranker = DirectRankTrees(n_trees=1, n_leaves=4, min_documents=5, leaves="exact").fit(data)
    tree = ranker.model_.trees[0]
    plain = DirectRankTrees(n_trees=1, n_leaves=4, min_documents=5).fit(data)
    unit = plain.model_.trees[0].value / plain.weights_[0]
    last, leaf = int(np.argmax(unit)), tree.leaves(np.ascontiguousarray(data.X.T))
    taken = mean(tree.value.take(leaf), data)
    for weight in np.linspace(0.1, 0.5, 201):
        values = tree.value.copy()
        values[last] = weight * unit[last]
        assert mean(values.take(leaf), data) <= taken + 1e-9


def test_leveraged_weights_are_at_a_coordinate_optimum_and_no_worse_than_before(data):
    before = MART(learning_rate=0.1, **SMALL).fit(data)
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
    ranker = DirectRankTrees(base_estimator=base, n_trees=6).fit(data)
    again = DirectRankTrees(base_estimator=base, n_trees=6).fit(data)
    assert ranker.predict(data).tobytes() == again.predict(data).tobytes()
    assert ranker.score(data) > mean(np.zeros(data.n_documents), data) + 0.1
    assert len(ranker.model_.members) == ranker.n_iter_ == len(ranker.weights_)
    assert ranker.objective_ == pytest.approx(1 - ranker.score(data), abs=1e-12)
    with pytest.raises(ModelError, match="joblib"):
        ranker.save(tmp_path / "model.json")
    assert not hasattr(ranker, "feature_importances_")
    X = data.X.copy()
    X[0, 0] = np.nan
    if isinstance(base, Ridge):
        with pytest.raises(InputError, match="missing"):
            ranker.fit(X, data.y, group=data.sizes)


def test_early_stopping_keeps_the_best_round(data):
    train, valid = data.split(0.6, 0.4)
    ranker = DirectRankTrees(n_trees=60, n_leaves=8, min_documents=5, early_stopping=8).fit(train, eval_set=valid)
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


def test_data_without_a_relevant_document_is_harmless(data):
    with pytest.warns(ArgrankWarning, match="no tree found a split"):
        ranker = DirectRankTrees(**SMALL).fit(data.X, np.zeros(data.n_documents), group=data.sizes)
    assert np.isfinite(ranker.predict(data.X)).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"variant": "other"}, {"leaves": "other"}, {"weight_range": (0.5, 0.1)}, {"weight_range": 3},
        {"weight_range": (-0.1, 0.5)}, {"objective": "nonsense"}, {"point": "left"}, {"base_estimator": 3},
        {"leaves": "exact", "variant": "leveraged"}, {"leaves": "exact", "base_estimator": Ridge()},
    ],
)  # fmt: skip
def test_wrong_parameters_are_refused(data, wrong):
    with pytest.raises(OptionError):
        DirectRankTrees(**{**SMALL, **wrong}).fit(data)
