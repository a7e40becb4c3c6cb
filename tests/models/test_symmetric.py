"""Symmetric trees: the kernel, NumPy, ordinary trees and files against plain loops."""

from __future__ import annotations

import base64
import copy
import json
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import argrank as ar
from argrank.data.prepare.normalise import Normaliser
from argrank.deploy.singles import between_singles
from argrank.errors import ModelError
from argrank.models import files, symmetric
from argrank.models._flat import FlatTrees
from argrank.models.linear import LinearModel
from argrank.models.sum import SumModel
from argrank.models.symmetric import SymmetricTrees

N = 7
TABLES = {5: np.array([0.3, np.nan, -1.0, 0.3, 2.0]), 6: np.array([1.0])}


def random_forest(seed: int, n_trees: int = 12, depth: int = 4, codes: Any = None, n: int = N) -> SymmetricTrees:
    """Questions of every kind: numbers, missing or not, none at all, categories that all answer the same."""
    rng = np.random.default_rng(seed)
    cuts = rng.choice([-0.5, 0.0, 0.7, 1.5, np.inf, -np.inf], (n_trees, depth), p=[0.25, 0.25, 0.2, 0.1, 0.15, 0.05])
    cuts = np.where(rng.random(cuts.shape) < 0.3, rng.standard_normal(cuts.shape), cuts)
    return SymmetricTrees(
        rng.integers(0, n, (n_trees, depth)).astype(np.int32),
        cuts,
        rng.random((n_trees, depth)) < 0.4,
        rng.standard_normal((n_trees, 1 << depth)),
        rng.random((n_trees, depth)),
        rng.integers(0, 30, (n_trees, 1 << depth)),
        n,
        {} if codes is None else codes,
    )


def random_rows(seed: int, n_rows: int = 300, infinite: bool = True) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, N))
    X[rng.random(X.shape) < 0.2] = 0.7
    X[:, 5:] = rng.integers(-2, 8, (n_rows, 2)) + rng.choice([0.0, 0.5], (n_rows, 2))
    odd = [np.nan, np.inf, -np.inf, -0.0, 1e30] if infinite else [np.nan, -0.0, 1e30]
    where = rng.random(X.shape) < 0.2
    X[where] = rng.choice(odd, int(where.sum()))
    return X


def by_loops(model: SymmetricTrees, X: np.ndarray) -> np.ndarray:
    """The definition, value by value."""
    scores = []
    for row in X.astype(np.float64).tolist():
        total = 0.0
        for features, cuts, missing, values in zip(
            model.features.tolist(), model.cuts, model.missing, model.values, strict=True
        ):
            leaf = 0
            for feature, cut, yes in zip(features, cuts, missing, strict=True):
                x, table = row[feature], model.codes.get(feature)
                if table is not None:
                    x = table[int(x)] if -1 < x < len(table) else np.nan
                if yes:  # a question for missing values alone: no number answers otherwise than the largest does
                    cut = min(cut, np.finfo(np.float64).max)
                leaf = 2 * leaf + int(yes if np.isnan(x) else x > cut)
            total += values[leaf]
        scores.append(total)
    return np.array(scores)


def by_kernel(model: SymmetricTrees, X: np.ndarray) -> np.ndarray:
    totals = np.zeros(len(X))
    symmetric.add_values(np.ascontiguousarray(X, np.float64), model._questions, totals)
    return totals


def by_numpy(model: SymmetricTrees, X: Any) -> np.ndarray:
    totals = np.zeros(X.shape[0])
    symmetric.add_values_by_numpy(X, model._questions, totals)
    return totals


@pytest.mark.parametrize("codes", [None, TABLES], ids=["numbers", "categories"])
@pytest.mark.parametrize("depth", [0, 1, 4, 6, 9])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_kernel_and_numpy_are_the_loops(codes, depth, dtype):
    model = random_forest(depth, depth=depth, codes=codes)
    X = random_rows(1).astype(dtype)
    expected = by_loops(model, X)
    for rows in (slice(0, 0), slice(0, 1), slice(3, 8), slice(0, 256), slice(0, 257), slice(None)):
        assert by_kernel(model, X[rows]).tobytes() == expected[rows].tobytes()
        assert by_numpy(model, X[rows]).tobytes() == expected[rows].tobytes()


def test_predicting_from_arrays_of_every_kind():
    model, X = random_forest(2, codes=TABLES), random_rows(3, infinite=False)
    expected = by_loops(model, X)
    assert model.predict(X).tobytes() == expected.tobytes()
    assert model.predict(np.asfortranarray(X)).tobytes() == expected.tobytes()
    filled = np.nan_to_num(X)
    assert model.predict(sparse.csr_matrix(filled)).tobytes() == by_loops(model, filled).tobytes()
    assert by_numpy(model, sparse.csr_matrix(filled)).tobytes() == by_loops(model, filled).tobytes()
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(X).tobytes() == copy.deepcopy(model).predict(X).tobytes() == expected.tobytes()


