"""What the report says: right exports hold, wrong comparisons are found, rounding of features is told apart."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.deploy.conftest import random_tree

import argrank as ar
from argrank.data.prepare.normalise import Normaliser
from argrank.deploy import elasticsearch, python
from argrank.deploy.parity import _beyond, made_rows, own_scores
from argrank.deploy.plain import plain
from argrank.models.kernel import Kernel, KernelModel
from argrank.models.linear import LinearModel
from argrank.models.sum import SumModel
from argrank.models.tree_classes import TreeClassesModel
from argrank.models.trees import TreesModel

SINGLE = ("elasticsearch", "opensearch", "solr", "xgboost", "vespa", "elastic", "lightgbm", "python")


@pytest.mark.parametrize("to", SINGLE)
@pytest.mark.parametrize("missing", ["as-trained", "zero"])
def test_trees_keep_their_scores(forest, to, missing):
    found = ar.export(forest, to, missing=missing)
    assert found.parity.holds, str(found.parity)
    assert found.parity.on_cuts < 1e-5


@pytest.mark.parametrize(("missing", "default"), [("zero", 0), ("as-trained", None)])
def test_elastic_scores_a_missing_feature_as_the_export_says(forest, missing, default):
    body = json.loads(ar.export(forest, "elastic", missing=missing).files["model.json"])
    extractors = body["inference_config"]["learning_to_rank"]["feature_extractors"]
    assert {one["query_extractor"].get("default_score") for one in extractors} == {default}


@pytest.mark.parametrize("to", ["elasticsearch", "solr", "ranklib", "vespa", "python"])
@pytest.mark.parametrize("name", [None, "standard", "minmax"])
def test_linear_models_keep_their_scores(to, name):
    random = np.random.default_rng(0)
    shift, scale = random.normal(size=6) * 100, random.random(6) * 10
    scale[2] = 0.0
    normaliser = None if name is None else Normaliser(name, shift, scale)
    model = LinearModel(random.normal(size=6), normaliser=normaliser)
    assert ar.export(model, to).parity.holds


def test_a_wrong_comparison_is_found_on_the_cuts(forest, monkeypatch):
    monkeypatch.setattr(elasticsearch.cuts, "next_single", lambda cut: cut)
    found = ar.export(forest, "opensearch")
    assert not found.parity.holds
    assert "NOT the same scores" in str(found.parity)


def test_sums_of_thousands_of_trees_hold_and_one_wrong_leaf_in_them_is_found(monkeypatch):
    """Each step of a long sum in float32 rounds at the size of the whole, not of the leaf that it adds."""
    random = np.random.default_rng(4)
    small = [random_tree(random, 5, 4) for _ in range(8000)]
    small = [tree.with_values(4e-4 * random.random(tree.n_leaves)) for tree in small]
    first = random_tree(random, 5, 2)
    model = TreesModel((first.with_values(np.array([2.9, 3.0])), *small), 5)
    parts = plain(model, "as-trained")
    rows = made_rows(parts)
    before = own_scores(model, parts, "as-trained", rows)
    shares = np.abs(parts.forest.sums(rows, np.float32) - before) / parts.magnitudes(rows)
    assert shares.max() > 32 * 2.0**-24  # more than sums of a few numbers have
    assert ar.export(model, "opensearch").parity.holds
    wrong = TreesModel((*model.trees[:-1], small[-1].with_values(small[-1].value + 4e-4)), 5)
    files = ar.export(wrong, "opensearch").files
    monkeypatch.setattr(elasticsearch, "WRITER", replace(elasticsearch.WRITER, write=lambda *_: files))
    assert not ar.export(model, "opensearch").parity.holds


@pytest.mark.parametrize("normalise", [None, "standard"])
def test_thresholds_on_values_of_float32_data_reorder_nothing(normalise):
    data = ar.make_ranking(20, 15, 4, random_state=0)
    single = data.with_features(data.X.astype(np.float32))
    ranker = ar.make_ranker("rankboost", n_rounds=20, normalise=normalise).fit(single)
    parity = ar.export(ranker, "opensearch", check=single).parity
    assert (parity.reordered, parity.rounded_largest) == (0, 0.0)
    assert parity.measure_before == pytest.approx(ranker.score(single), abs=1e-12)


def test_the_check_data_are_measured_before_and_after(tmp_path):
    data = ar.load_bundled()
    ranker = ar.make_ranker("mart", n_trees=10).fit(data)
    found = ar.export(ranker, "opensearch", check=data)
    parity = found.parity
    assert parity.rows == data.n_documents
    assert parity.queries == data.n_queries
    assert parity.reordered_beyond_rounding == 0
    assert parity.measure_after == pytest.approx(parity.measure_rounded, abs=1e-6)
    found.write(tmp_path / "new" / "folder")
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == sorted(found.files)
    assert "ndcg@10" in repr(found)


def test_features_that_float32_cannot_hold_are_told_apart():
    tree = random_tree(np.random.default_rng(0), 1, 2, [0.1])
    model = TreesModel((tree,), 1)
    data = ar.Dataset([[0.1], [0.1 + 1e-12]], [1, 0], qid=[1, 1])
    parity = ar.export(model, "xgboost", check=data).parity
    assert parity.rounded_largest > 0.01
    assert parity.reordered_beyond_rounding == 0


def test_engines_of_doubles_are_held_to_the_features_as_they_are():
    tree = random_tree(np.random.default_rng(0), 1, 2, [0.1])
    data = ar.Dataset([[0.1], [0.1 + 1e-12]], [1, 0], qid=[1, 1])
    parity = ar.export(TreesModel((tree,), 1), "python", check=data).parity
    assert parity.largest == 0.0
    assert parity.holds


def test_terms_that_cancel_in_float32_are_told_of():
    x = np.random.default_rng(0).random((20, 1)).astype(np.float32)
    data = ar.Dataset(np.repeat(x, 2, axis=1), np.arange(20) % 2, qid=np.repeat([1, 2], 10))
    cancels, ordinary = LinearModel(np.array([1e7 + 1, -1e7])), LinearModel(np.array([1.0, 2.0]))  # 1 * x is left
    found = ar.export(cancels, "opensearch", check=data)
    assert found.parity.relative > 0.1
    assert found.parity.holds
    assert any(
        "large terms of this model cancel" in note and f"reorder {found.parity.reordered} of " in note
        for note in found.notes
    )
    assert not any(
        "large terms of this model cancel" in note for note in ar.export(cancels, "python", check=data).notes
    )
    assert not any(
        "large terms of this model cancel" in note for note in ar.export(ordinary, "opensearch", check=data).notes
    )


def test_an_exchange_beyond_rounding_is_told_from_one_within():
    allowed = np.full(3, 8 * 2.0**-24)
    before = np.array([3.0, 2.0, 1.0])
    assert not _beyond(before, before, allowed)
    assert _beyond(before, np.array([3.0, 1.0, 2.0]), allowed)
    near = np.array([1.0 + 1e-8, 1.0, 0.5])
    assert not _beyond(near, near[[1, 0, 2]], allowed)


def test_missing_goes_the_way_of_zero_if_asked(forest):
    zeros, unknown = np.zeros((1, 5)), np.full((1, 5), np.nan)
    parts = plain(forest, "zero")
    assert parts.doubles.sums(unknown, np.float64) == parts.doubles.sums(zeros, np.float64)
    parts = plain(forest, "as-trained")
    np.testing.assert_allclose(parts.doubles.sums(unknown, np.float64), forest.scores(unknown), atol=1e-12)


def test_zero_as_missing_becomes_splits_by_number_and_categories_stay():
    random = np.random.default_rng(5)
    tree = random_tree(random, 3, 6, [1.0, -1.0, 0.0, 1e-40, 2.0])
    tree.feature[:] = [0, 1, 0, 1, 2]
    tree.missing[:] = [1, 1, 1, 1, 2]
    tree.categories[4] = np.array([0, 1, 3, 7])
    model = TreesModel((tree,), 3)
    grid = np.array([-2, -1, -0.5, -1e-30, -1e-36, 0, 1e-36, 1e-30, 0.5, 1, 1.5, 2, 2.5, 3, 3.9, 4, 7, 7.5, 8, np.nan])
    X = np.array([[a, b, c] for a in grid for b in grid for c in grid], np.float32)
    np.testing.assert_allclose(plain(model, "as-trained").forest.sums(X, np.float64), model.scores(X), atol=1e-12)
    assert ar.export(model, "xgboost").parity.holds


def test_sums_of_trees_go_everywhere_and_those_with_a_linear_part_where_it_can_be_said(forest):
    blend = SumModel((forest, forest), np.array([0.5, 0.25]))
    assert set(ar.targets(blend)) == {*SINGLE, "onnx", "ranklib"}
    assert ar.export(blend, "solr").parity.holds
    mixed = SumModel((forest, LinearModel(np.arange(5.0))), np.array([1.0, 2.0]))
    assert set(ar.targets(mixed)) == {"onnx", "python", "vespa"}
    for to in ("python", "vespa"):
        assert ar.export(mixed, to).parity.holds


@pytest.mark.parametrize("to", ["onnx", "python"])
@pytest.mark.parametrize("missing", ["as-trained", "zero"])
@pytest.mark.parametrize("shift", [False, True])
def test_expected_gains_keep_their_scores(classes, to, missing, shift):
    if to == "onnx":
        pytest.importorskip("onnx", reason="onnx is not installed: its files were NOT written")
    found = ar.export(classes, to, missing=missing, shift=shift)
    assert found.parity.holds, str(found.parity)
    assert found.parity.on_cuts < (1e-14 if to == "python" else 4e-6)
    if shift:
        assert plain(classes, missing, shift=True).classes.gains.min() == 0.0


def test_trees_of_the_wrong_sums_are_found(forest, monkeypatch):
    classes = TreeClassesModel(forest.trees[:8], 5, np.arange(4.0), np.arange(4.0))
    wrong = replace(classes, trees=classes.trees[1:] + classes.trees[:1])
    files = ar.export(wrong, "python").files
    monkeypatch.setattr(python, "WRITER", replace(python.WRITER, write=lambda *_: files))
    assert not ar.export(classes, "python").parity.holds


@pytest.mark.parametrize("to", ["onnx", "python"])
def test_a_linear_part_of_sums_may_be_normalised(classes, to):
    if to == "onnx":
        pytest.importorskip("onnx", reason="onnx is not installed: its files were NOT written")
    how = Normaliser("standard", np.arange(5.0), np.array([1, 2, 0, 3.7, 0.1]))
    found = ar.export(replace(classes, normaliser=how), to)
    assert found.parity.holds, str(found.parity)
    assert found.parity.on_cuts < 4e-6


@pytest.mark.parametrize("link", ["multi-class", "ordinal"])
@pytest.mark.parametrize("start", [None, "linear"])
def test_mcrank_is_measured_before_and_after(link, start):
    data = ar.make_ranking(20, 10, 4, grades=3, random_state=0)
    ranker = ar.make_ranker("mcrank", n_trees=5, n_leaves=4, link=link, start=start).fit(data)
    assert set(ar.targets(ranker)) == {"onnx", "python"}
    parity = ar.export(ranker, "python", check=data).parity
    assert parity.holds
    assert parity.measure_before == parity.measure_after == pytest.approx(ranker.score(data), abs=1e-12)


def test_linear_parts_of_a_sum_become_one_in_the_units_of_the_first_normaliser():
    random = np.random.default_rng(1)
    parts = [LinearModel(random.normal(size=4), normaliser=Normaliser("standard", random.normal(size=4) * 50,
             random.random(4) + 0.5)) for _ in range(2)] + [LinearModel(random.normal(size=4))]  # fmt: skip
    model = SumModel(tuple(parts), np.array([1.0, 0.5, -2.0]))
    found = ar.export(model, "opensearch")
    assert found.parity.holds
    X = random.normal(size=(20, 4))
    assert model.predict(X).shape == (20,)


def test_a_linear_kernel_becomes_weights():
    random = np.random.default_rng(2)
    model = KernelModel(Kernel("linear"), random.normal(size=(7, 3)), random.normal(size=7))
    assert ar.export(model, "solr").parity.holds


def test_shift_lifts_every_score_to_zero_and_above(forest):
    parts = plain(forest, "as-trained", shift=True)
    rows = made_rows(parts)
    assert parts.doubles.sums(rows, np.float64).min() >= -1e-12
    found = ar.export(forest, "opensearch", shift=True)
    assert found.parity.holds
    reference = own_scores(forest, parts, "as-trained", rows)
    np.testing.assert_allclose(parts.doubles.sums(rows, np.float64) + parts.constant, reference, atol=1e-9)


def test_a_thousand_trees_are_exported_quickly():
    import time

    random = np.random.default_rng(0)
    model = TreesModel(tuple(random_tree(random, 136, 31) for _ in range(1000)), 136)
    start = time.process_time()
    ar.export(model, "opensearch")
    assert time.process_time() - start < 3.0
