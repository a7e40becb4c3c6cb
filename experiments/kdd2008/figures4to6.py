"""Figures 4, 5 and 6: average slack, objective over objective at w = 0, and |w|, against C.

    ARGRANK_DATA=/folder/with/the/collections python -m experiments.kdd2008.figures4to6

On the training part of fold 1. The paper does not say which data its figures show; here are OHSUMED, MQ2008 and the
stand-in of TD2004. |w| is drawn as in the paper, each line divided by its right-most point. ``proven`` says whether the
fit has the proof that w = 0 is the optimum for every C.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.kdd2008._common import RANKERS, fit, fold_of, save_figure, title, write_csv

DATA = ("OHSUMED-LETOR2", "MQ2008", "td2004")
VALUES = (1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4)
PANELS = {
    "average_slack": "Figure 4: average slack",
    "objective_ratio": "Figure 5: objective / that of w = 0",
    "scaled_norm": "Figure 6: |w| / |w| at the greatest C",
}


def measure(data: str) -> list[dict[str, Any]]:
    train = fold_of(data).train
    rows = []
    for name, (ranker, parameters) in RANKERS.items():
        fits = {C: fit(ranker, train, C=C, n_jobs=1, **parameters) for C in VALUES}
        norms = {C: float(np.linalg.norm(one.coef_)) for C, one in fits.items()}
        for C, fitted in fits.items():
            last = fitted.trace_[-1]
            rows.append(
                {
                    "data": title(data),
                    "ranker": name,
                    "C": C,
                    "average_slack": last["average_slack"],
                    "objective_ratio": fitted.objective_ / fitted.objective_at_zero_,
                    "norm": norms[C],
                    "scaled_norm": norms[C] / (norms[VALUES[-1]] or 1.0),
                    "proven": fitted.collapsed_ is not None,
                    "relative_gap": fitted.gap_ / fitted.objective_,
                    "passes": last["n_passes"],
                }
            )
            print(rows[-1], flush=True)
    return rows


def draw(rows: list[dict[str, Any]]) -> None:
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(row["data"] for row in rows))
    figure = Figure(figsize=(12, 3 * len(names)), layout="constrained")
    grid = figure.subplots(len(names), len(PANELS), sharex=True)
    for line, name in zip(grid, names, strict=True):
        for axes, (column, what) in zip(line, PANELS.items(), strict=True):
            for ranker in RANKERS:
                chosen = [row for row in rows if (row["data"], row["ranker"]) == (name, ranker)]
                axes.plot([row["C"] for row in chosen], [row[column] for row in chosen], marker=".", label=ranker)
            axes.set(xscale="log", ylabel=what)
        line[1].set_title(name)
        line[-1].legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)
    for axes in grid[-1]:
        axes.set_xlabel("C")
    save_figure(figure, "figures4to6.png")


if __name__ == "__main__":
    measured = [row for name in DATA for row in measure(name)]
    write_csv("figures4to6.csv", measured)
    draw(measured)
