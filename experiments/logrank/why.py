"""Why a sampled ConvexLoss loses to MLE: what on validation data changes it, and what does not.

    python -m experiments.logrank.why

Writes why.csv: validation MAP and NDCG@10 at the best C of a grid, means over the folds used. No test part is read.
"""

from __future__ import annotations

import csv
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import argrank as ar
from argrank.data.folds import Fold
from argrank.errors import ArgrankWarning
from argrank.trials.config import DataSpec
from argrank.trials.data_sets import read_data
from argrank.trials.grid import size_of

HERE = Path(__file__).parent
STEPS = ({"binarise": 1}, {"clean": "logrank"})
FACTORS = [1.0, 30.0, 1e3, 3e4, 1e6]  # C times the number of pairs
SCALED = [1e4, 1e6, 1e8, 1e10, 1e12]  # for phi divided by the number of pairs of its query
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
    "restarts best (0.9)": {**CONVEX, "restarts": "best"},
    "restarts worst (0.9)": {**CONVEX, "restarts": "worst"},
    "restarts skew -1": {**CONVEX, "restarts": -1.0},
    "10 rankings a query": {**CONVEX, "n_samples": 10},
    "500 rankings a query": {**CONVEX, "n_samples": 500},
    "importance weights": {**CONVEX, "importance": True},
    "importance weights, rho 100": {**CONVEX, "importance": True, "rho": 100.0},
    "MLE, pair scale": {"ranker": "log-mle", "scale": "pairs"},
    "ConvexLoss-MAP, pair scale": {**CONVEX, "scale": "pairs"},
}


def fold_of(name: str, number: int) -> Fold:
    """Read a fold, prepared as in figure3.toml."""
    if name.islower():
        return read_data(DataSpec(name, (number,), standin=name), number)
    return read_data(DataSpec(name, (number,), collection=name, preprocess=STEPS), number)


def validate(folds: list[Fold], ranker: str, **parameters: Any) -> dict[str, Any]:
    """Return the validation figures at the C with the best MAP."""
    factors = SCALED if parameters.get("scale") else FACTORS
    figures = np.empty((len(folds), len(factors), 2))
    for row, fold in enumerate(folds):
        for column, factor in enumerate(factors):
            C = factor / size_of(fold.train, "pairs")
            fitted = ar.make_ranker(ranker, C=C, n_jobs=1, verbose=-1, **parameters).fit(fold.train)
            found = ar.evaluate(fitted.predict(fold.valid), fold.valid, ["map", "ndcg@10"], convention="letor3").means
            figures[row, column] = found["map"], found["ndcg@10"]
    means = figures.mean(axis=0)
    best = int(means[:, 0].argmax())
    return {"C times pairs": f"{factors[best]:g}", "map": f"{means[best, 0]:.4f}", "ndcg@10": f"{means[best, 1]:.4f}"}


def main() -> None:
    """Fill in the rows that why.csv lacks; delete it to start anew."""
    warnings.simplefilter("ignore", ArgrankWarning)
    path, rows = HERE / "why.csv", dict[tuple[str, str], dict[str, Any]]()
    if path.exists():
        with path.open() as stream:
            rows = {(row["data"], row["what"]): row for row in csv.DictReader(stream)}
    for name, numbers in DATA.items():
        folds = [fold_of(name, number) for number in numbers]
        for title, parameters in TRIED.items():
            if (name, title) not in rows:
                rows[name, title] = {"data": name, "what": title, **validate(folds, **parameters)}
                print(rows[name, title], flush=True)
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, ["data", "what", "C times pairs", "map", "ndcg@10"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[name, title] for name in DATA for title in TRIED)


if __name__ == "__main__":
    main()
