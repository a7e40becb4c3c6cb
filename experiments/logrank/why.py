"""Why a sampled ConvexLoss loses to MLE: which settings change that on validation data, and which do not.

    python -m experiments.logrank.why

Writes why.csv: validation MAP and NDCG@10 at the best C of a grid, means over the folds used. No test part is read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import argrank as ar
from argrank.data.folds import Fold
from experiments._common import fit, read_csv, read_fold, write_csv

HERE = Path(__file__).parent
STEPS = ({"binarise": 1}, {"clean": "logrank"})
VALUES = [0.015, 0.5, 15.0, 500.0, 1.5e4, 5e5, 1.5e7]
SCALED = [50.0, 5e3, 5e5, 5e7, 5e9, 5e11, 5e13]  # for phi divided by the number of pairs of its query
DATA = {"td2003": (1,), "MQ2008": (1, 2), "OHSUMED-LETOR3": (1, 2)}

CONVEX: dict[str, Any] = {"ranker": "log-convex", "measure": "map"}
TRIED: dict[str, dict[str, Any]] = {
    "MLE, closed form": {"ranker": "log-mle"},
    "ConvexLoss-AUC, closed form, rho 1": {"ranker": "log-convex", "measure": "auc"},
    "ConvexLoss-AUC, closed form, rho 1000": {"ranker": "log-convex", "measure": "auc", "rho": 1e3},
    "ConvexLoss-AUC, sampled": {"ranker": "log-convex", "measure": ["auc", "auc"]},  # two of them have no closed form
    "ConvexLoss-MAP by default": CONVEX,
    "loss without weight (rho 1e-9: sampled MLE)": {**CONVEX, "rho": 1e-9},
    "rho 10": {**CONVEX, "rho": 10.0},
    "rho 100": {**CONVEX, "rho": 100.0},
    "skew best (0.9)": {**CONVEX, "skew": "best"},
    "skew worst (0.9)": {**CONVEX, "skew": "worst"},
    "skew -1": {**CONVEX, "skew": -1.0},
    "10 rankings a query": {**CONVEX, "n_samples": 10},
    "500 rankings a query": {**CONVEX, "n_samples": 500},
    "importance weights": {**CONVEX, "importance": True},
    "importance weights, rho 100": {**CONVEX, "importance": True, "rho": 100.0},
    "MLE, pair scale": {"ranker": "log-mle", "scale": "pairs"},
    "ConvexLoss-MAP, pair scale": {**CONVEX, "scale": "pairs"},
}


def validate(folds: list[Fold], ranker: str, **parameters: Any) -> dict[str, Any]:
    """Return the validation figures at the C with the best MAP."""
    values = SCALED if parameters.get("scale") else VALUES
    figures = np.empty((len(folds), len(values), 2))
    for row, fold in enumerate(folds):
        for column, C in enumerate(values):
            fitted = fit(ranker, fold.train, C=C, n_jobs=1, **parameters)
            found = ar.evaluate(fitted.predict(fold.valid), fold.valid, ["map", "ndcg@10"], convention="letor3").means
            figures[row, column] = found["map"], found["ndcg@10"]
    means = figures.mean(axis=0)
    best = int(means[:, 0].argmax())
    return {"C": f"{values[best]:g}", "map": f"{means[best, 0]:.4f}", "ndcg@10": f"{means[best, 1]:.4f}"}


def main() -> None:
    """Fill in the rows that why.csv lacks; delete it to start anew."""
    path = HERE / "why.csv"
    rows = {(row["data"], row["what"]): row for row in read_csv(path)}
    for name, numbers in DATA.items():
        folds = [read_fold(name, number, STEPS) for number in numbers]
        for title, parameters in TRIED.items():
            if (name, title) not in rows:
                rows[name, title] = {"data": name, "what": title, **validate(folds, **parameters)}
                print(rows[name, title], flush=True)
    write_csv(path, [rows[name, title] for name in DATA for title in TRIED])


if __name__ == "__main__":
    main()
