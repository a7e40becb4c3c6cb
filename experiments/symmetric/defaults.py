"""Choose the defaults of symmetric-mart: one setting changed at a time, ndcg@10 on validation parts after some rounds.

``python -m experiments.symmetric.defaults`` writes defaults.csv, line by line; started again, it resumes.
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path
from typing import Any

import argrank as ar
from argrank.evaluation.evaluate import mean_of
from experiments.symmetric.data import SETS, parts

TABLE = Path(__file__).with_name("defaults.csv")
ROUNDS = (50, 100, 200, 300, 400, 600)
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "base": ("symmetric-mart", {}),
    "query-mart": ("query-mart", {}),
    "start=None": ("symmetric-mart", {"start": None}),
    "bagging_fraction=1": ("symmetric-mart", {"bagging_fraction": 1.0}),
    "bagging_fraction=0.8": ("symmetric-mart", {"bagging_fraction": 0.8}),
    "n_bins=128": ("symmetric-mart", {"n_bins": 128}),
    "n_bins=255": ("symmetric-mart", {"n_bins": 255}),
}
SECOND: dict[str, Any] = {"bagging_fraction": 1.0, "n_bins": 128}  # what gained, and what was then changed
CHANGES: dict[str, dict[str, Any]] = {
    "second": {},
    "second, start=None": {"start": None},
    "second, feature_fraction=0.25": {"feature_fraction": 0.25},
    "second, feature_fraction=1": {"feature_fraction": 1.0},
    "second, l2=1": {"l2": 1.0},
    "second, l2=10": {"l2": 10.0},
    "second, depth=5": {"depth": 5},
    "second, learning_rate=0.03": {"learning_rate": 0.03},
    "second, learning_rate=0.1": {"learning_rate": 0.1},
    "second, feature_fraction=1, l2=10": {"feature_fraction": 1.0, "l2": 10.0},
    "second, feature_fraction=0.8, l2=10": {"feature_fraction": 0.8, "l2": 10.0},
    "second, feature_fraction=1, l2=10, bagging 0.8": {"feature_fraction": 1.0, "l2": 10.0, "bagging_fraction": 0.8},
    "second, n_seeds=3": {"n_seeds": 3},
}
VARIANTS |= {name: ("symmetric-mart", {**SECOND, **more}) for name, more in CHANGES.items()}
CHOSEN: dict[str, Any] = {**SECOND, "feature_fraction": 0.8, "start": None}
VARIANTS |= {
    f"{objective}, l2={l2:g}": ("symmetric-mart", {**CHOSEN, "objective": objective, "l2": l2})
    for objective, values in (("lambda-mart", (1.0, 3.0, 10.0, 30.0)), ("xendcg-mart", (3.0, 10.0, 30.0)))
    for l2 in values
}
BASE = {
    "n_trees": ROUNDS[-1], "learning_rate": 0.05, "depth": 6, "n_bins": 64, "l2": 3.0, "bagging_fraction": 0.6,
    "feature_fraction": 0.5, "start": "linear", "n_seeds": 1,
}  # fmt: skip


def catboost(train: ar.Dataset, valid: ar.Dataset, loss: str) -> float:
    """Return ndcg@10 of CatBoost at its defaults."""
    import catboost as cb

    pool = cb.Pool(train.X, train.y, group_id=train.query_of_row)
    model = cb.CatBoost({"loss_function": loss, "verbose": 0, "thread_count": 1, "allow_writing_files": False})
    scores = model.fit(pool).predict(valid.X)
    return mean_of(scores, valid, "ndcg@10")


def line(name: str, variant: str) -> dict[str, Any] | None:
    """Return a line of the table; None where the set is not available."""
    found = parts(name)
    if found is None:
        return None
    train, valid = found
    begin = time.process_time()
    row: dict[str, Any] = {"set": name, "variant": variant, "documents": train.n_documents}
    if variant.startswith("CatBoost"):
        row["end"] = f"{catboost(train, valid, variant.split()[1]):.5f}"
    else:
        ranker, more = VARIANTS[variant]
        settings = {**BASE, **more} if ranker == "symmetric-mart" else more
        fitted = ar.make_ranker(ranker, **settings, n_jobs=1, verbose=-1, scoring="ndcg@10").fit(train, eval_set=valid)
        seen = [one["validation"] for one in fitted.trace_]
        row |= {str(number): f"{seen[number - 1]:.5f}" for number in ROUNDS if number <= len(seen)}
        row["end"] = f"{seen[-1]:.5f}"
    return {**row, "cpu": f"{time.process_time() - begin:.1f}"}


def main(variants: list[str]) -> None:
    """Fill the table."""
    columns = ["set", "variant", "documents", *map(str, ROUNDS), "end", "cpu"]
    if not TABLE.exists():
        TABLE.write_text(",".join(columns) + "\n", "utf-8")
    with TABLE.open(encoding="utf-8", newline="") as file:
        done = {(row["set"], row["variant"]) for row in csv.DictReader(file)}
    for variant in variants or [*VARIANTS, "CatBoost QueryRMSE"]:
        for name in SETS:
            row = None if (name, variant) in done else line(name, variant)
            if row is not None:
                with TABLE.open("a", encoding="utf-8", newline="") as file:
                    csv.DictWriter(file, columns, lineterminator="\n").writerow(row)
                print(row, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
