"""Trees: LightGBM's predictions bit for bit, exact files, and damaged ones refused."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import lightgbm as lgb
import numpy as np
import pytest
from scipy import sparse

from argrank.errors import InputError, ModelError
from argrank.models._flat import FlatTrees
from argrank.models._masks import masks_of
from argrank.models.files import load_model
from argrank.models.plain_data import stored_array
from argrank.models.tree import Tree, flattened
from argrank.models.tree_classes import TreeClassesModel, expected, probabilities
from argrank.models.trees import TreesModel

QUIET = {"verbosity": -1, "num_threads": 1}
KINDS = {
    "plain": {},
    "zero is missing": {"zero_as_missing": True},
    "no missing values": {"use_missing": False},
    "stumps": {"num_leaves": 2},
    "masks of 64 bits": {"num_leaves": 63, "min_data_in_leaf": 1},
    "deep": {"num_leaves": 200, "min_data_in_leaf": 1},
}


def make_rows(n, seed):
    """Numbers with gaps, many zeros, and two columns of categories, one of them with gaps and negative values."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 8))
    X[rng.random((n, 8)) < 0.1] = np.nan
    X[rng.random(n) < 0.5, 3] = 0.0
    X[:, 6] = rng.integers(0, 80, n)
    X[:, 7] = np.where(rng.random(n) < 0.1, np.nan, rng.integers(-1, 5, n))
    return X


@pytest.fixture(scope="module")
def X():
    return make_rows(2000, 1)


@pytest.fixture(scope="module", params=KINDS)
def booster(request, X):
    rng = np.random.default_rng(2)
    y = np.nan_to_num(X[:, 0]) + 2 * np.isin(X[:, 6], [3, 7, 40, 66]) + (X[:, 7] == 2) + np.isnan(X[:, 1])
    data = lgb.Dataset(X, y + 0.1 * rng.standard_normal(len(y)), categorical_feature=[6, 7], params=QUIET)
    return lgb.train({**QUIET, **KINDS[request.param]}, data, 25)


def strange_rows():
    """Rows as training never had them: unknown, broken and huge categories, tiny numbers, gaps everywhere."""
    X = make_rows(1500, 3)
    X[::7, 6], X[::11, 6], X[::13, 6], X[::17, 6], X[::23, 6] = 200, 2.7, -0.5, np.nan, 3e9
    X[::19, 0], X[::29, 3] = 1e-36, -1e-30
    X[5] = np.nan
    X[6] = 0.0
    return X


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_predictions_equal_lightgbm(booster, X, dtype):
    model = TreesModel.from_lightgbm(booster)
    for rows in (X, strange_rows()):
        rows = rows.astype(dtype)
        np.testing.assert_allclose(model.predict(rows), booster.predict(rows), rtol=0, atol=1e-12)


def by_numpy(trees, X, n_outputs=1):
    totals = np.zeros((X.shape[0], n_outputs))
    FlatTrees(trees, n_outputs)._by_numpy(X, totals)
    return totals


def by_kernel(trees, X, n_outputs=1):
    totals = np.zeros((X.shape[0], n_outputs))
    FlatTrees(trees, n_outputs)._by_kernel(X, totals)
    return totals


