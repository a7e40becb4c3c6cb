"""The recipes of the guide with other packages: each runs where its package is, and skips by name elsewhere."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import argrank as ar

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "guide" / "scikit-learn.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))


def recipe(title: str, packages: list[str]) -> dict[str, object]:
    """Run the blocks of a section, with the names that the sections before it have made."""
    for package in packages:
        pytest.importorskip(package, reason=f"{package} is not installed: see make test-integrations")
    data = ar.load_bundled().select(range(60))
    train, valid = data.split(0.7, 0.3)
    names: dict[str, object] = {"ar": ar, "data": data, "train": train, "valid": valid}
    (block,) = re.findall(r"```py\n(.*?)```", SECTIONS[title], re.DOTALL)
    exec(compile(block, title, "exec"), names)
    return names


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_optuna():
    names = recipe("Optuna", ["optuna"])
    ranker = ar.make_ranker("rank-svm", normalise="standard", **names["study"].best_params)
    assert names["study"].best_value == ranker.fit(names["train"]).score(names["valid"])


def test_mlflow():
    names = recipe("MLflow", ["mlflow"])
    import mlflow

    (run,) = mlflow.search_runs(output_format="list", search_all_experiments=True)
    assert run.data.metrics == {"ndcg_at_10": names["found"].means["ndcg@10"], "map": names["found"].means["map"]}


def test_shap():
    recipe("SHAP", ["shap", "lightgbm"])  # it asserts that the explanations add up


def test_pyterrier():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ar.errors.ArgrankWarning)
        names = recipe("PyTerrier", ["pyterrier"])
    valid, ranked = names["valid"], names["ranked"].set_index("docno")
    expected = names["learned"].learner.predict(valid.X)
    np.testing.assert_allclose(ranked.loc[[f"d{row}" for row in range(valid.n_documents)], "score"], expected)
    best = ranked.loc[[f"d{row}" for row in range(valid.indptr[1])]]["rank"].idxmin()
    assert int(best[1:]) == int(np.argmax(expected[: valid.indptr[1]]))


def test_ranx():
    recipe("ranx", ["ranx"])  # it asserts that both evaluate alike
