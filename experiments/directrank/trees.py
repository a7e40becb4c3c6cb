"""Tables 9 and 10: MART, LambdaMART and DirectRank with trees of 10, 30 and 50 leaves; and the paper's future work.

    python -m experiments.directrank.trees      # trees.csv; resumes

On MSLR-sample (43 training queries, a quarter of them to validate) and on a generated set of MSLR's shape whose truth
no linear model can express (180 queries train, 60 validate, 360 test). Every learner has two settings to choose from
and stops on validation NDCG@10. Convention yahoo. The rows "leveraged", "exact leaves" and "trees on lambdas" are
DirectRank's variants with 10 leaves.
"""

from __future__ import annotations

import time
from typing import Any

import argrank as ar
from experiments.directrank._common import Table, fit, fold_of, mean, mslr_shape

N_TREES, PATIENCE = 300, 30
RANGES = [{"weight_range": (0.1, 0.5)}, {"weight_range": (0.05, 0.1)}]
LEARNERS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "mart": ("mart", [{"learning_rate": 0.05}, {"learning_rate": 0.1}]),
    "lambda-mart": ("lambda-mart", [{"learning_rate": 0.05}, {"learning_rate": 0.1}]),
    "direct-rank-trees": ("direct-rank-trees", RANGES),
}
VARIANTS: dict[str, dict[str, Any]] = {
    "leveraged": {"variant": "leveraged"},
    "exact leaves": {"leaves": "exact"},
    "trees on lambdas": {"objective": "lambdarank"},
}
LEAVES = (10, 30, 50)


def best_of(ranker: str, settings: list[dict[str, Any]], fold: Any, **shared: Any) -> tuple[Any, dict[str, Any]]:
    """Return the learner whose setting is best on validation data, and the setting."""
    fits = [
        (fit(ranker, fold.train, fold.valid, n_trees=N_TREES, early_stopping=PATIENCE, **shared, **setting)[0], setting)
        for setting in settings
    ]
    return max(fits, key=lambda pair: mean(pair[0], fold.valid, "ndcg@10"))


def main() -> None:
    table = Table("trees.csv", "data", "learner", "leaves")
    sets = {"MSLR-sample": fold_of("MSLR-sample"), "generated": mslr_shape(600, "nonlinear", random_state=2)}
    for data, fold in sets.items():
        jobs = [
            (name, ranker, settings, leaves, {}) for leaves in LEAVES for name, (ranker, settings) in LEARNERS.items()
        ]
        jobs += [(name, "direct-rank-trees", RANGES, 10, shared) for name, shared in VARIANTS.items()]
        for name, ranker, settings, leaves, shared in jobs:
            if table.has(data, name, leaves):
                continue
            begin = time.process_time()
            fitted, setting = best_of(ranker, settings, fold, n_leaves=leaves, **shared)
            seconds = time.process_time() - begin
            test = ar.evaluate(fitted.predict(fold.test), fold.test, ["ndcg@1", "ndcg@10"], convention="yahoo")
            errors = {name: values.std(ddof=1) / len(values) ** 0.5 for name, values in test.values.items()}
            table.add(
                {"data": data, "learner": name, "leaves": leaves, "setting": setting, "trees": fitted.n_iter_}
                | {"cpu_seconds": seconds, "train ndcg@10": mean(fitted, fold.train, "ndcg@10", "yahoo")}
                | {f"test {key}": value for key, value in test.means.items()}
                | {f"standard error {key}": float(value) for key, value in errors.items()}
            )  # fmt: skip


if __name__ == "__main__":
    main()
