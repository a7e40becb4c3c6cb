"""Why CatBoost is ahead where the truth is asymmetric trees: the same number of symmetric trees on several losses.

Three generated sets of 1,250 training queries of 40 documents, judged on 400 others each; 400 trees of depth 6,
learning rate 0.1. ``python -m experiments.symmetric.losses`` writes losses.csv.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import argrank as ar
from argrank._types import Floats
from argrank.evaluation.evaluate import evaluate
from experiments._common import write_csv
from experiments.symmetric.members import generated

TABLE = Path(__file__).with_name("losses.csv")
SEEDS = (111, 113, 114)
SETTINGS: dict[str, Any] = {"learning_rate": 0.1, "depth": 6}


def ours(loss: str) -> Callable[[ar.Dataset, ar.Dataset], Floats]:
    """Return a fit of symmetric-mart that scores other queries."""
    made = ar.make_ranker("symmetric-mart", objective=loss, n_trees=400, start=None, n_jobs=1, verbose=-1, **SETTINGS)
    return lambda train, judged: made.fit(train).predict(judged)


def catboost(loss: str) -> Callable[[ar.Dataset, ar.Dataset], Floats]:
    """Return a fit of CatBoost that scores other queries."""

    def scores(train: ar.Dataset, judged: ar.Dataset) -> Floats:
        import catboost as cb

        more = {"loss_function": loss, "iterations": 400, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
        pools = [cb.Pool(one.X, one.y, group_id=one.query_of_row) for one in (train, judged)]
        return np.asarray(cb.CatBoost({**more, **SETTINGS}).fit(pools[0]).predict(pools[1]))

    return scores


SYSTEMS = {
    "CatBoost YetiRank": catboost("YetiRank"),
    "CatBoost QueryRMSE": catboost("QueryRMSE"),
    "symmetric-mart, query-mart": ours("query-mart"),
    "symmetric-mart, lambda-mart": ours("lambda-mart"),
    "symmetric-mart, xendcg-mart": ours("xendcg-mart"),
    "symmetric-mart, pair-mart": ours("pair-mart"),
}


def main() -> None:
    """Write the table."""
    sets = [generated("asymmetric trees", seed, 1250, 40) for seed in SEEDS]
    rows: list[dict[str, Any]] = []
    first: Floats | None = None
    for name, scores in SYSTEMS.items():
        begin = time.process_time()
        found = [(scores(train, judged), judged) for train, judged in sets]
        cpu = (time.process_time() - begin) / len(sets)
        values = np.concatenate([evaluate(one, judged, "ndcg@10").values["ndcg@10"] for one, judged in found])
        first = values if first is None else first
        gap = values - first
        gap = gap[~np.isnan(gap)]
        row = {"system": name, "ndcg10": f"{np.nanmean(values):.4f}", "against YetiRank": f"{gap.mean():+.4f}"}
        rows.append({**row, "error": f"{gap.std(ddof=1) / np.sqrt(len(gap)):.4f}", "cpu": f"{cpu:.1f}"})
        print(rows[-1], flush=True)
    write_csv(TABLE, rows)


if __name__ == "__main__":
    main()
