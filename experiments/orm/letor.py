"""Figure 4: NDCG@1 … NDCG@10 of the three bounds, SmoothGrad, RankSVM and regression on OHSUMED and MQ2008.

    ARGRANK_DATA=/folder/with/the/collections python -m experiments.orm.letor [OHSUMED-LETOR2 …]

All but regression are trained on NDCG@10 or pairs and chosen by validation NDCG@10; figures are means over the official
folds, in the convention of the published rows (letor3, letor4). Per-query differences of all test queries go to
letor-tests.csv. Fits of the bounds that are not convex end when an approximation gains less than 1 %, and all fits
after 200 passes (SmoothGrad: 300). Data sets that are not named keep their rows.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from argrank.data.folds import Fold
from experiments._common import collapsed
from experiments.orm._common import (
    CONVENTIONS,
    CUTOFFS,
    MEASURES,
    choose,
    difference,
    folds_of,
    per_query,
    read_csv,
    save_figure,
    write_csv,
)  # fmt: skip

VALUES = [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4, 1e5]
LINEAR = [value / 100 for value in VALUES]  # c = k+1-i is up to ten times c = a, its best weights that much smaller
RIDGE = {"ridge": [0.0, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e7]}
QUIET: dict[str, Any] = {"verbose": -1, "max_iter": 200, "n_jobs": 1}
CONVEX: dict[str, Any] = {**QUIET, "bound": "convex"}
TIGHT: dict[str, Any] = {**QUIET, "tol": 1e-2}
PAIRS = [0.005, 0.05, 0.5, 5.0, 50.0, 500.0, 5e3, 5e4, 5e5]

#: title -> ranker, parameters, grid
RANKERS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "regression": ("regression", {}, {"ridge": [0.0]}),
    "regression, ridge": ("regression", {}, RIDGE),
    "RankSVM": ("rank-svm", {}, {"C": PAIRS}),
    "convex, c = k+1-i": ("orm", {**CONVEX, "decay": "linear"}, {"C": LINEAR}),
    "convex, c = a": ("orm", {**CONVEX, "decay": "measure"}, {"C": VALUES}),
    "tie-broken, c = a": ("orm", {**TIGHT, "bound": "tie-broken", "decay": "measure"}, {"C": VALUES}),
    "tight, c = k+1-i": ("orm", {**TIGHT, "bound": "tight", "decay": "linear"}, {"C": LINEAR}),
    "tight, c = a": ("orm", {**TIGHT, "bound": "tight", "decay": "measure"}, {"C": VALUES}),
    "tight near w0, c = a": (
        "orm", {**TIGHT, "bound": "tight", "decay": "measure", "w0": "regression"}, {"C": VALUES},
    ),
    "tight near ridge, c = a": ("orm", {**TIGHT, "bound": "tight", "decay": "measure", "w0": RIDGE}, {"C": VALUES}),
    "SmoothGrad": ("smooth-grad", {"verbose": -1, "max_iter": 300, "n_jobs": 1, "w0": "regression"}, {"C": VALUES}),
}  # fmt: skip

#: Rows that came with LETOR: NDCG@1 … NDCG@10. MQ2008 has none whose source is known.
PUBLISHED = {
    ("OHSUMED-LETOR2", "RankBoost, published"): ".4977 .4827 .4726 .4609 .4502 .4417 .4391 .4364 .4333 .4356",
    ("OHSUMED-LETOR2", "RankSVM, published"): ".4952 .4755 .4649 .4595 .4579 .4547 .4469 .4448 .4435 .4411",
    ("OHSUMED-LETOR3", "RankBoost, published"): ".4632 .4504 .4555 .4543 .4494 .4439 .4412 .4361 .4326 .4302",
    ("OHSUMED-LETOR3", "RankSVM, published"): ".4958 .4331 .4207 .4240 .4164 .4159 .4133 .4072 .4124 .4140",
}

#: The rankers against which the others are tested.
OURS = ("tie-broken, c = a", "tight, c = a", "tight near w0, c = a", "tight near ridge, c = a")


def measure(data: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the means of every ranker, and what differs between them."""
    folds, rows, values = folds_of(data), [], {}
    for title, (ranker, parameters, grid) in RANKERS.items():
        found = [_chosen(ranker, _near(parameters, fold), grid, fold) for fold in folds]
        parts = [
            per_query(one.ranker.predict(fold.test), fold.test, CONVENTIONS[data])
            for one, fold in zip(found, folds, strict=True)
        ]
        means = np.mean([part.mean(axis=0) for part in parts], axis=0)
        values[title] = np.concatenate(parts)
        n_collapsed = sum(collapsed(one.ranker) for one in found)
        chosen = " ".join(f"{value:.3g}" for one in found for value in one.params.values())
        rows.append(_row(data, title, means.tolist(), n_collapsed, chosen))
    rows += [
        _row(*key, [float(value) for value in row.split()], "", "") for key, row in PUBLISHED.items() if key[0] == data
    ]
    base = {"data": data}
    tests = [
        {**base, "ranker": own, "against": title, **difference(values[own], values[title])}
        for own in OURS
        for title in RANKERS
        if title != own
    ]
    return rows, tests