def test_sparse_and_many_blocks_predict_the_same(booster, X, monkeypatch):
    trees = TreesModel.from_lightgbm(booster).trees
    rows = np.nan_to_num(X)
    expected_scores = by_kernel(trees, rows)
    for walk, cells in ((by_numpy, "_flat.BLOCK_CELLS"), (by_kernel, "_rows.KERNEL_CELLS")):
        assert walk(trees, sparse.csr_matrix(rows)).tobytes() == expected_scores.tobytes()
        assert walk(trees, np.asfortranarray(rows)).tobytes() == expected_scores.tobytes()
        monkeypatch.setattr(f"argrank.models.{cells}", 4096)
        assert walk(trees, sparse.csr_matrix(rows)).tobytes() == expected_scores.tobytes()
        assert walk(trees, rows).tobytes() == expected_scores.tobytes()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_kernels_do_as_numpy_does(booster, X, dtype, monkeypatch):
    trees = (*TreesModel.from_lightgbm(booster).trees, Tree.constant(0.25))
    edges = np.array([0.0, -0.0, 1e-35, -1e-36, 1e-34, np.inf, -np.inf, np.nan, 2.0**32, 2.0**31, -1.0, -0.99])
    odd = np.repeat(edges[:, None], 8, axis=1)
    cuts = np.sort(np.concatenate([tree.threshold for tree in trees]))[:, None].repeat(8, axis=1)
    cuts = np.clip(cuts, -1e30, 1e30)
    for rows in (X, strange_rows(), odd, cuts, np.nextafter(cuts, np.inf), X[:0], X[:1]):
        rows = rows.astype(dtype)
        for n_outputs in (1, 2):
            expected_scores = by_numpy(trees, rows, n_outputs).tobytes()
            assert by_kernel(trees, rows, n_outputs).tobytes() == expected_scores
            with monkeypatch.context() as walking:
                walking.setattr("argrank.models._flat.FEWEST_ROWS", 1 << 30)
                assert by_kernel(trees, rows, n_outputs).tobytes() == expected_scores


def test_few_leaves_are_crossed_out_and_many_are_walked_to(X):
    """The limits of both methods: 32 bits for 31 leaves, 64 for 63, walks beyond, and where tables grow too large."""
    by_leaves = {31: np.int32, 32: np.int64, 63: np.int64, 64: None}
    for n_leaves, dtype in by_leaves.items():
        setting = {**QUIET, "num_leaves": n_leaves, "min_data_in_leaf": 1}
        trees = TreesModel.from_lightgbm(lgb.train(setting, lgb.Dataset(X, np.nan_to_num(X[:, 0])), 3)).trees
        assert {tree.n_leaves for tree in trees} == {n_leaves}
        masks = masks_of(flattened(trees), trees)
        assert (None if masks is None else masks.mask.dtype) == dtype
        assert by_kernel(trees, X).tobytes() == by_numpy(trees, X).tobytes()


def test_very_many_categories_are_walked(X, monkeypatch):
    rng = np.random.default_rng(5)
    data = lgb.Dataset(X, np.isin(X[:, 6], [3, 7, 40]) + rng.random(len(X)), categorical_feature=[6], params=QUIET)
    trees = TreesModel.from_lightgbm(lgb.train(QUIET, data, 4)).trees
    assert any(tree.categories for tree in trees)
    assert masks_of(flattened(trees), trees) is not None
    monkeypatch.setattr("argrank.models._masks.MOST_CELLS", 10)
    assert masks_of(flattened(trees), trees) is None
    assert by_kernel(trees, X).tobytes() == by_numpy(trees, X).tobytes()


def test_numba_is_loaded_once_it_pays():
    code = (
        "import sys, numpy as np; from argrank.models.trees import TreesModel; from argrank.models.tree import Tree; "
        "model = TreesModel((Tree.constant(1.0),) * 100, 2); rows = np.zeros((100, 2)); model.predict(rows); "
        "first = 'numba' in sys.modules; [model.predict(rows) for _ in range(40)]; print(first, 'numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True"]


def test_a_file_keeps_every_bit(booster, X, tmp_path):
    model = TreesModel.from_lightgbm(booster)
    model.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    rows = strange_rows()
    assert loaded.predict(rows).tobytes() == model.predict(rows).tobytes()
    assert loaded.feature_names == tuple(booster.feature_name())
    assert loaded.importances("split").tolist() == booster.feature_importance("split").tolist()


