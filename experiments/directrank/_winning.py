"""Tables 3, 4 and 11 from letor.csv: winning numbers, means over folds, training NDCG; and the picture of the first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

import argrank as ar
from experiments import _common as shared
from experiments.directrank._common import Table, save_figure
from experiments.directrank._markdown import above, digits, table
from experiments.directrank._rivals import trees
from experiments.directrank.letor import DATA, FEW

LEVELS = [f"ndcg@{k}" for k in range(1, 11)]
#: The stand-ins are generated, and MQ2007-agg is not the paper's MQ2007: there are tables without them.
GROUPS = {
    "Table 3, LETOR 3.0: OHSUMED": ["OHSUMED-LETOR3"],
    "Table 4, LETOR 4.0: MQ2008": ["MQ2008"],
    "Table 4, LETOR 4.0: MQ2008 and MQ2007-agg": ["MQ2008", "MQ2007-agg"],
    "Table 3, generated stand-ins": ["td2003", "td2004"],
}
DRAWN = 5  # rivals with a colour of their own
TREES = set(trees(5))
SURROGATES = ("regression", "rank-svm", "listnet", "rank-cosine", "svm-auc", "svm-map", "svm-ndcg-nc", "svm-ndcg",
              "svm-mrr", "svm-combo", "dorm", "log-mle", "log-convex")  # fmt: skip
Means = dict[str, dict[str, dict[str, float]]]  # data -> ranker -> column -> mean over folds
Won = dict[str, list[int]]


def letor(lines: list[str]) -> None:
    """Append the tables and draw the picture."""
    means, folds, collapsed = means_of(Table("letor.csv").rows)
    which = {data: f"{shared.title(data)}, folds {', '.join(numbers)}" for data, numbers in folds.items()}
    drawn: dict[str, Won] = {}
    for title, group in GROUPS.items():
        sets = [data for data in group if data in means]
        if sets == group:
            drawn[title] = winning(means, sets, without=TREES)
            lines += [f"## {title}", "", *numbers_table(drawn[title], winning(means, sets), len(sets))]
    for data, rankers in means.items():
        lines += [f"## {which[data]}, convention {DATA[data][1]}", ""]
        lines += data_table(rankers, collapsed[data])
    lines += ["## Table 11: training NDCG@5 of DirectRank against convex surrogates", ""]
    head = ["data", "best iterate", "iterate of the best validation MAP", "best surrogate"]
    lines += table(head, (trained(data, rankers) for data, rankers in means.items()))
    draw(drawn)


def means_of(rows: Iterable[dict[str, str]]) -> tuple[Means, dict[str, list[str]], dict[str, dict[str, int]]]:
    """Return the means over the folds that every ranker has finished, which these are, and where fits collapsed.

    Standard errors of folds become that of the mean over folds.
    """
    cells: dict[str, dict[str, dict[str, dict[str, str]]]] = defaultdict(lambda: defaultdict(dict))
    collapsed: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for row in rows:
        cells[row["data"]][row["fold"]][row["ranker"]] = row
        collapsed[row["data"]][row["ranker"]] += row["setting"].endswith("collapsed")
    found: Means = {}
    folds: dict[str, list[str]] = {}
    for data, by_fold in cells.items():
        most = max(len(rankers) for rankers in by_fold.values())
        folds[data] = [fold for fold, rankers in by_fold.items() if len(rankers) == most]
        found[data] = defaultdict(dict)
        for ranker, row in by_fold[folds[data][0]].items():
            for key, value in row.items():
                if key not in ("data", "fold", "ranker", "setting") and value:
                    values = np.array([float(by_fold[fold][ranker][key]) for fold in folds[data]])
                    found[data][ranker][key] = error_of(values) if key.startswith("error") else float(values.mean())
    return found, folds, collapsed


def error_of(errors: NDArray[np.float64]) -> float:
    """Return the standard error of a mean over folds from those of the folds."""
    return float(np.sqrt((errors**2).sum()) / len(errors))


def winning(means: Means, sets: list[str], without: Iterable[str] = ()) -> Won:
    """Return how many rivals a ranker beats, over all sets, at every level of NDCG.

    DirectRank from few starts replaces DirectRank from many; the two are never counted together.
    """
    rankers = [name for name in means[sets[0]] if all(name in means[data] for data in sets) and name not in without]
    won: dict[str, dict[str, int]] = {}
    for absent in ("direct-rank", FEW):
        present = [name for name in rankers if name != absent]
        won |= ar.winning_numbers({
            data: {name: {level: means[data][name][level] for level in LEVELS} for name in present} for data in sets
        })  # fmt: skip
    return {name: list(won[name].values()) for name in rankers}


def numbers_table(won: Won, of_all: Won, n_sets: int) -> list[str]:
    """Return winning numbers among the rankers without trees, and their sums among all rankers."""
    most, most_of_all = n_sets * (len(won) - 2), n_sets * (len(of_all) - 2)
    text = f"At most {most} at each level; among all {len(of_all) - 1} rankers, with those of trees, {most_of_all}."
    rows = (
        [
            name if name in won else f"{name} (trees)",
            *(map(str, won[name]) if name in won else [""] * len(LEVELS)),
            str(sum(won[name])) if name in won else "",
            str(sum(of_all[name])),
        ]
        for name in sorted(of_all, key=lambda name: (-sum(won.get(name, [])), -sum(of_all[name])))
    )
    return [text, "", *table(["ranker", *LEVELS, "sum", "sum among all"], rows)]


def data_table(rankers: dict[str, dict[str, float]], collapsed: dict[str, int]) -> list[str]:
    """Return the means of every ranker on one data set."""
    keys = ["ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "map"]
    best = {key: max(row[key] for row in rankers.values()) for key in keys}
    cells = []
    for name, row in sorted(rankers.items(), key=lambda item: -item[1]["ndcg@5"]):
        shown = [f"**{row[key]:.4f}**" if row[key] == best[key] else f"{row[key]:.4f}" for key in keys]
        notes = ["trees"] * (name in TREES) + [f"{collapsed[name]} collapsed"] * (collapsed[name] > 0)
        ours = rankers["direct-rank"]["ndcg@10"]
        compared = "" if name == "direct-rank" else above(row["ndcg@10"], ours, row["error ndcg@10"])
        cells.append([
            f"{name} ({', '.join(notes)})" if notes else name, *shown, compared,
            *digits(row, ("train ndcg@5", "climbed")), *digits(row, ["cpu_seconds"], 1), *digits(row, ["fits"], 0),
        ])  # fmt: skip
    head = ["ranker", *keys, "ndcg@10 above direct-rank", "train ndcg@5", "climbed", "CPU s", "fits"]
    return table(head, cells)


def trained(data: str, rankers: dict[str, dict[str, float]]) -> list[str]:
    """Return the row of Table 11 of a data set."""
    name = max((name for name in SURROGATES if name in rankers), key=lambda name: rankers[name]["train ndcg@5"])
    ours = digits(rankers["direct-rank"], ("climbed", "train ndcg@5"))
    return [shared.title(data), *ours, f"{rankers[name]['train ndcg@5']:.4f} ({name})"]


def draw(groups: dict[str, Won]) -> None:
    """Draw winning numbers by level: DirectRank, its strongest rivals by name, all others in grey."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.5 * len(groups), 5.2), layout="constrained")
    for axes, (title, won) in zip(figure.subplots(1, len(groups), squeeze=False)[0], groups.items(), strict=True):
        order = sorted(set(won) - {"direct-rank", FEW}, key=lambda name: -sum(won[name]))
        for name in order[DRAWN:]:
            axes.plot(range(1, 11), won[name], color="0.85", linewidth=1)
        for name in order[:DRAWN]:
            axes.plot(range(1, 11), won[name], linewidth=1.5, label=name)
        axes.plot(range(1, 11), won["direct-rank"], linewidth=3, color="black", label="direct-rank")
        axes.plot(range(1, 11), won[FEW], linewidth=2, color="black", linestyle="--", label=FEW)
        axes.set(title=title, xlabel="NDCG@", ylabel="winning number", xticks=range(1, 11))
        axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncol=3)
    save_figure(figure, "winning.png")
