"""What cannot be exported is refused in one line that says why and what to do."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.deploy.conftest import random_tree

import argrank as ar
from argrank.data.prepare.normalise import Normaliser
from argrank.errors import InputError, ModelError, OptionError
from argrank.models.factors import FactorModel
from argrank.models.kernel import Kernel, KernelModel
from argrank.models.linear import LinearModel
from argrank.models.slots import SlotModel
from argrank.models.sum import EnsembleModel, SumModel
from argrank.models.tree_classes import TreeClassesModel
from argrank.models.trees import TreesModel

LINEAR = LinearModel(np.array([1.0, 2.0]))


def refused(model, to, words, kind=ModelError, **options):
    with pytest.raises(kind, match=words) as caught:
        ar.export(model, to, **options)
    assert "\n" not in str(caught.value)


def test_normalising_within_queries():
    model = LinearModel(np.array([1.0]), normaliser=Normaliser("query-minmax"))
    sentence = (
        "this model normalises within queries (query-minmax), which no engine can do, because documents are "
        'scored independently; train with normalise="standard" or "minmax"'
    )
    for to in ar.targets():
        refused(model, to, f"^{re.escape(sentence)}$")
    assert ar.targets(model) == {}


def test_kinds_that_no_target_can_say(forest):
    refused(FactorModel((1,), (2,), np.ones((1, 1)), np.ones((1, 2)), (np.array([0]),)), "solr", "'factors'.*rank-svm")
    refused(SlotModel(np.ones((2, 1)), np.ones((3, 1))), "solr", "'slots'")
    refused(
        EnsembleModel((), 2),
        "python",
        "'ensemble' holds scikit-learn objects.*train for example rank-svm or lambda-mart",
    )
    refused(KernelModel(Kernel("rbf"), np.ones((2, 2)), np.ones(2)), "onnx", r"kernel model \(rbf\).*kernel=\"linear\"")
    classes = TreeClassesModel(forest.trees[:2], 5, np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    blend = SumModel((forest, classes), np.ones(2))
    refused(blend, "onnx", "'tree-classes'.*as part of a sum; export it alone to onnx or python")
    refused(object(), "onnx", "is not an argrank model")
    refused(ar.make_ranker("rank-svm"), "solr", "expected a fitted ranker")


def test_what_a_target_cannot_say_names_those_that_can(forest):
    refused(LINEAR, "xgboost", "xgboost cannot express linear models; .*solr")
    refused(LINEAR, "elastic", "cannot express linear models")
    mixed = SumModel((forest, LinearModel(np.ones(5))), np.ones(2))
    classes = TreeClassesModel(forest.trees[:2], 5, np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    for to in set(ar.targets()) - {"onnx", "python"}:
        refused(classes, to, f"{to} cannot express probabilities .*mcrank.*; onnx, python can, or train mart")
    refused(mixed, "opensearch", 'trees with a linear part; onnx, python, vespa can.*family="trees"')


@pytest.mark.parametrize("to", ["elasticsearch", "opensearch", "solr", "vespa", "python"])
def test_names_that_cannot_be_told_apart(to):
    refused(LINEAR, to, "different names", features=["a", "a"])
    refused(LINEAR, to, "empty", features=["a", " "])


@pytest.mark.parametrize("to", ["lightgbm", "xgboost", "python", "opensearch", "solr"])
def test_names_that_end_before_their_end(to, forest):
    """LightGBM reads a text up to its first NUL, and found no model in a file that had passed the proof of parity."""
    model = forest if to in ("lightgbm", "xgboost") else LINEAR
    names = [f"f{number}" for number in range(model.n_features)]
    refused(model, to, "expected names of features without NUL", features=["a\0b", *names[1:]])


def test_numbers_beyond_float32():
    refused(LinearModel(np.array([1e39])), "solr", "weights: expected numbers within float32")
    tree = random_tree(np.random.default_rng(0), 1, 2)
    refused(TreesModel((tree.with_values(np.array([1e39, 0.0])),), 1), "xgboost", "leaves: expected numbers within")


def test_trees_trained_with_missing_values_go_to_ranklib_only_as_zeros(cases):
    model, _ = cases["trees trained with missing values"]
    refused(model, "ranklib", 'own branches for missing values and RankLib has none.*missing="zero"')
    assert ar.export(model, "ranklib", missing="zero").parity.holds


def test_ranklib_takes_missing_values_for_zeros_whatever_training_did(cases):
    model, _ = cases["trees, standard"]
    assert ar.export(model, "ranklib").parity.holds


def test_options(forest):
    refused(LINEAR, "solar", "did you mean solr", OptionError)
    refused(LINEAR, "solr", "as-trained", OptionError, missing="nan")
    refused(LINEAR, "solr", "expected 2 names", OptionError, features=["a"])
    refused(LINEAR, "solr", "features: expected a list, each a name", OptionError, features="ab")
    refused(LINEAR, "solr", "plain name", OptionError, name="../x")
    refused(LINEAR, "solr", "expected a Dataset", InputError, check=np.ones((2, 2)))
    refused(LINEAR, "vespa", "rank features such as", features=["a b", "c"])
    refused(forest, "xgboost", r"without \[", features=["a[", "b", "c", "d", "e"])
    refused(LINEAR, "solr", "2 features", InputError, check=ar.Dataset(np.ones((2, 3)), [0, 1], [1, 1]))


def test_too_many_categories_name_the_column_and_the_training_that_helps():
    tree = random_tree(np.random.default_rng(0), 2, 2)
    tree.feature[:] = 1
    tree.categories[0] = np.arange(0, 800, 2)
    model = TreesModel((tree,), 2, feature_names=("price", "brand"))
    refused(model, "solr", "column 'brand': solr supports.*400 categories.*train again with --target solr")
    assert set(ar.targets(model)) == {"lightgbm", "onnx", "python", "vespa"}


def test_too_deep_trees():
    n = 400
    deep = random_tree(np.random.default_rng(0), 1, 2)
    chain = type(deep)(
        np.zeros(n, np.int64), np.arange(n, 0, -1.0), np.ones(n, bool), np.zeros(n, np.int64),
        np.array([*range(1, n), -n - 1]), np.array([-1 - i for i in range(n)]), np.ones(n), np.ones(n + 1),
        np.ones(n + 1, np.int64), {},
    )  # fmt: skip
    chain.check_children()
    refused(TreesModel((chain,), 1), "solr", "at most 300 levels")


def test_a_feature_set_of_the_plugins_has_a_limit():
    refused(LinearModel(np.ones(10_001)), "opensearch", "at most 10,000 features in a feature set, got 10,001")


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be created"):
        ar.export(LINEAR, "solr").write(tmp_path / "file" / "x")