def test_lightgbm_loads_our_text_and_predicts_and_explains_the_same(booster, X):
    again = lgb.Booster(model_str=TreesModel.from_lightgbm(booster).to_lightgbm())
    rows = strange_rows()
    np.testing.assert_allclose(again.predict(rows), booster.predict(rows), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(again.predict(rows, pred_leaf=True), booster.predict(rows, pred_leaf=True))
    few = rows[:40]
    explained = again.predict(few, pred_contrib=True)
    np.testing.assert_allclose(explained, booster.predict(few, pred_contrib=True), rtol=1e-3, atol=1e-3)
    assert again.feature_importance("split").tolist() == booster.feature_importance("split").tolist()


def test_gains_are_lightgbms(booster):
    model = TreesModel.from_lightgbm(booster)
    np.testing.assert_allclose(model.importances(), booster.feature_importance("gain"), rtol=1e-4)


def test_names_with_spaces_reach_lightgbm(X):
    booster = lgb.train(QUIET, lgb.Dataset(X, np.nan_to_num(X[:, 0]), params=QUIET), 3)
    model = replace(TreesModel.from_lightgbm(booster), feature_names=tuple(f"name {i}" for i in range(8)))
    again = lgb.Booster(model_str=model.to_lightgbm())
    assert again.feature_name()[0] == "name_0"
    np.testing.assert_array_equal(again.predict(X), booster.predict(X))


@pytest.mark.parametrize("link", ["multi-class", "ordinal"])
def test_classes_are_probabilities_and_survive_a_file(X, tmp_path, link):
    labels = np.random.default_rng(0).integers(0, 3, len(X))
    parameters = {"objective": "multiclass", "num_class": 3, **QUIET}
    booster = lgb.train(parameters, lgb.Dataset(X, labels, params=QUIET), 8)
    trees = TreesModel.from_lightgbm(_single_output(booster.model_to_string())).trees
    grades = np.arange(3.0 if link == "multi-class" else 4.0)
    model = TreeClassesModel(trees, 8, grades, 2.0**grades - 1, link)
    chances = model.probabilities(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0, atol=1e-12)
    assert (chances >= 0).all()
    if link == "multi-class":
        np.testing.assert_allclose(chances, booster.predict(X), atol=1e-12)
        again = lgb.Booster(model_str=model.to_lightgbm())
        np.testing.assert_allclose(again.predict(X), chances, atol=1e-12)
    np.testing.assert_allclose(model.predict(X), chances @ model.gains, atol=1e-12)
    model.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").predict(X).tobytes() == model.predict(X).tobytes()


@pytest.mark.parametrize(("link", "slopes"), [("multi-class", [-1.0, 0.0, 2.0]), ("ordinal", [-1.0, -0.5])])
def test_classes_have_a_linear_part_by_hand(link, slopes, tmp_path):
    trees = tuple(Tree.constant(value) for value in (0.5, -0.25, 0.0)[: len(slopes)])
    linear = {"weights": np.array([1.0, -2.0]), "slopes": np.array(slopes)}
    model = TreeClassesModel(trees, 2, np.arange(3.0), np.array([0.0, 1.0, 3.0]), link, **linear)
    X = np.array([[1.0, 0.0], [3.0, 0.5]])  # weighed: 1 and 2
    powers = np.exp([[-0.5, -0.25, 2.0], [-1.5, -0.25, 4.0]])
    steps = 1 / (1 + np.exp([[0.5, 0.75], [1.5, 1.25]]))
    steps = np.array([[a, b - a, 1 - b] for a, b in steps])
    by_hand = powers / powers.sum(axis=1, keepdims=True) if link == "multi-class" else np.maximum(steps, 0.0)
    by_hand /= by_hand.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.probabilities(X), by_hand, atol=1e-14)
    np.testing.assert_allclose(model.predict(X), by_hand @ [0.0, 1.0, 3.0], atol=1e-14)
    model.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").predict(X).tobytes() == model.predict(X).tobytes()
    with pytest.raises(InputError, match="missing"):
        model.predict(np.array([[np.nan, 0.0]]))


def _single_output(text):
    return text.replace("num_tree_per_iteration=3", "num_tree_per_iteration=1")


def test_ordinal_chances_by_hand():
    chances = probabilities(np.log(np.array([[1.0, 3.0], [3.0, 1.0]])), "ordinal")  # at most: 1/2, 3/4 and 3/4, 1/2
    np.testing.assert_allclose(chances, [[0.5, 0.25, 0.25], [0.6, 0.0, 0.4]])
    np.testing.assert_allclose(expected(chances, np.array([0.0, 1.0, 3.0])), [1.0, 1.2])


