"""Paired tests between rows of extras.toml, written to extras_tests.csv.

    python -m experiments.logrank.extras results/extras

The argument is the output folder of ``argrank experiment``; Wilcoxon over the test queries, not corrected. Rankers that
the folder lacks keep their rows; those of an older run have no standard error.
"""

from __future__ import annotations

import csv
import itertools
import sys
from pathlib import Path

import numpy as np
from scipy.stats import wilcoxon

HERE = Path(__file__).parent
MEASURES = ("map", "ndcg@10")
DATA = ("OHSUMED", "MQ2008")
KEYS = ("data", "one", "less", "measure")
PAIRS = (
    ("MLE", "MLE, pair scale"),
    ("ConvexLoss NDCG", "ConvexLoss NDCG, pair scale"),
    ("ConvexLoss NDCG", "ConvexLoss NDCG, importance weights"),
    ("ConvexLoss NDCG", "ConvexLoss NDCG, rho 30"),
    ("ConvexLoss NDCG", "ConvexLoss NDCG+MAP+MRR"),
    ("ConvexLoss NDCG+MAP+MRR", "SVMcombo NDCG+MAP+MRR"),
    ("ConvexLoss NDCG+MAP+MRR", "SVMcombo NDCG+MAP"),
    ("L2 NDCG", "ConvexLoss NDCG"),
    ("L2 NDCG", "MLE"),
    ("L2 AUC", "MLE"),
)


def values(folder: Path, data: str) -> dict[str, dict[tuple[str, str], dict[str, str]]]:
    """Return the rows of every ranker by fold and query."""
    found: dict[str, dict[tuple[str, str], dict[str, str]]] = {}
    with (folder / "per_query" / f"{data}.csv").open() as stream:
        for row in csv.DictReader(stream):
            found.setdefault(row["ranker"], {})[row["fold"], row["qid"]] = row
    return found


def main(folder: Path) -> None:
    """Write the pairs whose rankers the folder has, and keep the rows of the others."""
    path = HERE / "extras_tests.csv"
    with path.open(newline="") as stream:
        kept = {tuple(row[key] for key in KEYS): row for row in csv.DictReader(stream)}
    rankers = {data: values(folder, data) for data in DATA}
    for data, (one, other), name in itertools.product(DATA, PAIRS, MEASURES):
        if {one, other} <= set(rankers[data]):
            a, b = rankers[data][one], rankers[data][other]
            found = np.array([float(a[key][name] or "nan") - float(b[key][name] or "nan") for key in a])
            found = found[np.isfinite(found)]
            error = found.std(ddof=1) / np.sqrt(len(found))
            row = {"data": data, "one": one, "less": other, "measure": name, "queries": str(len(found))}
            figures = {"difference": f"{found.mean():+.4f}", "standard_error": f"{error:.4f}"}
            kept[data, one, other, name] = row | figures | {"p": f"{wilcoxon(found).pvalue:.2f}"}
    blank = dict.fromkeys((*KEYS, "queries", "difference", "standard_error", "p"), "")
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(blank), lineterminator="\n")
        writer.writeheader()
        writer.writerows(blank | row for row in kept.values())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