def test_the_same_without_compiling_and_numba_only_once_it_pays(tmp_path):
    model, X = random_forest(2, codes=TABLES), random_rows(3, 40, infinite=False)
    model.save(tmp_path / "model.json")
    np.save(tmp_path / "X.npy", X)
    code = (
        "import sys, numpy as np, argrank as ar; from argrank.models import symmetric; "
        "model, X = ar.load_model('model.json'), np.load('X.npy'); scores = model.predict(X); "
        "loaded = 'numba' in sys.modules; totals = np.zeros(len(X)); "
        "symmetric.add_values(X, model._questions, totals); print(loaded, (totals == scores).all(), scores.sum())"
    )
    without = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    for environment in (os.environ, without):
        done = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path, env=environment
        )
        assert done.stdout.split() == ["False", "True", str(model.predict(X).sum())]


@pytest.mark.parametrize("codes", [None, TABLES], ids=["numbers", "categories"])
@pytest.mark.parametrize("depth", [0, 1, 5])
def test_ordinary_trees_have_the_same_scores_and_shap_values_add_up(codes, depth):
    model, X = random_forest(5, depth=depth, codes=codes), random_rows(6, 200, infinite=False)
    for tree in model.trees:
        tree.check(N)
    assert FlatTrees(model.trees).sums(X)[:, 0].tobytes() == by_loops(model, X).tobytes()
    scores = model.predict(X)
    for parts in (model.shap_values(X), np.asarray(model.contributions(X))):
        away = parts.sum(axis=1) - scores
        assert np.ptp(away) < 1e-9
    assert model.importances("split").sum() == model.asks.sum()
    np.testing.assert_allclose(model.importances(), np.bincount(model.features[model.asks], model.gains[model.asks], N))


def test_shap_values_are_those_of_the_tree_by_its_documents():
    """One question: a row's SHAP value is its leaf less the mean over the documents of training."""
    model = SymmetricTrees(
        np.array([[1]], np.int32), np.array([[0.0]]), np.array([[False]]), np.array([[2.0, 6.0]]),
        np.ones((1, 1)), np.array([[30, 10]]), 2,
    )  # fmt: skip
    np.testing.assert_allclose(model.shap_values(np.array([[0.0, 1.0], [0.0, -1.0]])), [[0, 3.0], [0, -1.0]])


def test_forests_of_several_depths_are_one():
    parts, X = [random_forest(1, depth=2), random_forest(2, depth=5), random_forest(3, depth=0)], random_rows(4)
    weights = [0.5, -2.0, 1.0]
    expected = sum(weight * by_loops(part, X) for weight, part in zip(weights, parts, strict=True))
    one = SymmetricTrees.joined(parts, weights)
    np.testing.assert_allclose(by_kernel(one, X), expected, rtol=0, atol=1e-12)
    assert one.importances("split").tolist() == sum(part.importances("split") for part in parts).tolist()


def test_a_file_keeps_every_bit(tmp_path):
    model, X = random_forest(8, codes=TABLES), random_rows(9, infinite=False)
    linear = LinearModel(np.where(np.arange(N) < 5, 0.0, 1e-3))
    both = SumModel((replace(model, normaliser=None), linear), np.array([1.0, 2.0]))
    for one, rows in ((model, X), (both, np.nan_to_num(X))):
        one.save(tmp_path / "model.json")
        loaded = ar.load_model(tmp_path / "model.json")
        assert loaded.predict(rows).tobytes() == one.predict(rows).tobytes()
        assert loaded.importances().tolist() == one.importances().tolist()
        np.testing.assert_allclose(loaded.shap_values(rows[:9]), one.shap_values(rows[:9]), rtol=0, atol=0)
    assert "12, symmetric, of 4 questions" in repr(model)


def damaged(**changed: Any) -> dict[str, Any]:
    fields = {**random_forest(0, 2, 2, TABLES).to_dict(), **changed}
    return {"kind": "symmetric-trees", "version": "0", "training": {}, "model": fields}


