"""XGBoost's trees grown on ORM's bound of NDCG@10.

    pip install xgboost
    python examples/xgboost_orm.py

The bound is piecewise linear, so it has a gradient but no curvature: every document gets the same Hessian, which makes
a leaf the mean gradient of its documents, as in gradient boosting without Newton steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost as xgb

import argrank as ar


def grow(data: ar.Dataset, *, rounds: int = 150, depth: int = 4, rate: float = 0.1, **objective: Any) -> xgb.Booster:
    """Grow trees on an objective of argrank."""
    risk = ar.objective("orm", **objective)
    rows = xgb.DMatrix(data.to_caller(data.X), label=data.to_caller(data.y))

    def gradient_and_curvature(scores: np.ndarray, _: xgb.DMatrix) -> tuple[np.ndarray, np.ndarray]:
        gradient = risk(scores, data)[1] * data.n_queries  # of the sum over the queries: a size that trees expect
        return gradient, np.ones_like(gradient)

    parameters = {"max_depth": depth, "eta": rate, "lambda": 1.0, "base_score": 0.0, "nthread": 1, "seed": 0}
    return xgb.train(parameters, rows, rounds, obj=gradient_and_curvature)


def predict(booster: xgb.Booster, data: ar.Dataset) -> np.ndarray:
    """Score the rows in the caller's order."""
    return np.asarray(booster.predict(xgb.DMatrix(data.to_caller(data.X)), output_margin=True), np.float64)


def main() -> dict[str, float]:
    """Compare the trees with the linear ranker on the bundled data."""
    train_part, test = ar.normalise(ar.load_bundled(), "query-minmax").split(0.7, 0.3, random_state=0)
    booster = grow(train_part, bound="tight", decay="measure")
    linear = ar.make_ranker("orm", bound="tight", decay="measure", C=10.0, tol=1e-2).fit(train_part)
    scores = {"trees": predict(booster, test), "linear": linear.predict(test)}
    found = {name: ar.evaluate(one, test, "ndcg@10").means["ndcg@10"] for name, one in scores.items()}
    for name, value in found.items():
        print(f"{name:10} NDCG@10 {value:.4f}")
    return found


if __name__ == "__main__":
    main()
