"""Tables and plot of learning.csv: means over seeds, and differences to naive with paired 95 % intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from argrank._tables import table, to_markdown
from experiments._common import read_csv, save_figure

Cell = tuple[str, str, str, int, str, str]  # data, eta, noise, clicks, ranker, method
PEERS = ("LightGBM position", "XGBoost unbiased")
HEAD = ("data", "eta", "noise", "clicks", "ranker", "learned from", "NDCG@10", "over naive, 95 %", "seeds")


def read(path: Path) -> dict[Cell, dict[str, float]]:
    """Return NDCG@10 by seed for every cell."""
    cells: dict[Cell, dict[str, float]] = {}
    for row in read_csv(path):
        key = (row["data"], row["eta"], row["noise"], int(row["clicks"]), row["ranker"], row["method"])
        cells.setdefault(key, {})[row["seed"]] = float(row["ndcg"])
    return cells


def over_naive(cells: dict[Cell, dict[str, float]], key: Cell) -> tuple[float, float] | None:
    """Return the mean difference to naive over seeds and half the width of its interval."""
    return None if key[5] in ("naive", "production") else over(cells[key], cells.get((*key[:5], "naive"), {}))


def over(own: dict[str, float], other: dict[str, float]) -> tuple[float, float] | None:
    """Return the mean difference over the seeds that both have, and half the width of its 95 % interval."""
    shared = [seed for seed in own if seed in other]
    if len(shared) < 2:
        return None
    found = np.array([own[seed] - other[seed] for seed in shared])
    wide = stats.t.ppf(0.975, len(found) - 1) * found.std(ddof=1) / np.sqrt(len(found))
    return float(found.mean()), float(wide)


def peers(cells: dict[Cell, dict[str, float]]) -> list[tuple[str, ...]]:
    """Return LightGBM and XGBoost with their own corrections beside lambda-mart from examinations, same clicks."""
    rows = []
    for key in sorted(cells):
        if key[5] in PEERS:
            ours = cells[(*key[:5], "examinations")]
            found = over(cells[key], ours)
            both = [np.mean([one[seed] for seed in cells[key]]) for one in (cells[key], ours)]
            text = _interval(found)
            rows.append((key[0], f"{key[3]:,}", key[5], *(f"{one:.4f}" for one in both), text, str(len(cells[key]))))
    return rows


def summary(cells: dict[Cell, dict[str, float]]) -> list[tuple[str, ...]]:
    """Return what was learned from 100,000 clicks at eta 1 and noise .1, a row for each data set and ranker."""
    rows = []
    for key in sorted({(*one[:5], "") for one in cells if one[1:4] == ("1", "0.1", 100_000) and one[5] == "naive"}):
        own = {method: cells[(*key[:5], method)] for method in ("naive", "examinations", "ips", "labels")}
        seeds = set.intersection(*(set(one) for one in own.values()))
        means = [f"{np.mean([one[seed] for seed in seeds]):.4f}" for one in own.values()]
        gains = [_interval(over(own[method], own["naive"])) for method in ("examinations", "ips")]
        rows.append((key[0], key[4], *means, *gains, str(len(seeds))))
    return rows


def _interval(found: tuple[float, float] | None) -> str:
    return "" if found is None else f"{found[0]:+.4f} ± {found[1]:.4f}"


def write(path: Path) -> None:
    """Write learning.md, its summary, learning_peers.md and the guide's plot; count significant differences."""
    cells = read(path)
    rows, sure = [], {"gains": 0, "losses": 0, "all": 0}
    for key in sorted(cells):
        found = over_naive(cells, key)
        text = _interval(found)
        if found is not None and key[5] in ("ips", "examinations"):
            sure["all"] += 1
            sure["gains"] += found[0] > found[1]
            sure["losses"] += -found[0] > found[1]
        values = list(cells[key].values())
        rows.append((*key[:3], f"{key[3]:,}", *key[4:], f"{np.mean(values):.4f}", text, str(len(values))))
    print(sure)
    path.with_suffix(".md").write_text(to_markdown([table(HEAD, rows, 6)]) + "\n")
    head = ("data", "ranker", "naive", "examinations", "ips", "labels", "over naive: examinations", "ips", "seeds")
    path.with_name("learning_summary.md").write_text(to_markdown([table(head, summary(cells), 2)]) + "\n")
    head = ("data", "clicks", "learned by", "NDCG@10", "lambda-mart, examinations", "difference, 95 %", "seeds")
    path.with_name("learning_peers.md").write_text(to_markdown([table(head, peers(cells), 3)]) + "\n")
    draw(cells, path.resolve().parents[2] / "docs" / "guide" / "learning.png")


def draw(cells: dict[Cell, dict[str, float]], path: Path) -> None:
    """Draw NDCG@10 against clicks, a panel for each data set and ranker."""
    from matplotlib.figure import Figure

    most = max(len(one) for one in cells.values())  # means over fewer seeds are of other queries
    main = [key for key, one in cells.items() if key[1:3] == ("1", "0.1") and key[4] != "auto" and len(one) == most]
    names, rankers = (sorted({key[place] for key in main}) for place in (0, 4))
    figure: Any = Figure(figsize=(12, 10), layout="constrained")
    axes = figure.subplots(len(rankers), len(names), sharex=True, sharey="col")
    methods = ("labels", "examinations", "ips", "naive", "LightGBM position", "XGBoost unbiased")
    for i, ranker in enumerate(rankers):
        for j, name in enumerate(names):
            for number, method in enumerate(methods):
                keys = sorted(key for key in main if (key[0], key[4], key[5]) == (name, ranker, method))
                if keys:
                    values = [np.mean(list(cells[key].values())) for key in keys]
                    style = "--" if method == "labels" else "-"
                    axes[i, j].plot([key[3] for key in keys], values, style, marker="o", ms=3, color=f"C{number}",
                                    label=method)  # fmt: skip
            axes[i, j].set(xscale="log", title=f"{name}, {ranker}")
    handles = {}
    for one in axes.ravel():
        handles |= dict(zip(*reversed(one.get_legend_handles_labels()), strict=True))
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=6)
    for one in axes[-1]:
        one.set_xlabel("clicks")
    figure.supylabel("NDCG@10 of test queries")
    save_figure(figure, path, 80)
