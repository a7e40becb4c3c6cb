"""Write ``stored/category_scores.json``: small models with categories, raw rows, and scores of independent libraries.

Run once, by hand (``python -m tests.deploy.write_category_scores``); the tests compare every later version with it.
LightGBM scored the trees, from the text file that it loaded; XGBoost the same trees on columns of 0 and 1; ONNX
Runtime the linear model with its medians and flags.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

import argrank as ar
from argrank.deploy.deployment import deployment
from argrank.deploy.one_hot import computed

PATH = Path(__file__).parent / "stored" / "category_scores.json"
N_ROWS = 40


def main() -> None:
    import lightgbm
    import onnxruntime
    import xgboost

    rng = np.random.default_rng(30)
    n = 600
    frame = pd.DataFrame({"qid": np.repeat(np.arange(60), 10), "bm25": rng.gamma(2, 3, n).round(3)})
    frame["price"] = np.where(rng.random(n) < 0.2, np.nan, rng.lognormal(3, 1, n).round(2))
    brand = rng.integers(0, 12, n)
    frame["brand"] = [None if rng.random() < 0.1 else f"brand {number}" for number in brand]
    frame["label"] = np.clip(np.round(rng.normal(size=12)[brand] + frame["bm25"] / 6), 0, 4)
    data = ar.Dataset(frame)
    trees = ar.make_ranker("mart", n_trees=6, n_leaves=6, random_state=0).fit(data).model_
    linear = ar.make_ranker("regression", ridge=1.0, normalise="standard").fit(data).model_
    X = data.X[:N_ROWS]
    booster = lightgbm.Booster(model_str=ar.export(trees, "lightgbm").files["model.txt"].decode())
    made = deployment(trees, "xgboost")
    columns = xgboost.DMatrix(computed(X, made.columns), feature_names=list(made.options.features))
    other = xgboost.Booster()
    other.load_model(bytearray(made.files["model.json"]))
    session = onnxruntime.InferenceSession(ar.export(linear, "onnx").files["model.onnx"])
    rows = frame[["bm25", "price", "brand"]].head(N_ROWS).astype(object)
    stored = {
        "rows": rows.where(rows.notna(), None).to_numpy().tolist(),
        "trees": {
            "model": trees.to_dict(),
            "lightgbm": booster.predict(X).tolist(),
            "xgboost": other.predict(columns, output_margin=True).astype(float).tolist(),
        },
        "linear": {
            "model": linear.to_dict(),
            "onnx": session.run(None, {"features": X.astype(np.float32)})[0][:, 0].astype(float).tolist(),
        },
    }
    PATH.write_text(json.dumps(stored))


if __name__ == "__main__":
    main()
