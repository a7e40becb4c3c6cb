"""Model files: exact, readable, and refused when anything about them is wrong."""

from __future__ import annotations

import json
import stat
import sys

import numpy as np
import pytest

from argrank.data.prepare.normalise import Normaliser
from argrank.errors import InputError, ModelError
from argrank.models.files import load_model, save_model
from argrank.models.linear import LinearModel

WEIGHTS = np.array([0.1, -1 / 3, 5e-324, 1.7976931348623157e308, 0.0])


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.json"
    model = LinearModel(
        WEIGHTS,
        feature_names=("a", "b", "c", "d", 'e "quoted" \u2603'),
        training={"ranker": "RankSVM", "objective": 0.25},
    )
    save_model(model, path)
    return path


def document(path):
    return json.loads(path.read_text())


def rewrite(path, change):
    content = document(path)
    change(content)
    path.write_text(json.dumps(content))


def test_a_model_comes_back_bit_for_bit(path):
    model = load_model(path)
    assert model.weights.tobytes() == WEIGHTS.tobytes()
    assert model.feature_names[-1] == 'e "quoted" \u2603'
    assert model.training == {"ranker": "RankSVM", "objective": 0.25}


def test_a_normaliser_comes_back_exactly(tmp_path):
    shift, scale = np.array([0.1, 1 / 3]), np.array([2.0, 1e-17])
    model = LinearModel(np.array([1.0, 2.0]), normaliser=Normaliser("standard", shift, scale))
    save_model(model, tmp_path / "m.json")
    X = np.random.default_rng(0).normal(size=(5, 2))
    np.testing.assert_array_equal(load_model(tmp_path / "m.json").predict(X), model.predict(X))


def test_a_person_can_read_and_reindent_it(path):
    content = document(path)
    assert content["payload"]["model"]["feature_names"][0] == "a"
    path.write_text(json.dumps(content))  # other white space, same content
    assert load_model(path).weights[0] == 0.1


def test_a_saved_file_has_ordinary_permissions(path):
    assert stat.S_IMODE(path.stat().st_mode) & stat.S_IRUSR
    assert [entry.name for entry in path.parent.iterdir()] == ["model.json"]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.99])
def test_a_truncated_file_is_refused(path, share):
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ModelError, match=r"model\.json: not loaded"):
        load_model(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["payload"]["model"]["weights"].__setitem__(0, 0.2), "altered or damaged"),
        (lambda c: c["payload"]["model"]["feature_names"].reverse(), "altered or damaged"),
        (lambda c: c["payload"].pop("training"), "altered or damaged"),
        (lambda c: c.pop("sha256"), "altered or damaged"),
        (lambda c: c.__setitem__("argrank_model", 99), "expected format 2, got 99"),
        (lambda c: c.pop("argrank_model"), "expected an argrank model file"),
    ],
)
def test_an_altered_file_is_refused_with_the_reason(path, change, message):
    rewrite(path, change)
    with pytest.raises(ModelError, match=message):
        load_model(path)


def resigned(path, change):
    from argrank.models.files import _checksum

    def both(content):
        change(content["payload"])
        content["sha256"] = _checksum(content["payload"])

    rewrite(path, both)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p.__setitem__("kind", "os.system"), "expected a model of kind"),
        (lambda p: p["model"].__setitem__("weights", ["__import__('os')"]), "list of numbers"),
        (lambda p: p["model"].__setitem__("weights", []), "list of numbers"),
        (lambda p: p["model"].__setitem__("weights", [True, 1.0, 1.0, 1.0, 1.0]), "list of numbers"),
        (lambda p: p["model"].__setitem__("feature_names", ["a"]), "5 feature names"),
        (lambda p: p["model"].__setitem__("normaliser", {"name": "evil"}), "evil"),
        (lambda p: p.__setitem__("model", []), "the model and its training"),
    ],
)
def test_a_well_signed_file_with_wrong_parts_is_refused(path, change, message):
    resigned(path, change)
    with pytest.raises(ModelError, match=message):
        load_model(path)


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{", "[" * 100_000, '{"a": 1, "a": 2}', '{"argrank_model": NaN}', "\x00"]
)
def test_other_files_are_refused(tmp_path, text):
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(ModelError, match="not loaded"):
        load_model(path)


def test_a_missing_file_and_a_huge_one_are_refused(tmp_path, monkeypatch, path):
    with pytest.raises(ModelError, match="No such file"):
        load_model(tmp_path / "absent.json")
    monkeypatch.setattr("argrank.models.files.LARGEST", 10)
    with pytest.raises(ModelError, match="at most 10 bytes"):
        load_model(path)


def test_a_pickle_is_not_unpickled(tmp_path):
    import pickle

    class Bomb:
        def __reduce__(self):
            return (tmp_path.joinpath("exploded").touch, ())

    path = tmp_path / "model.json"
    path.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ModelError, match="not loaded"):
        load_model(path)
    assert not (tmp_path / "exploded").exists()


def test_weights_that_json_cannot_hold_are_not_written(tmp_path):
    with pytest.raises(ModelError, match="not saved: expected a model of finite numbers"):
        save_model(LinearModel(np.array([np.nan])), tmp_path / "m.json")
    assert not list(tmp_path.iterdir())


def test_the_model_checks_what_it_is_given(path):
    model = load_model(path)
    with pytest.raises(InputError, match="X has 2 features, but LinearModel is expecting 5"):
        model.predict(np.ones((3, 2)))


def test_linear_scores_of_float32_features_are_float64_in_every_block(monkeypatch):
    from argrank.models.linear import LinearModel

    X = np.random.default_rng(0).standard_normal((50, 3)).astype(np.float32)
    model = LinearModel(np.array([0.1, -2.0, 1e-3]))
    expected = X.astype(np.float64) @ model.weights
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-15, atol=1e-15)
    import numba  # noqa: F401  with it in memory a kernel multiplies

    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-15, atol=1e-15)
    monkeypatch.delitem(sys.modules, "numba")
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-15, atol=1e-15)
    monkeypatch.setattr("argrank.models.dense_product.BLOCK_CELLS", 21)
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-15, atol=1e-15)
    for wrong in (np.inf, -np.inf):
        X[7, 1] = wrong
        with pytest.raises(InputError, match="infinity in row 7, column 1"):
            model.predict(X)
        with pytest.raises(InputError, match="infinity in row 7, column 1"):
            LinearModel(np.array([1.0, 0.0, 1.0])).predict(X)