def _chosen(ranker: str, parameters: dict[str, Any], grid: dict[str, Any], fold: Fold) -> Any:
    """Choose on the validation part; where w = 0 is proven to be the optimum for one C, it is for all."""
    if parameters.get("bound") == "convex":
        only = {"C": grid["C"][len(grid["C"]) // 2 :][:1]}
        first = choose(ranker, parameters, only, fold.train, fold.valid)
        if first.ranker.collapsed_ is not None:
            return first
    return choose(ranker, parameters, grid, fold.train, fold.valid)


def _near(parameters: dict[str, Any], fold: Fold) -> dict[str, Any]:
    """Replace a grid of ridges by the weights of the chosen ridge regression."""
    if parameters.get("w0") is not RIDGE:
        return parameters
    return {**parameters, "w0": choose("regression", {}, RIDGE, fold.train, fold.valid).ranker.coef_}


def _row(data: str, title: str, means: list[float], n_collapsed: Any, chosen: str) -> dict[str, Any]:
    row = {"data": data, "ranker": title, **dict(zip(MEASURES, means, strict=True))}
    print(data, title, " ".join(f"{value:.4f}" for value in means), n_collapsed, chosen, flush=True)
    return {**row, "folds_collapsed": n_collapsed, "chosen": chosen}


def draw(rows: list[dict[str, Any]]) -> None:
    """Draw a panel for each data set, as Figure 4."""
    from matplotlib.figure import Figure

    shown = {
        "regression": ("C7", ":"), "RankSVM": ("C0", "-"), "RankSVM, published": ("C0", "--"),
        "RankBoost, published": ("C1", "--"), "SmoothGrad": ("C2", "-"), "tight, c = a": ("C3", "-"),
        "tight near ridge, c = a": ("C3", "--"), "tie-broken, c = a": ("C4", "-"), "convex, c = a": ("C5", ":"),
    }  # fmt: skip
    figure = Figure(figsize=(16, 4), layout="constrained")
    panels = figure.subplots(1, len(CONVENTIONS))
    for axes, (data, convention) in zip(panels, CONVENTIONS.items(), strict=True):
        for row in rows:
            if row["data"] == data and row["ranker"] in shown:
                colour, line = shown[row["ranker"]]
                values = [float(row[name]) for name in MEASURES]
                axes.plot(CUTOFFS, values, line, color=colour, marker=".", label=row["ranker"])
        axes.set(xlabel="k", ylabel="NDCG@k", title=f"{data} ({convention})", xticks=CUTOFFS)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize=8)
    save_figure(figure, "figure4.png")


if __name__ == "__main__":
    asked = sys.argv[1:] or list(CONVENTIONS)
    files = ("letor.csv", "letor-tests.csv")
    held = {name: read_csv(name) for name in files}
    for data in asked:
        for name, fresh in zip(files, measure(data), strict=True):
            parts = {**{one: [row for row in held[name] if row["data"] == one] for one in CONVENTIONS}, data: fresh}
            held[name] = [row for part in parts.values() for row in part]
            write_csv(name, held[name])
    draw(held["letor.csv"])