def numbers(kind: str, shape: list[int], values: Any) -> dict[str, Any]:
    return {kind: base64.b64encode(np.asarray(values, kind).tobytes()).decode(), "shape": shape}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"n_features": 0}, "n_features"),
        ({"cuts": [[1.0]]}, "cuts: expected an array of float64"),
        ({"cuts": numbers("float64", [0, 2], [])}, "cuts: expected at least one tree"),
        ({"cuts": numbers("float64", [2, 2], [0, 0, 0, np.nan])}, "cuts: expected at least one tree"),
        ({"cuts": numbers("float64", [1, 17], np.zeros(17))}, "at most 16 levels"),
        ({"cuts": numbers("float64", [2, 10**30], [0])}, "cuts: expected 2,0"),
        ({"cuts": numbers("float64", [-1, -4], np.zeros(4))}, "cuts: expected the shape"),
        ({"cuts": {"float64": "AAAA AAAA", "shape": [2, 2]}}, "cuts: expected base64"),
        ({"cuts": {"float64": "\u00e9", "shape": [2, 2]}}, "cuts: expected base64"),
        ({"cuts": {"float64": "AAAA", "shape": [2, 2]}}, "got 3 bytes"),
        ({"cuts": {"float64": 5, "shape": [2, 2]}}, "cuts: expected an array"),
        ({"cuts": {"float64": "", "shape": [True, 2]}}, "cuts: expected the shape"),
        ({"cuts": {"object": "AAAA", "shape": [2, 2]}}, "cuts: expected an array of float64"),
        ({"features": numbers("int32", [2, 2], [0, 1, 2, 7])}, "features: expected whole numbers from 0 to 6"),
        ({"features": numbers("int32", [2, 2], [0, 1, 2, -1])}, "features: expected whole numbers from 0 to 6"),
        ({"features": numbers("int64", [2, 2], [0, 1, 2, 3])}, "features: expected an array of int32"),
        ({"missing": numbers("uint8", [2, 2], [0, 1, 0, 1])}, "missing: expected an array of bool"),
        ({"missing": {"bool": base64.b64encode(b"\0\1\2\3").decode(), "shape": [2, 2]}}, "missing: expected 0 or 1"),
        ({"values": numbers("float64", [2, 3], np.zeros(6))}, r"values: expected the shape \[2, 4\]"),
        ({"values": numbers("float64", [2, 4], [*np.zeros(7), np.inf])}, "values: expected finite numbers"),
        ({"gains": numbers("float64", [2, 2], [0, 0, 0, np.nan])}, "gains: expected finite numbers"),
        ({"counts": numbers("int64", [2, 4], [*np.zeros(7), -1])}, "counts: expected whole numbers"),
        ({"counts": None}, "counts: expected an array"),
        ({"codes": []}, "codes: expected"),
        ({"codes": {"7": numbers("float64", [1], [0])}}, "codes: expected columns from 0 to 6"),
        ({"codes": {"05": numbers("float64", [1], [0])}}, "codes: expected columns"),
        ({"codes": {"\u0663": numbers("float64", [1], [0])}}, "codes: expected columns"),
        ({"codes": {"5": numbers("float64", [0], [])}}, "codes: column 5"),
        ({"codes": {"5": numbers("float64", [1], [np.inf])}}, "codes: column 5"),
    ],
)
def test_damaged_files_are_refused(tmp_path, changed, words):
    payload, path = damaged(**changed), tmp_path / "model.json"
    path.write_text(json.dumps({"argrank_model": 1, "sha256": files._checksum(payload), "payload": payload}))
    with pytest.raises(ModelError, match=f"model.json: not loaded: {words}|{words}"):
        ar.load_model(path)


def test_thresholds_between_float32_numbers():
    """A feature rounded to float32 goes the same way; the numbers of categories stay as they are."""
    model = random_forest(3, codes=TABLES)
    model = replace(model, cuts=np.where(np.isfinite(model.cuts), model.cuts + 1e-9, model.cuts))
    suited = between_singles(model)
    X = np.random.default_rng(0).choice(np.append(suited.cuts[np.isfinite(suited.cuts)], 0.1), (300, N))
    X = np.concatenate((X, np.nextafter(X, np.inf), random_rows(0, 100, infinite=False)))
    assert suited.predict(X).tobytes() == suited.predict(X.astype(np.float32)).tobytes()
    of_category = np.isin(model.features, list(TABLES))
    assert (suited.cuts == model.cuts)[of_category].all()


def test_normalised_features_and_what_moves_with_them():
    normaliser = Normaliser("standard", np.arange(N) * 1.0, np.linspace(0.5, 2, N))
    model, X = replace(random_forest(4), normaliser=normaliser), random_rows(5, 60, infinite=False)
    data = ar.Dataset(X, np.arange(60) % 3, group=np.full(6, 10))
    found = ar.export(model, "python", check=data, missing="as-trained")
    assert found.parity.holds
    away = model.shap_values(X).sum(axis=1) - model.predict(X)
    assert np.ptp(away) < 1e-9
