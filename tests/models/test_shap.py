"""SHAP values of trees: by enumeration of all sets of features, by LightGBM, and as sums to the scores."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import argrank as ar
from argrank.models.linear import LinearModel
from argrank.models.sum import SumModel
from argrank.models.tree import Tree
from argrank.models.trees import TreesModel


def random_tree(rng: np.random.Generator, n_features: int, n_leaves: int) -> Tree:
    """A tree with splits of every kind: numbers, missing values, zeros as missing, categories."""
    left, right, open_ends = [], [], [(None, None)]
    for node in range(n_leaves - 1):
        parent, side = open_ends.pop(int(rng.integers(len(open_ends))))
        if parent is not None:
            (left if side == 0 else right)[parent] = node
        left.append(None)
        right.append(None)
        open_ends += [(node, 0), (node, 1)]
    for leaves, (parent, side) in enumerate(open_ends, 1):
        (left if side == 0 else right)[parent] = -leaves
    n = n_leaves - 1
    categories = {node: np.sort(rng.choice(4, 2, replace=False)) for node in range(n) if rng.random() < 0.2}
    return Tree(
        feature=rng.integers(0, n_features, n),
        threshold=rng.choice([-0.5, 0.0, 0.7, 1.5], n),
        default_left=rng.random(n) < 0.5,
        missing=rng.integers(0, 3, n),
        left=np.array(left),
        right=np.array(right),
        gain=np.ones(n),
        value=rng.standard_normal(n_leaves),
        count=rng.integers(1, 40, n_leaves),
        categories=categories,
    )


def expected(tree: Tree, row: np.ndarray, known: set[int]) -> float:
    """The value of a tree where some features are known: others go both ways, by the documents of training.

    Where there were none, leaves count alike.
    """

    def documents(node: int) -> float:
        return (
            float(tree.count[~node]) if node < 0 else documents(int(tree.left[node])) + documents(int(tree.right[node]))
        )

    def leaves(node: int) -> int:
        return 1 if node < 0 else leaves(int(tree.left[node])) + leaves(int(tree.right[node]))

    def value(node: int) -> float:
        if node < 0:
            return float(tree.value[~node])
        a, b = int(tree.left[node]), int(tree.right[node])
        if int(tree.feature[node]) in known:
            goes_left = tree._goes_left(node, row[[tree.feature[node]]])[0]
            return value(a if goes_left else b)
        size = documents if documents(node) else leaves
        return (size(a) * value(a) + size(b) * value(b)) / size(node)

    return value(0)


def by_enumeration(tree: Tree, row: np.ndarray) -> np.ndarray:
    n = len(row)
    found = np.zeros(n)
    for feature in range(n):
        others = [one for one in range(n) if one != feature]
        for size in range(n):
            weight = math.factorial(size) * math.factorial(n - size - 1) / math.factorial(n)
            for chosen in itertools.combinations(others, size):
                with_it = expected(tree, row, {*chosen, feature})
                found[feature] += weight * (with_it - expected(tree, row, set(chosen)))
    return found


@pytest.mark.parametrize("empty", [0.0, 0.6])
@pytest.mark.parametrize("seed", range(12))
def test_shap_values_of_a_tree_are_those_of_all_sets_of_features(seed: int, empty: float) -> None:
    rng = np.random.default_rng(seed)
    n_features = int(rng.integers(1, 6))
    tree = random_tree(rng, n_features, int(rng.integers(2, 12)))
    tree.check(n_features)
    tree.count[rng.random(tree.n_leaves) < empty] = 0
    X = rng.choice([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, np.nan], (8, n_features))
    found = TreesModel((tree,), n_features).shap_values(X)
    np.testing.assert_allclose(found, [by_enumeration(tree, row) for row in X], atol=1e-12)


def with_holes() -> ar.Dataset:
    data = ar.make_ranking(40, 20, 6, random_state=3)
    X = np.array(data.X)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    X[:, 5] = np.arange(len(X)) % 7
    names = [f"f{i}" for i in range(6)]
    return ar.Dataset(X, data.y, data.qid, feature_names=names, categories={"f5": [f"t{i}" for i in range(7)]})


@pytest.mark.parametrize("extra_trees", [True, False])
def test_a_forest_has_the_shap_values_of_lightgbm(extra_trees: bool) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    data = with_holes()
    ranker = ar.make_ranker("lambda-mart", n_trees=60, extra_trees=extra_trees, n_seeds=2).fit(data)
    booster = lightgbm.Booster(model_str=ranker.model_.to_lightgbm())
    theirs = booster.predict(data.X, pred_contrib=True, num_threads=1)[:, :-1]
    np.testing.assert_allclose(ranker.shap_values(data), data.to_caller(theirs), atol=1e-9)


@pytest.mark.parametrize("name", ["auto", "query-mart", "rank-svm", "rankboost", "adarank", "mart", "symmetric-mart"])
def test_shap_values_add_up_to_the_scores(name: str) -> None:
    data = with_holes()
    options = {"members": ["listnet", "mart"], "normalise": "standard"} if name == "auto" else {}
    ranker = ar.make_ranker(name, **options).fit(data)
    for model in (ranker, ranker.model_):
        found = model.shap_values(data)
        assert found.shape == (data.n_documents, data.n_features)
        assert np.ptp(model.predict(data) - found.sum(axis=1)) < 1e-9
    frame = data.to_pandas()
    np.testing.assert_allclose(ranker.shap_values(frame), ranker.shap_values(data), atol=1e-12)
    contributions = ranker.model_.contributions(data.X, data.indptr)
    assert np.ptp(data.to_caller(ranker.predict(data)) - contributions.sum(axis=1)) < 1e-9


def test_a_sum_takes_rows_of_any_order_and_queries_where_it_needs_them() -> None:
    rng = np.random.default_rng(0)
    X, qid = rng.random((30, 3)), rng.integers(0, 5, 30)
    ranker = ar.make_ranker("rank-svm", normalise="query-minmax").fit(X, rng.integers(0, 3, 30), qid=qid)
    model = SumModel((ranker.model_, LinearModel(np.array([1.0, 0.0, 2.0]))), np.array([0.5, 2.0]))
    np.testing.assert_allclose(model.shap_values(X, qid=qid).sum(axis=1), model.predict(X, qid=qid), atol=1e-12)


def test_models_that_are_no_sums_say_so() -> None:
    data = ar.make_ranking(10, 10, 3, random_state=0)
    ranker = ar.make_ranker("mcrank", n_trees=3).fit(data)
    with pytest.raises(ar.errors.OptionError, match="expected a linear model, trees"):
        ranker.shap_values(data)
