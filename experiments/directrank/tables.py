"""Put the tables together from the CSV files of this folder: tables.md and winning.png.

    python -m experiments.directrank.tables

Run it after the other scripts; what they have not finished is left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from experiments.directrank._common import HERE, Table, save_figure
from experiments.directrank.letor import DATA

LEVELS = [f"ndcg@{k}" for k in range(1, 11)]
GROUPS = {
    "Table 3: LETOR 3.0": ["OHSUMED-LETOR3", "td2003", "td2004"],
    "Table 4: LETOR 4.0": ["MQ2008", "MQ2007-agg"],
}
SURROGATES = ("regression", "rank-svm", "listnet", "rank-cosine", "svm-auc", "svm-map", "svm-ndcg-nc",
              "log-mle", "log-convex")  # fmt: skip
Means = dict[str, dict[str, dict[str, float]]]  # data -> learner -> column -> mean over folds


def means_of(rows: Iterable[dict[str, str]]) -> tuple[Means, dict[str, list[str]]]:
    """Return the means over the folds that every learner has finished, and which these are."""
    cells: dict[str, dict[str, dict[str, dict[str, str]]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        cells[row["data"]][row["fold"]][row["learner"]] = row
    found: Means = {}
    folds: dict[str, list[str]] = {}
    for data, by_fold in cells.items():
        most = max(len(learners) for learners in by_fold.values())
        folds[data] = [fold for fold, learners in by_fold.items() if len(learners) == most]
        found[data] = {
            learner: {
                key: float(np.mean([float(by_fold[fold][learner][key]) for fold in folds[data]]))
                for key, value in row.items()
                if key not in ("data", "fold", "learner") and value
            }
            for learner, row in by_fold[folds[data][0]].items()
        }
    return found, folds


def table(head: list[str], rows: Iterable[list[str]]) -> list[str]:
    """Return a table in Markdown."""
    return [joined(head), "|---|" + "--:|" * (len(head) - 1), *map(joined, rows), ""]


def joined(cells: Iterable[str]) -> str:
    """Return a row of a table in Markdown."""
    return "| " + " | ".join(cells) + " |"


def digits(row: Mapping[str, str | float], keys: Iterable[str], n: int = 4) -> list[str]:
    """Return cells with so many digits after the point, empty ones where there is nothing."""
    return [f"{float(row[key]):.{n}f}" if row.get(key, "") != "" else "" for key in keys]


def titled(data: str) -> str:
    """Return the name of a data set; of a stand-in that it is generated."""
    return f"{data} (generated)" if data.islower() else data


def winning(means: Means, sets: list[str]) -> dict[str, list[int]]:
    """Return how many rivals a learner beats, over all sets, at every level of NDCG."""
    learners = [name for name in means[sets[0]] if all(name in means[data] for data in sets)]
    return {
        name: [
            sum(means[data][name][level] > means[data][other][level] for data in sets for other in learners)
            for level in LEVELS
        ]
        for name in learners
    }


def letor(lines: list[str]) -> None:
    means, folds = means_of(Table("letor.csv").rows)
    drawn: dict[str, dict[str, list[int]]] = {}
    for title, group in GROUPS.items():
        sets = [data for data in group if data in means]
        if not sets:
            continue
        won = winning(means, sets)
        drawn[title] = won
        which = "; ".join(f"{titled(data)}, folds {', '.join(folds[data])}" for data in sets)
        lines += [f"## {title}", "", f"Winning numbers, of at most {len(sets) * (len(won) - 1)}. {which}.", ""]
        order = sorted(won, key=lambda name: -sum(won[name]))
        rows = ([name, *map(str, won[name]), str(sum(won[name]))] for name in order)
        lines += table(["learner", *LEVELS, "sum"], rows)
    for data, learners in means.items():
        best = {key: max(row[key] for row in learners.values()) for key in (*LEVELS, "map")}
        lines += [f"## {titled(data)}, folds {', '.join(folds[data])}, convention {DATA[data][1]}", ""]
        head = ["learner", "ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "map", "train ndcg@5", "climbed", "CPU s", "fits"]
        cells = []
        for name, row in sorted(learners.items(), key=lambda item: -item[1]["ndcg@5"]):
            shown = [f"**{row[key]:.4f}**" if row[key] == best[key] else f"{row[key]:.4f}" for key in head[1:6]]
            trained = digits(row, ("train ndcg@5", "climbed"))
            cells.append([name, *shown, *trained, *digits(row, ["cpu_seconds"], 1), *digits(row, ["fits"], 0)])
        lines += table(head, cells)
    lines += ["## Table 11: training NDCG@5 of DirectRank against convex surrogates", ""]
    best_surrogates = []
    for data, learners in means.items():
        name = max((name for name in SURROGATES if name in learners), key=lambda name: learners[name]["train ndcg@5"])
        ours = learners["direct-rank"]
        theirs = f"{learners[name]['train ndcg@5']:.4f} ({name})"
        best_surrogates.append([data, *digits(ours, ("climbed", "train ndcg@5")), theirs])
    lines += table(["data", "best iterate", "iterate of the best validation MAP", "best surrogate"], best_surrogates)
    draw(drawn)


def large(lines: list[str]) -> None:
    all_starts, all_rivals = Table("starts.csv").rows, Table("large.csv").rows
    columns = ["train ndcg@10", "test ndcg@1", "test ndcg@10", "test err", "test map"]
    for queries in dict.fromkeys(row["queries"] for row in all_starts):
        starts = [row for row in all_starts if row["queries"] == queries]
        chosen = max(starts, key=lambda row: float(row["valid"]))
        lines += [f"## Tables 6, 7 and 13: generated, MSLR's shape, {queries} training queries, convention yahoo", ""]
        ours = {"learner": f"direct-rank, best of {len(starts)} random starts", "fits": str(len(starts))}
        ours |= {"cpu_seconds": str(sum(float(row["cpu_seconds"]) for row in starts))}
        ours |= {key: chosen[key] for key in columns}
        rivals = [row for row in all_rivals if row["queries"] == queries]
        rows = sorted([ours, *rivals], key=lambda row: -float(row["test ndcg@10"]))
        cells = ([row["learner"], *digits(row, columns), *digits(row, ["cpu_seconds"], 1), row["fits"]] for row in rows)
        lines += table(["learner", *columns, "CPU s, all fits", "fits"], cells)
    lines += ["Random starts: means ± standard deviations over starts; a round moves 136 weights.", ""]
    spread = []
    for queries in dict.fromkeys(row["queries"] for row in all_starts):
        own = [row for row in all_starts if row["queries"] == queries]
        rounds, seconds, climbed, test = (
            np.array([float(row[key]) for row in own]) for key in ("rounds", "cpu_seconds", "climbed", "test ndcg@10")
        )
        both = [f"{values.mean():.4f} ± {values.std(ddof=1):.4f}" for values in (climbed, test)]
        each = f"{seconds.sum() / rounds.sum():.2f}"
        spread.append(
            [queries, str(len(own)), f"{rounds.mean():.1f} ({rounds.min():.0f} to {rounds.max():.0f})", each, *both]
        )
    head = ["training queries", "starts", "rounds", "CPU s a round", "training NDCG@10 reached", "test NDCG@10"]
    lines += table(head, spread)
    cut = Table("truncated.csv").rows
    if cut:
        lines += ["## Table 8: ERR and MAP on MQ2008, fold 1, whole lists and truncated", ""]
        head = ["learner", "climbed", "measure", "train", "test", "rounds", "CPU s"]
        lines += table(head, ([row["learner"], row["climbed"], row["measure"], *digits(row, ("train", "test")),
                               row["rounds"], *digits(row, ["cpu_seconds"], 1)] for row in cut))  # fmt: skip


def trees(lines: list[str]) -> None:
    rows = Table("trees.csv").rows
    for data in dict.fromkeys(row["data"] for row in rows):
        lines += [f"## Tables 9 and 10: {data}, convention yahoo", ""]
        keys = ["train ndcg@10", "test ndcg@1", "standard error ndcg@1", "test ndcg@10", "standard error ndcg@10"]
        own = [row for row in rows if row["data"] == data]
        head = ["learner", "leaves", "trees", *keys, "CPU s"]
        lines += table(head, ([row["learner"], row["leaves"], row["trees"], *digits(row, keys),
                               *digits(row, ["cpu_seconds"], 1)] for row in own))  # fmt: skip


def draw(groups: dict[str, dict[str, list[int]]]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.2), layout="constrained")
    names = sorted({name for won in groups.values() for name in won} - {"direct-rank"})
    for axes, (title, won) in zip(figure.subplots(1, len(groups), squeeze=False)[0], groups.items(), strict=True):
        for number, name in enumerate(names):
            style = {"color": f"C{number % 10}", "linestyle": "-" if number < 10 else "--"}
            axes.plot(range(1, 11), won[name], linewidth=1, label=name, **style)
        axes.plot(range(1, 11), won["direct-rank"], linewidth=3, color="black", label="direct-rank")
        axes.set(title=title, xlabel="NDCG@", ylabel="winning number", xticks=range(1, 11))
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", fontsize=8)
    save_figure(figure, "winning.png")


def main() -> None:
    lines = ["# DirectRank: the tables", "", "Made by `python -m experiments.directrank.tables`; see README.md.", ""]
    letor(lines)
    large(lines)
    trees(lines)
    (HERE / "tables.md").write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
