"""Figure 7: phi_mrr against phi_po for training on MRR@k, tested by MRR@k, k = 1 … 10.

    ARGRANK_DATA=/folder/with/the/collections python -m experiments.kdd2008.figure7 [OHSUMED-LETOR2 MQ2008 td2003]

Computes the data sets that are named, all of them otherwise, and keeps the rows of the others. C is chosen by
validation MRR@k, the figures are means over five folds of OHSUMED and three of the others. The convex bound on
phi_mrr nearly always collapses to w = 0 (collapse.csv), so the tight bound is shown beside it, on both maps. A fit ends
after 50 passes at the latest. The column "at_an_end" counts the folds that chose an end of the grid whose neighbour has
another validation MRR@k: where C is so small that the tight bound stays at its start, a smaller one changes nothing.
"gain" is what phi_mrr has over phi_po by the same bound, over all test queries, with its standard error.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import argrank as ar
from argrank.data.folds import Fold
from experiments._common import at_an_end
from experiments.kdd2008._common import fit, fold_of, quiet, read_csv, save_figure, title, write_csv

WAYS: dict[str, dict[str, Any]] = {
    "phi_po": {"feature_map": "pairs", "bound": "convex"},
    "phi_mrr": {"feature_map": "first", "bound": "convex"},
    "phi_po, tight bound": {"feature_map": "pairs", "bound": "tight"},
    "phi_mrr, tight bound": {"feature_map": "first", "bound": "tight"},
}
RIVALS = {"phi_mrr": "phi_po", "phi_mrr, tight bound": "phi_po, tight bound"}
#: phi_po is divided by the number of pairs, phi_mrr a sum over up to k or more documents.
VALUES = {
    "pairs": [10.0**power for power in range(-4, 9)],
    "first": [10.0**power for power in range(-5, 7)],
}
DATA = {"OHSUMED-LETOR2": (1, 2, 3, 4, 5), "MQ2008": (1, 2, 3), "td2003": (1, 2, 3)}  # folds
CUTOFFS = range(1, 11)


def chosen(fold: Fold, k: int, parameters: dict[str, Any]) -> tuple[Any, bool]:
    """Return the ranker of the best C on the validation part, and whether this C is an end of the grid.

    Where w = 0 is proven for one C, it is for all.
    """
    fixed = {"k": k, "max_iter": 50, "n_jobs": 1, **parameters}
    values = VALUES[parameters["feature_map"]]
    first = fit("svm-mrr", fold.train, C=100.0, **fixed)
    if first.collapsed_ is not None:
        return first, False
    with quiet():
        ranker = ar.make_ranker("svm-mrr", **fixed)
        scoring = {"convention": "kdd2008", "n_jobs": 1, "progress": False}
        found = ar.select(ranker, {"C": values}, fold.train, fold.valid, f"mrr@{k}", **scoring)
    return found.ranker, at_an_end({point.params["C"]: point.value for point in found.points}, found.params["C"])


def tested_by(ranker: Any, data: ar.Dataset, measure: str) -> tuple[float, Any]:
    """Return the mean of a measure as the paper defines it, and its value on every query."""
    result = ar.evaluate(ranker.predict(data), data, measure, convention="kdd2008")
    return result.means[measure], result.values[measure]


def measure(data: str) -> list[dict[str, Any]]:
    folds = [fold_of(data, number) for number in DATA[data]]
    rows = []
    queries: dict[tuple[str, int], Any] = {}
    for way, parameters in WAYS.items():
        for k in CUTOFFS:
            found, ends = zip(*(chosen(fold, k, parameters) for fold in folds), strict=True)
            tested = [tested_by(one, fold.test, f"mrr@{k}") for one, fold in zip(found, folds, strict=True)]
            queries[way, k] = np.concatenate([values for _, values in tested])
            mean = float(np.mean([one for one, _ in tested]))
            zero = sum(not one.coef_.any() for one in found)
            rows.append({"data": title(data), "map": way, "k": k, "mrr": mean, "folds_at_zero": zero})
            rows[-1]["at_an_end"] = sum(ends)
            rows[-1]["chosen"] = " ".join(f"{one.C:g}" if one.coef_.any() else "-" for one in found)
            if way in RIVALS:
                gain = queries[way, k] - queries[RIVALS[way], k]
                gain = gain[~np.isnan(gain)]
                error = float(gain.std(ddof=1) / np.sqrt(len(gain)))
                rows[-1] |= {"gain": float(gain.mean()), "standard_error": error}
            print(rows[-1], flush=True)
    return rows


def draw(rows: list[dict[str, Any]]) -> None:
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(row["data"] for row in rows))
    figure = Figure(figsize=(12, 4), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(names), sharey=True), names, strict=True):
        for way, style in zip(WAYS, ("C0--", "C1-", "C0-.", "C1:"), strict=True):
            own = [row for row in rows if (row["data"], row["map"]) == (name, way)]
            axes.plot([row["k"] for row in own], [row["mrr"] for row in own], style, marker=".", label=way)
        axes.set(xlabel="k", xticks=CUTOFFS, title=name)
    figure.axes[0].set_ylabel("test MRR@k")
    figure.axes[-1].legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8, title="trained on MRR@k by")
    save_figure(figure, "figure7.png")


def known() -> dict[str, list[dict[str, Any]]]:
    """Return the rows of figure7.csv by data set."""
    rows: dict[str, list[dict[str, Any]]] = {title(data): [] for data in DATA}
    for row in read_csv("figure7.csv"):
        numbers = {"k": int(row["k"]), "mrr": float(row["mrr"]), "folds_at_zero": int(row["folds_at_zero"])}
        rows[row["data"]].append({**row, **numbers})
    return rows


if __name__ == "__main__":
    found = known()
    for name in sys.argv[1:] or DATA:
        found[title(name)] = measure(name)
    blank = dict.fromkeys(("gain", "standard_error"), "")
    every = [row | blank | row for rows in found.values() for row in rows]
    write_csv("figure7.csv", every)
    draw(every)
