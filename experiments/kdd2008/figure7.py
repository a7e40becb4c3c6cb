"""Figure 7: phi_mrr against phi_po for training on MRR@k, tested by MRR@k, k = 1 … 10.

    ARGRANK_DATA=/folder/with/the/collections python -m experiments.kdd2008.figure7

C is chosen by validation MRR@k, the figures are means over five folds. The convex bound on phi_mrr collapses to w = 0
(figures4to6.csv), so the tight bound is shown beside it, on both maps. A fit ends after 50 passes at the latest.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import argrank as ar
from argrank.errors import ArgrankWarning
from experiments.kdd2008._common import fold_of, measured, save_figure, write_csv

DATA = ("OHSUMED-LETOR2", "MQ2008", "td2003")
WAYS: dict[str, dict[str, Any]] = {
    "phi_po": {"feature_map": "pairs", "scale": "pairs"},
    "phi_mrr": {"feature_map": "first"},
    "phi_po, tight bound": {"feature_map": "pairs", "scale": "pairs", "bound": "tight"},
    "phi_mrr, tight bound": {"feature_map": "first", "bound": "tight"},
}
VALUES = [1.0, 10.0, 100.0]
TIGHT = (1, 10)  # the cut-offs at which the tight bound is tried
LARGE = [1e3, 1e4]  # for phi_po, divided by the number of pairs; phi_mrr is a sum over up to k or more documents


def measure(data: str, cutoffs: tuple[int, ...]) -> list[dict[str, Any]]:
    folds = [fold_of(data, number) for number in range(1, 6)]
    rows = []
    for way, parameters in WAYS.items():
        for k in TIGHT if "bound" in parameters else cutoffs:
            values, zero = [], 0
            for fold in folds:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ArgrankWarning)
                    found = ar.select(
                        ar.make_ranker("svm-mrr", k=k, max_iter=50, **parameters),
                        {"C": VALUES + (LARGE if parameters["feature_map"] == "pairs" else [])},
                        fold.train,
                        fold.valid,
                        f"mrr@{k}",
                        convention="kdd2008",
                        progress=False,
                    )
                values.append(measured(found.ranker, fold.test, [f"mrr@{k}"])[f"mrr@{k}"])
                zero += not found.ranker.coef_.any()
            name = f"{data} (generated)" if data.islower() else data
            rows.append({"data": name, "map": way, "k": k, "mrr": float(np.mean(values)), "folds_at_zero": zero})
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


if __name__ == "__main__":
    found = [row for name in DATA for row in measure(name, (1, 5, 10) if name.islower() else tuple(range(1, 11)))]
    write_csv("figure7.csv", found)
    draw(found)
