"""Model files and LightGBM texts made to break the reader: refused with a ModelError, or a model that works."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import argrank as ar
from argrank.errors import InputError, ModelError
from argrank.models import files
from argrank.models.linear import LinearModel
from argrank.models.trees import TreesModel

TEXT = (
    "tree\nfeature_names=a b\n\nTree=0\nleaf_value=0.5 2.0\nsplit_feature=0\nthreshold=1.5\n"
    "decision_type=2\nleft_child=-1\nright_child=-2\nsplit_gain=1.0\nleaf_count=3 4\n"
)


def write(path: Path, payload: Any) -> Path:
    """Write a model file whose checksum is right."""
    checksum = files._checksum(payload) if isinstance(payload, dict) else ""
    path.write_text(json.dumps({"argrank_model": 1, "sha256": checksum, "payload": payload}))
    return path


def linear(**changed: Any) -> dict[str, Any]:
    return {"kind": "linear", "version": "0", "training": {}, "model": {"weights": [1.0, 2.0]}, **changed}


@pytest.mark.parametrize(
    "payload",
    [
        linear(kind=["linear"]),
        linear(kind={}),
        linear(kind=10**400),
        linear(kind=None),
        linear(model={"weights": [10**400]}),
        linear(model={"weights": [1, "x"]}),
        linear(model={"weights": [1.0], "normaliser": {"name": ["standard"]}}),
        linear(model={"weights": [1.0], "normaliser": {"name": "standard", "shift": [10**400], "scale": [1]}}),
        linear(model={"weights": [1.0], "feature_names": [1]}),
        linear(training=[]),
        linear(kind="kernel", model={"kernel": {"name": "rbf", "gamma": "x"}, "coefficients": [1], "support": [[1]]}),
        linear(kind="kernel", model={"kernel": {"name": "rbf"}, "coefficients": [1], "n_features": 0, "support": [[]]}),
        linear(kind="factors", model={"users": ["a"], "items": [1], "user_factors": [[{}]], "item_factors": 1}),
        linear(kind="sum", model={"weights": [1], "members": [{"kind": ["x"], "model": {}}]}),
        linear(kind="sum", model={"weights": [10**400], "members": [{"kind": "linear", "model": {"weights": [1]}}]}),
        linear(kind="trees", model={"n_features": 10**400, "trees": [{}]}),
        linear(kind="slots", model={"weights": [[1, [2]]], "slots": "x"}),
        [],
        None,
    ],
)
def test_model_files_of_wrong_types_are_refused(tmp_path: Path, payload: Any) -> None:
    with pytest.raises(ModelError, match="not loaded"):
        ar.load_model(write(tmp_path / "model.json", payload))


def test_numbers_that_are_none(tmp_path: Path) -> None:
    path = write(tmp_path / "model.json", linear())
    for number in ("1e400", "-1e999", "NaN", "Infinity", "9" * 400):
        path.write_text(path.read_text().replace("1.0,", f"{number},"))
        with pytest.raises(ModelError, match="expected"):
            ar.load_model(path)
        write(path, linear())


def test_a_model_file_that_is_none(tmp_path: Path) -> None:
    for path in (tmp_path, Path("/dev/zero"), tmp_path / "absent"):
        with pytest.raises(ModelError, match="not loaded"):
            ar.load_model(path)


def test_a_score_beyond_all_numbers_is_an_error() -> None:
    model = LinearModel(np.array([1e308, 1e308]))
    with pytest.raises(InputError, match="expected features with a finite score, got inf for row 1"):
        model.predict(np.array([[0.0, 1.0], [1.0, 1.0]]))


def test_a_summary_without_a_number_does_not_cost_the_weights(tmp_path: Path) -> None:
    model = LinearModel(np.array([1.0]), training={"objective": np.nan, "more": {"gap": np.inf, "n": np.int64(3)}})
    model.save(tmp_path / "model.json")
    loaded = ar.load_model(tmp_path / "model.json")
    assert loaded.training == {"objective": None, "more": {"gap": None, "n": 3}}
    with pytest.raises(ModelError, match="not saved: expected a model of finite numbers"):
        LinearModel(np.array([np.nan])).save(tmp_path / "no.json")
    with pytest.raises(ModelError, match="not saved: expected names"):
        LinearModel(np.array([1.0]), feature_names=("\udc80",)).save(tmp_path / "no.json")
    assert not (tmp_path / "no.json").exists()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("threshold=1.5", "threshold=nan"),
        ("threshold=1.5", "threshold=1.5 2.5"),
        ("leaf_value=0.5 2.0", "leaf_value=0.5 nan"),
        ("split_gain=1.0", "split_gain=nan"),
        ("split_gain=1.0", "split_gain=1.0 2.0"),
        ("leaf_count=3 4", "leaf_count=3"),
        ("leaf_count=3 4", "leaf_count=3 -4"),
        ("decision_type=2", "decision_type=14"),
        ("decision_type=2", "decision_type=2 2"),
        ("split_feature=0", "split_feature=-1"),
        ("split_feature=0", "split_feature=2"),
        ("split_feature=0", "split_feature=99999999999999999999"),
        ("left_child=-1", "left_child=0"),
        ("feature_names=a b", "feature_names=a b\nnum_tree_per_iteration=x"),
        ("feature_names=a b", "feature_names=a b\nnum_tree_per_iteration=0"),
        ("decision_type=2", "decision_type=1\ncat_boundaries=0 1\ncat_threshold=0"),
        ("decision_type=2", "decision_type=1\ncat_boundaries=0 9\ncat_threshold=-1"),
    ],
)
def test_lightgbm_texts_that_no_file_could_hold(old: str, new: str) -> None:
    assert TreesModel.from_lightgbm(TEXT).n_features == 2
    with pytest.raises(ModelError):
        TreesModel.from_lightgbm(TEXT.replace(old, new))


def test_an_infinite_threshold_is_saved_and_loaded(tmp_path: Path) -> None:
    model = TreesModel.from_lightgbm(TEXT.replace("threshold=1.5", "threshold=inf"))
    model.save(tmp_path / "model.json")
    X = np.array([[1.0, 0.0], [np.nan, 0.0]])
    np.testing.assert_array_equal(ar.load_model(tmp_path / "model.json").predict(X), model.predict(X))
