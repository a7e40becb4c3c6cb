"""Tables 9 and 10: MART, LambdaMART and DirectRank with trees of 10, 30 and 50 leaves; and the paper's future work.

    python -m experiments.directrank.trees      # trees.csv; resumes

On MSLR-sample (43 training queries, a quarter of them to validate) and on generated sets of MSLR's shape whose truth
no linear model can express: 2,000 queries, of which 1,200 train, 400 validate and 400 test, and a smaller one of 600
with more noise, of which 180 train, 60 validate and 360 test. Every ranker has two settings to choose from and stops
on validation NDCG@10. Convention yahoo. The rows "leveraged", "exact leaves" and "trees on lambdas" are DirectRank's
variants with 10 leaves. "error" is the standard error of the difference from DirectRank with as many leaves, whose
values are kept in work/trees_queries.csv. On the larger set the variants, and all rows with 50 leaves, take the setting
that was chosen with 10 and 30 leaves.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable
from typing import Any

import argrank as ar
from argrank.data.folds import Fold
from experiments.directrank._common import WORK, Table, fit, fold_of, mean, mslr_shape, nonlinear
from experiments.directrank._paired import errors

N_TREES, PATIENCE = 300, 30
#: Trees of all documents, features and cuts, and LightGBM's lambdas.
PLAIN: dict[str, Any] = {"feature_fraction": 1.0, "bagging_fraction": 1.0, "extra_trees": False}
NORMED: dict[str, Any] = {**PLAIN, "lambda_norm": True}
#: The paper's trees: no linear start, no cross-validation, all features and cuts.
ALONE: dict[str, Any] = {"start": None, "folds": 0, "feature_fraction": 1.0, "extra_trees": False}
RANGES = [{**ALONE, "weight_range": (0.1, 0.5)}, {**ALONE, "weight_range": (0.05, 0.1)}]
RANKERS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "direct-rank-trees": ("direct-rank-trees", RANGES),
    "mart": ("mart", [{**PLAIN, "learning_rate": 0.05}, {**PLAIN, "learning_rate": 0.1}]),
    "lambda-mart": ("lambda-mart", [{**NORMED, "learning_rate": 0.05}, {**NORMED, "learning_rate": 0.1}]),
}
VARIANTS: dict[str, dict[str, Any]] = {
    "leveraged": {"variant": "leveraged"},
    "exact leaves": {"leaves": "exact"},
    "trees on lambdas": {"objective": "lambdarank"},
}
LEAVES = (10, 30, 50)
TESTED = ["ndcg@1", "ndcg@10"]


def best_of(ranker: str, settings: list[dict[str, Any]], fold: Any, **shared: Any) -> tuple[Any, dict[str, Any]]:
    """Return the ranker whose setting is best on validation data, and the setting."""
    fits = [
        (fit(ranker, fold.train, fold.valid, n_trees=N_TREES, early_stopping=PATIENCE, **shared, **setting)[0], setting)
        for setting in settings
    ]
    return max(fits, key=lambda pair: mean(pair[0], fold.valid, "ndcg@10"))


SLOW = "generated, 2,000 queries"
SETS: dict[str, Callable[[], Fold]] = {
    "MSLR-sample": lambda: fold_of("MSLR-sample"),
    "generated, 600 queries": lambda: mslr_shape(600, "nonlinear", random_state=2),
    SLOW: nonlinear,
}


def chosen(table: Table, data: str, ranker: str, leaves: int) -> dict[str, Any]:
    """Return the setting that validation chose in a row that is there."""
    row = next(r for r in table.rows if (r["data"], r["ranker"], r["leaves"]) == (data, ranker, str(leaves)))
    setting: dict[str, Any] = ast.literal_eval(row["setting"])
    return setting


def main() -> None:
    table = Table("trees.csv", "data", "ranker", "leaves")
    queries = Table(f"{WORK}/trees_queries.csv", "data", "leaves")
    jobs = [(name, ranker, settings, leaves, {}) for leaves in LEAVES for name, (ranker, settings) in RANKERS.items()]
    jobs += [(name, "direct-rank-trees", RANGES, 10, shared) for name, shared in VARIANTS.items()]
    for data, read in SETS.items():
        todo = [job for job in jobs if not table.has(data, job[0], job[3])]
        if not todo:
            continue
        fold = read()
        for name, ranker, settings, leaves, shared in todo:
            if data == SLOW and (shared or leaves == LEAVES[-1]):
                settings = [chosen(table, data, ranker, 10 if shared else LEAVES[-2])]
            begin = time.process_time()
            fitted, setting = best_of(ranker, settings, fold, n_leaves=leaves, **shared)
            seconds = time.process_time() - begin
            test = ar.evaluate(fitted.predict(fold.test), fold.test, TESTED, convention="yahoo")
            place = {"data": data, "leaves": leaves}
            spread = errors(queries, place, {key: test.values[key] for key in TESTED}, name == "direct-rank-trees")
            table.add(
                {"data": data, "ranker": name, "leaves": leaves}
                | {"setting": setting, "trees": fitted.n_iter_, "cpu_seconds": seconds}
                | {"train ndcg@10": mean(fitted, fold.train, "ndcg@10", "yahoo")}
                | {f"test {key}": value for key, value in test.means.items()} | spread
            )  # fmt: skip


if __name__ == "__main__":
    main()
