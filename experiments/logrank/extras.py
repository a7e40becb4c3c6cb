"""Paired tests between rows of extras.toml, written to extras_tests.csv.

    python -m experiments.logrank.extras results/extras

The argument is the output folder of ``argrank experiment``; Wilcoxon over the test queries, not corrected.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
from scipy.stats import wilcoxon

HERE = Path(__file__).parent
MEASURES = ("map", "ndcg@10")
DATA = ("OHSUMED", "MQ2008")
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
    with (HERE / "extras_tests.csv").open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["data", "one", "less", "measure", "queries", "difference", "p"])
        for data in DATA:
            rankers = values(folder, data)
            for one, other in PAIRS:
                for name in MEASURES:
                    a, b = rankers[one], rankers[other]
                    differences = np.array([float(a[key][name] or "nan") - float(b[key][name] or "nan") for key in a])
                    differences = differences[np.isfinite(differences)]
                    p = wilcoxon(differences).pvalue
                    writer.writerow(
                        [data, one, other, name, len(differences), f"{differences.mean():+.4f}", f"{p:.2f}"]
                    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
