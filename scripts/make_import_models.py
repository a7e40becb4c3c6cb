"""Makes the small models of other libraries in tests/export/stored, with their own scores.

Run it as python scripts/make_import_models.py, where those libraries are installed.

CatBoost takes 270 MB, too much for every test run, so its files are kept; test_live.py compares live where it is
installed.
"""

from __future__ import annotations

import json
from pathlib import Path

import catboost
import lightgbm
import numpy as np
import xgboost

STORED = Path(__file__).resolve().parent.parent / "tests" / "deploy" / "stored"


def main() -> None:
    """Train the models and keep their scores for some rows."""
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 4)).astype(np.float32)
    X[random.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) > 0).astype(int)
    names = ["bm25", "title", "price", "clicks"]
    rows = X[:40]
    cat = catboost.CatBoost({"loss_function": "YetiRank", "iterations": 5, "depth": 3, "verbose": 0,
                             "allow_writing_files": False})  # fmt: skip
    cat.fit(catboost.Pool(X, y, group_id=np.repeat(np.arange(30), 20), feature_names=names))
    cat.save_model(str(STORED / "catboost.json"), format="json")
    data = xgboost.DMatrix(X, y, group=np.full(30, 20), feature_names=names)
    xgb = xgboost.train({"objective": "rank:ndcg", "max_depth": 3}, data, 5)
    xgb.save_model(STORED / "xgboost.json")
    xgb.save_model(STORED / "xgboost.ubj")
    light = lightgbm.train({"objective": "lambdarank", "num_leaves": 6, "verbose": -1},
                           lightgbm.Dataset(X, y, group=np.full(30, 20), feature_name=names), 5)  # fmt: skip
    light.save_model(STORED / "lightgbm.txt")
    scores = {
        "catboost.json": cat.predict(rows).tolist(),
        "xgboost.json": xgb.predict(xgboost.DMatrix(rows, feature_names=names), output_margin=True).tolist(),
        "lightgbm.txt": light.predict(rows).tolist(),
    }
    scores["xgboost.ubj"] = scores["xgboost.json"]
    cells = [[None if np.isnan(value) else float(value) for value in row] for row in rows]
    (STORED / "imports.json").write_text(json.dumps({"names": names, "rows": cells, "scores": scores}))


if __name__ == "__main__":
    main()
