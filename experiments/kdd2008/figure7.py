"""Figure 7: phi_mrr against phi_po for training on MRR@k, tested by MRR@k, k = 1 … 10.

    ARGRANK_DATA=/folder/with/the/collections python -m experiments.kdd2008.figure7 [OHSUMED-LETOR2 MQ2008 td2003]

Computes the data sets that are named, all of them otherwise, and keeps the rows of the others. C is chosen by
validation MRR@k, the figures are means over five folds. The convex bound on phi_mrr collapses to w = 0 (collapse.csv),
so the tight bound is shown beside it, on both maps. A fit ends after 50 passes at the latest.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import argrank as ar
from experiments.kdd2008._common import fold_of, measured, quiet, read_csv, save_figure, title, write_csv

WAYS: dict[str, dict[str, Any]] = {
    "phi_po": {"feature_map": "pairs", "bound": "convex"},
    "phi_mrr": {"feature_map": "first", "bound": "convex"},
    "phi_po, tight bound": {"feature_map": "pairs", "bound": "tight"},
    "phi_mrr, tight bound": {"feature_map": "first", "bound": "tight"},
}
VALUES = [1.0, 10.0, 100.0]
CUTOFFS = {"OHSUMED-LETOR2": range(1, 11), "MQ2008": range(1, 11), "td2003": (1, 5, 10)}
TIGHT = {"OHSUMED-LETOR2": range(1, 11), "MQ2008": (1, 10), "td2003": (1, 10)}  # where the tight bound is tried
LARGE = [1e3, 1e4]  # for phi_po, divided by the number of pairs; phi_mrr is a sum over up to k or more documents


def measure(data: str) -> list[dict[str, Any]]:
    folds = [fold_of(data, number) for number in range(1, 6)]
    rows = []
    for way, parameters in WAYS.items():
        for k in (TIGHT if parameters["bound"] == "tight" else CUTOFFS)[data]:
            values, zero = [], 0
            for fold in folds:
                with quiet():
                    found = ar.select(
                        ar.make_ranker("svm-mrr", k=k, max_iter=50, n_jobs=1, **parameters),
                        {"C": VALUES + (LARGE if parameters["feature_map"] == "pairs" else [])},
                        fold.train,
                        fold.valid,
                        f"mrr@{k}",
                        convention="kdd2008",
                        progress=False,
                    )
                values.append(measured(found.ranker, fold.test, [f"mrr@{k}"])[f"mrr@{k}"])
                zero += not found.ranker.coef_.any()
            rows.append({"data": title(data), "map": way, "k": k, "mrr": float(np.mean(values)), "folds_at_zero": zero})
            print(rows[-1], flush=True)
    return rows


def draw(rows: list[dict[str, Any]]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), layout="constrained")
    axes = figure.subplots()
    styles = dict(zip(WAYS, ("--", "-", "-.", ":"), strict=True))
    for number, name in enumerate(dict.fromkeys(row["data"] for row in rows)):
        for way in WAYS:
            chosen = [row for row in rows if (row["data"], row["map"]) == (name, way)]
            line = ([row["k"] for row in chosen], [row["mrr"] for row in chosen])
            axes.plot(*line, styles[way], color=f"C{number}", marker=".", label=f"{name}, {way}")
    axes.set(xlabel="k", ylabel="MRR@k", title="Training on MRR@k with either feature map, five folds")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)
    save_figure(figure, "figure7.png")


def known() -> dict[str, list[dict[str, Any]]]:
    """Return the rows of figure7.csv by data set."""
    rows: dict[str, list[dict[str, Any]]] = {title(data): [] for data in CUTOFFS}
    for row in read_csv("figure7.csv"):
        numbers = {"k": int(row["k"]), "mrr": float(row["mrr"]), "folds_at_zero": int(row["folds_at_zero"])}
        rows[row["data"]].append({**row, **numbers})
    return rows


if __name__ == "__main__":
    found = known()
    for name in sys.argv[1:] or CUTOFFS:
        found[title(name)] = measure(name)
    every = [row for rows in found.values() for row in rows]
    write_csv("figure7.csv", every)
    draw(every)
