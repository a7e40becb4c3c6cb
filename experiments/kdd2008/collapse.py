"""Where the paper's convex bounds are minimal at w = 0, with the proof: all folds, C = 100.

    ARGRANK_DATA=/folder/with/the/collections python -m experiments.kdd2008.collapse [OHSUMED-LETOR2 …]

w = 0 is the optimum for every C or for none, and ``folds_proven`` counts the folds where it is: there the risk has a
subgradient of (nearly) no length at 0, of which the greatest norm is in the table, with the greatest gap at C = 100.
Stand-ins are generated; data sets that are not named keep their rows.
"""

from __future__ import annotations

import sys
from typing import Any

from experiments.kdd2008._common import CONVEX, DISCOUNTED, FIRST, fit, fold_of, read_csv, title, write_csv

DATA = ("OHSUMED-LETOR2", "MQ2008", "td2003", "td2004", "trec2000", "trec2001")
RANKERS: dict[str, tuple[str, dict[str, Any]]] = {
    "NDCG": ("svm-ndcg", DISCOUNTED | CONVEX),
    "MRR": ("svm-mrr", FIRST),
    "MRR, pairs map": ("svm-mrr", CONVEX),
    "COMBO MAP+NDCG+NDCG-NC+MRR": (
        "svm-combo",
        {"measures": ("map", "ndcg@10", "ndcg", "mrr@10"), **DISCOUNTED, **FIRST},
    ),
    "COMBO MAP+NDCG+NDCG-NC, shared": (
        "svm-combo",
        {"measures": ("map", "ndcg@10", "ndcg"), "slacks": "shared", **DISCOUNTED, **CONVEX},
    ),
    "COMBO MAP+NDCG-NC+MRR, shared": (
        "svm-combo",
        {"measures": ("map", "ndcg", "mrr@10"), "slacks": "shared", **DISCOUNTED, **FIRST},
    ),
    "DORM": ("dorm", DISCOUNTED | CONVEX),
}


def prove(data: str) -> list[dict[str, Any]]:
    folds = [fold_of(data, number) for number in range(1, 6)]
    rows = []
    for ranker, (name, parameters) in RANKERS.items():
        fits = [fit(name, fold.train, C=100.0, n_jobs=1, solver="cutting-plane", **parameters) for fold in folds]
        rows.append(
            {
                "data": title(data),
                "ranker": ranker,
                "C": 100,
                "folds_at_zero": sum(not one.coef_.any() for one in fits),
                "folds_proven": sum(one.collapsed_ is not None for one in fits),
                "greatest_norm": max((one.collapsed_.norm for one in fits if one.collapsed_), default=float("nan")),
                "greatest_gap": max(one.gap_ / one.objective_ for one in fits),
                "least_share_of_objective_at_zero": min(one.objective_ / one.objective_at_zero_ for one in fits),
                "most_passes": max(one.trace_[-1]["n_passes"] for one in fits),
            }
        )
        print(rows[-1], flush=True)
    return rows


if __name__ == "__main__":
    found = {title(data): [row for row in read_csv("collapse.csv") if row["data"] == title(data)] for data in DATA}
    for name in sys.argv[1:] or DATA:
        found[title(name)] = prove(name)
        write_csv("collapse.csv", [row for rows in found.values() for row in rows])
