"""DirectRank with trees against MART at an equal tuning budget, with a paired test over the test queries.

    python -m experiments.directrank.trees_against_mart [queries]      # trees_against_mart.csv and .md; resumes

The budget is that of ``python -m benchmarks trees``: six settings each, early stopping on validation NDCG@10. The data
are generated with MSLR's shape and a truth that no linear model can express; of the queries three tenths train, one
tenth validates and the rest test. The file has the results for the last number of queries, the table those of all.
"""

from __future__ import annotations

import json
import sys

from benchmarks.trees import BUDGET

import argrank as ar
from experiments.directrank._common import HERE, Table, fit, mean, mslr_shape

N_QUERIES = 600


def main(n_queries: int) -> None:
    table = Table("trees_against_mart.csv", "queries", "learner", "setting")
    fold = mslr_shape(n_queries, "nonlinear", random_state=2)
    for name, settings in BUDGET.items():
        for setting in settings:
            if table.has(n_queries, name, json.dumps(setting)):
                continue
            fitted, seconds = fit(name, fold.train, fold.valid, n_trees=300, early_stopping=30, **setting)
            facts = {
                "queries": n_queries,
                "learner": name,
                "setting": json.dumps(setting),
                "trees": fitted.n_iter_,
                "cpu_seconds": seconds,
            }
            table.add(
                facts | {role: mean(fitted, getattr(fold, role), "ndcg@10") for role in ("train", "valid", "test")}
            )
    scores, lines = {}, []
    for name in BUDGET:
        own = [row for row in table.rows if (row["queries"], row["learner"]) == (str(n_queries), name)]
        chosen = max(own, key=lambda row: float(row["valid"]))
        setting = {key: tuple(value) if isinstance(value, list) else value
                   for key, value in json.loads(chosen["setting"]).items()}  # fmt: skip
        fitted, _ = fit(name, fold.train, fold.valid, n_trees=300, early_stopping=30, **setting)
        scores[name] = fitted.predict(fold.test)
        lines.append(
            f"- {name}: {chosen['setting']}, {chosen['trees']} trees, test NDCG@10 {float(chosen['test']):.4f}"
        )
    compared = ar.compare(scores, fold.test, "ndcg@10", baseline="mart")
    lines = [
        f"# Trees: DirectRank against MART, equal budget, {n_queries:,} queries",
        "",
        *lines,
        "",
        "```",
        str(compared),
        "```",
    ]
    (HERE / "trees_against_mart.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else N_QUERIES)
