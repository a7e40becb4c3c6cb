"""Run what can score the files of export targets, and record it: ``python scripts/prove_targets.py``.

Two references: the scores that engines' own code gave for stored models (tests/deploy/stored/export_scores.json),
and libraries that load the files here and now. What ``simulate`` gives is compared with theirs; the record is what
``ar.export`` prints as the proof of a target, and a test runs this again.
"""

from __future__ import annotations

import importlib.util
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import argrank as ar
from argrank.deploy.exporting import RECORD, Proof
from argrank.deploy.options import Options
from argrank.deploy.parity import made_rows
from argrank.deploy.plain import plain
from argrank.deploy.registry import TARGETS, writer
from argrank.errors import ModelError

STORED = Path(__file__).resolve().parent.parent / "tests" / "deploy" / "stored" / "export_scores.json"
ENGINE = "the engine's own code"
#: How far a library's scores may be from the simulated ones, as a share of the largest; the others give the same bits.
WITHIN = {"lightgbm": 1e-12, "onnx": 4e-6, "python": 1e-12}


def _xgboost(files: dict[str, bytes], X: np.ndarray) -> np.ndarray:
    import xgboost

    booster = xgboost.Booster(model_file=bytearray(files["model.json"]))
    rows = xgboost.DMatrix(X, feature_names=booster.feature_names)
    return booster.predict(rows, output_margin=True).astype(np.float64)


def _onnx(files: dict[str, bytes], X: np.ndarray) -> np.ndarray:
    import onnxruntime

    session = onnxruntime.InferenceSession(files["model.onnx"])
    return session.run(None, {"features": X.astype(np.float32)})[0][:, 0].astype(np.float64)


def _lightgbm(files: dict[str, bytes], X: np.ndarray) -> np.ndarray:
    import lightgbm

    return lightgbm.Booster(model_str=files["model.txt"].decode()).predict(X)


def _python(files: dict[str, bytes], X: np.ndarray) -> np.ndarray:
    names: dict[str, Any] = {}
    exec(files["model.py"], names)
    return np.array([names["score"](row) for row in X.tolist()])


#: Target -> the package that loads its files, and how it scores rows.
LOADERS: dict[str, tuple[str, Callable[[dict[str, bytes], np.ndarray], np.ndarray]]] = {
    "lightgbm": ("lightgbm", _lightgbm),
    "onnx": ("onnxruntime", _onnx),
    "python": ("Python", _python),
    "xgboost": ("xgboost", _xgboost),
}


def prove(to: str) -> Proof | None:
    """Return what was found for a target; None where nothing here can score its files."""
    found = list(_judged(to))
    if not found:
        return None
    worst = max(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-300) for _, ours, theirs in found)
    within = WITHIN.get(to, 0.0)
    if worst > within:
        raise AssertionError(f"{to}: simulated scores differ by {worst:.1e} of the largest, expected {within:.0e}")
    by = LOADERS[to][0] if to in LOADERS else ENGINE
    return Proof(by, len({name for name, *_ in found}), sum(len(ours) for _, ours, _ in found), within)


def is_here(to: str) -> bool:
    """Tell whether what loads a target's files is installed; the stored scores of engines always are."""
    package, _ = LOADERS.get(to, ("Python", None))
    return package == "Python" or importlib.util.find_spec(package) is not None


def _judged(to: str) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield name, simulated scores and the reference's scores for every stored model that a target takes."""
    stored = json.loads(STORED.read_text())
    options = Options("m", tuple(stored["names"]))
    for case in stored["cases"]:
        if to not in case and to not in LOADERS:
            continue
        model = _model(case["model"])
        try:
            files = ar.export(model, to, name="m", missing="zero" if to == "ranklib" else "as-trained").files
        except ModelError:  # a kind that the target does not take
            continue
        if to in LOADERS:
            rows = made_rows(plain(model, "as-trained"))
            yield case["name"], writer(to).simulate(files, options, rows), LOADERS[to][1](files, rows)
            continue
        for scores, rows in ((to, "rows"), (f"{to}_missing", "rows_missing")):
            if scores in case:
                X = np.array([[np.nan if x is None else x for x in row] for row in stored[rows]])
                yield case["name"], writer(to).simulate(files, options, X), np.array(case[scores])


def _model(document: dict[str, Any]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        path.write_text(json.dumps(document))
        return ar.load_model(path)


if __name__ == "__main__":
    proofs = {name: proof._asdict() for name in TARGETS.own() if (proof := prove(name)) is not None}
    RECORD.write_text(json.dumps(proofs, indent=2) + "\n")