def small_model():
    return {
        "n_features": 2,
        "feature_names": None,
        "normaliser": None,
        "trees": [
            {
                "feature": [0, 1], "threshold": [0.5, 0.25], "default_left": [True, False], "missing": ["none", "nan"],
                "left": [1, -1], "right": [-2, -3], "gain": [2.0, 1.0], "value": [1.0, 2.0, 3.0], "count": [4, 5, 6],
                "categories": {"1": [0, 2]},
            }
        ],
    }  # fmt: skip


DAMAGE = {
    "a cycle": ("left", [0, -1]),
    "a child out of range": ("left", [2, -1]),
    "a leaf out of range": ("right", [-2, -4]),
    "a leaf twice": ("right", [-1, -3]),
    "a feature out of range": ("feature", [0, 2]),
    "a negative feature": ("feature", [0, -1]),
    "a broken feature": ("feature", [0, 0.5]),
    "a short array": ("threshold", [0.5]),
    "no numbers": ("threshold", [0.5, "x"]),
    "a huge number": ("value", [1.0, 2.0, 10**400]),
    "a truth value as number": ("value", [1.0, 2.0, True]),
    "no leaf": ("value", []),
    "an unknown missing type": ("missing", ["none", "maybe"]),
    "an unknown default": ("default_left", [1, 0]),
    "categories of no node": ("categories", {"2": [1]}),
    "a negative category": ("categories", {"1": [-1]}),
    "no category": ("categories", {"1": []}),
    "a negative count": ("count", [1, 2, -3]),
    "no array at all": ("left", None),
}


def test_the_undamaged_model_loads():
    model = TreesModel.from_dict(small_model())
    X = np.array([[0.0, 2.0], [0.0, 1.0], [1.0, 0.0], [np.nan, np.nan]])
    assert model.predict(X).tolist() == [1.0, 3.0, 2.0, 3.0]
    again = TreesModel.from_dict(json.loads(json.dumps(model.to_dict())))
    assert again.predict(X).tolist() == [1.0, 3.0, 2.0, 3.0]
    for name in ("feature", "threshold", "default_left", "missing", "left", "right", "gain", "value", "count"):
        ours, theirs = getattr(again.trees[0], name), getattr(model.trees[0], name)
        assert (ours.dtype, ours.tolist()) == (theirs.dtype, theirs.tolist())
    assert [*again.trees[0].categories] == [1]


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_trees_are_refused(damage):
    fields = small_model()
    name, value = DAMAGE[damage]
    fields["trees"][0][name] = value
    with pytest.raises(ModelError, match=r"tree 0: "):
        TreesModel.from_dict(fields)


def two_trees() -> tuple[Tree, ...]:
    (tree,) = TreesModel.from_dict(small_model()).trees
    return tree, Tree.constant(2.0), tree


DAMAGED_ARRAYS = {
    "a cycle": ("left", [0, -1, 1, -1]),
    "a child in another tree": ("left", [2, -1, 1, -1]),
    "a leaf of another tree": ("right", [-2, -3, -2, -4]),
    "a leaf twice": ("right", [-1, -3, -2, -3]),
    "a node without a parent": ("left", [-3, -1, 1, -1]),
    "a feature out of range": ("feature", [0, 1, 2, 0]),
    "a negative feature": ("feature", [0, 1, -1, 0]),
    "a short array": ("threshold", [0.5]),
    "no number": ("threshold", [0.5, 0.5, np.nan, 0.5]),
    "an infinite value": ("value", [1, 2, 3, 4, 5, 6, np.inf]),
    "an infinite gain": ("gain", [1, 2, 3, np.inf]),
    "an unknown missing type": ("missing", [0, 1, 2, 3]),
    "a negative count": ("count", [1, 2, 3, 4, 5, 6, -7]),
    "no leaves": ("leaves", [3, 0, 3]),
    "other leaves": ("leaves", [3, 1, 4]),
    "no trees": ("leaves", []),
    "categories of no node": ("split_by_category", [1, 4]),
    "the categories of a node twice": ("split_by_category", [1, 1]),
    "no category": ("n_categories", [0, 4]),
    "more categories than there are": ("n_categories", [2, 3]),
    "a negative category": ("categories", [0, 2, -1, 2]),
    "a category twice": ("categories", [0, 2, 2, 2]),
}


