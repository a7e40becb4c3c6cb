"""Forests to load and to score with, for `behind`: 300 trees of every tool (100 to load), on 136 features."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

TRAINING = 5000  # rows
TREES = 300


def _rows(n: int) -> Any:
    return np.random.default_rng(0).standard_normal((n, 136)).astype(np.float32)


@functools.cache
def _trained(n_trees: int) -> dict[str, bytes]:
    """Return the files of a forest by every tool: 31 leaves, or depth 6 where a tool has levels."""
    import catboost as cb
    import lightgbm as lgb
    import xgboost as xgb

    import argrank as ar
    from argrank.models.trees import TreesModel

    X = _rows(TRAINING)
    y = X[:, 0] * X[:, 1] + np.abs(X[:, 2]) + np.random.default_rng(1).standard_normal(len(X))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        booster = lgb.train({"num_leaves": 31, "verbosity": -1, "num_threads": 1}, lgb.Dataset(X, y), n_trees)
        booster.save_model(folder / "lightgbm.txt")
        TreesModel.from_lightgbm(booster).save(folder / "trees.json")
        symmetric = ar.make_ranker("symmetric-mart", n_trees=n_trees, start=None, n_seeds=1, n_jobs=1, verbose=-1)
        symmetric.fit(ar.Dataset(X, y - y.min(), group=np.full(len(X) // 50, 50))).save(folder / "symmetric.json")
        quiet = {"iterations": n_trees, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
        cb.CatBoost(quiet).fit(X, y).save_model(str(folder / "catboost.cbm"))
        xgb.train({"max_depth": 6, "nthread": 1}, xgb.DMatrix(X, y), n_trees).save_model(folder / "xgboost.ubj")
        return {path.name: path.read_bytes() for path in folder.iterdir()}


def write_forests(folder: Path, n_rows: int, n_trees: int = TREES) -> None:
    """Write rows, and the same forest by every tool."""
    np.save(folder / "X.npy", _rows(n_rows))
    for name, content in _trained(n_trees).items():
        (folder / name).write_bytes(content)


def write_to_load(folder: Path, n_rows: int) -> None:
    """Write forests of 100 trees."""
    write_forests(folder, n_rows, 100)


def load(tool: str, folder: Path) -> Any:
    """Return the forest of a tool."""
    if tool == "lightgbm":
        import lightgbm as lgb

        return lgb.Booster(model_file=folder / "lightgbm.txt")
    if tool == "xgboost":
        import xgboost as xgb

        found = xgb.Booster(model_file=folder / "xgboost.ubj")
        found.set_param({"nthread": 1})
        return found
    if tool == "catboost":
        import catboost as cb

        return cb.CatBoost().load_model(str(folder / "catboost.cbm"))
    import argrank as ar

    return ar.load_model(folder / f"{tool}.json")


def score(tool: str, model: Any, X: Any) -> Any:
    """Return the scores of rows by the forest of a tool, on one thread."""
    if tool == "xgboost":
        return model.inplace_predict(X)
    threads = {"lightgbm": {"num_threads": 1}, "catboost": {"thread_count": 1}}
    return model.predict(X, **threads.get(tool, {}))


def reading(*tools: str) -> Callable[[Path], tuple[dict[str, Any], Any]]:
    """Return a function that reads the forests of some tools and the rows."""
    return lambda folder: ({tool: load(tool, folder) for tool in tools}, np.load(folder / "X.npy"))


def scoring(tool: str, size: int | None = None) -> Callable[[tuple[dict[str, Any], Any]], object]:
    """Return a function that scores all rows with the forest of a tool, all at once or ``size`` at a time."""

    def run(given: tuple[dict[str, Any], Any]) -> object:
        models, X = given
        step = size or len(X)
        return [score(tool, models[tool], X[start : start + step]) for start in range(0, len(X), step)]

    return run


def loading(tool: str) -> Callable[[Path], object]:
    """Return a function that loads the forest of a tool 100 times."""
    return lambda folder: [load(tool, folder) for _ in range(100)]