@pytest.mark.parametrize("damage", DAMAGED_ARRAYS)
def test_damaged_arrays_of_trees_are_refused(damage):
    fields = TreesModel(two_trees(), 2).to_dict()
    assert len(TreesModel.from_dict(fields).trees) == 3
    name, values = DAMAGED_ARRAYS[damage]
    (kind,) = set(fields["trees"][name]) - {"shape"}
    fields["trees"][name] = stored_array(np.array(values, kind))
    with pytest.raises(ModelError, match=r"^[a-z_, ]+: expected"):
        TreesModel.from_dict(fields)


def test_a_model_that_is_no_number_is_not_saved(tmp_path):
    tree = Tree.constant(np.nan)
    with pytest.raises(ModelError, match=r"model\.json: not saved: expected a model of finite numbers, got NaN"):
        TreesModel((tree,), 1).save(tmp_path / "model.json")
    assert not (tmp_path / "model.json").exists()


@pytest.mark.parametrize(
    "change", [{"n_features": 0}, {"n_features": True}, {"trees": []}, {"trees": [3]}, {"feature_names": ["a"]}]
)
def test_damaged_models_are_refused(change):
    with pytest.raises(ModelError):
        TreesModel.from_dict({**small_model(), **change})
    labels = {"labels": [0.0, 1.0], "worth": [0.0, 1.0], "link": "ordinal"}
    with pytest.raises(ModelError):
        TreeClassesModel.from_dict({**small_model(), **labels, **change})


@pytest.mark.parametrize(
    "change",
    [
        {"link": "other"}, {"labels": [1.0, 0.0]}, {"worth": [1.0]}, {"worth": "x"}, {"labels": [0.0, 1.0, 2.0]},
        {"weights": [1.0]}, {"weights": None}, {"slopes": [1.0, 2.0]}, {"slopes": "x"},
    ],
)  # fmt: skip
def test_damaged_classes_are_refused(change):
    fields = {**small_model(), "labels": [0.0, 1.0], "worth": [0.0, 1.0], "link": "ordinal"}
    fields |= {"weights": [1.0, 2.0], "slopes": [-1.0]}
    assert TreeClassesModel.from_dict(fields).n_outputs == 1
    with pytest.raises(ModelError):
        TreeClassesModel.from_dict({**fields, **change})


def test_what_is_no_lightgbm_model_is_refused(X):
    for text in ("", "tree", "{}", "tree\nfeature_names=a\n\nTree=0\nleaf_value=1 2\n"):
        with pytest.raises(ModelError):
            TreesModel.from_lightgbm(text)
    y = np.nan_to_num(X[:, 0])
    linear = lgb.train({**QUIET, "linear_tree": True}, lgb.Dataset(X, y, params={**QUIET, "linear_tree": True}), 2)
    with pytest.raises(ModelError, match="linear trees"):
        TreesModel.from_lightgbm(linear)
    bagged = {**QUIET, "boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1}
    with pytest.raises(ModelError, match="random forest"):
        TreesModel.from_lightgbm(lgb.train(bagged, lgb.Dataset(X, y, params=QUIET), 2))


def test_the_width_of_rows_is_checked():
    with pytest.raises(InputError, match="expecting 2 features"):
        TreesModel.from_dict(small_model()).predict(np.zeros((3, 3)))


def test_a_tree_of_many_nodes_with_categories_is_read_in_one_pass():
    """Every node was looked up among newly made names of all nodes: 20,000 of them would take a minute."""
    n_nodes = 20_000
    chain = {
        "feature": [0] * n_nodes, "threshold": [0.0] * n_nodes, "default_left": [False] * n_nodes,
        "missing": ["none"] * n_nodes, "left": [-1 - node for node in range(n_nodes)],
        "right": [*range(1, n_nodes), -1 - n_nodes], "gain": [1.0] * n_nodes, "value": [0.0] * (n_nodes + 1),
        "count": [1] * (n_nodes + 1), "categories": {str(node): [node] for node in range(n_nodes)},
    }  # fmt: skip
    tree = Tree.from_dict(chain, 1)
    assert len(tree.categories) == n_nodes
    assert [members.tolist() for members in tree.categories.values()] == [[node] for node in range(n_nodes)]
