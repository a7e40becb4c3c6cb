"""Put the tables together from the CSV files of this folder: tables.md and winning.png.

    python -m experiments.directrank.tables

Run it after the other scripts; what they have not finished is left out.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from experiments.directrank._common import HERE, Table
from experiments.directrank._markdown import difference, digits, table
from experiments.directrank._winning import letor


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


def truncated(lines: list[str]) -> None:
    rows = Table("truncated.csv").rows
    values: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for row in Table("truncated_queries.csv").rows:
        values[row["data"], row["learner"], row["climbed"]].append(float(row["value"]))
    for data in dict.fromkeys(row["data"] for row in rows):
        lines += [f"## Table 8: ERR and MAP on {data}, five folds, whole lists and truncated", ""]
        own = [row for row in rows if row["data"] == data]
        cells = []
        for learner, climbed, measure in dict.fromkeys((r["learner"], r["climbed"], r["measure"]) for r in own):
            folds = [row for row in own if (row["learner"], row["climbed"]) == (learner, climbed)]
            keys = ("train", "test", "rounds", "cpu_seconds")
            means = {key: float(np.mean([float(row[key]) for row in folds])) for key in keys}
            rival = values[data, "coordinate-ascent", measure]
            above = "" if learner == "coordinate-ascent" else difference(values[data, learner, climbed], rival)
            cells.append([learner, climbed, measure, *digits(means, keys[:2]), above, *digits(means, keys[2:], 1)])
        head = ["learner", "climbed", "measure", "train", "test", "above coordinate ascent", "rounds", "CPU s a fold"]
        lines += table(head, cells)


def trees(lines: list[str]) -> None:
    rows, by_query = Table("trees.csv").rows, Table("trees_queries.csv").rows
    keys = ["train ndcg@10", "test ndcg@1", "test ndcg@10"]
    values: dict[tuple[str, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in by_query:
        for key in ("ndcg@1", "ndcg@10"):
            values[row["data"], row["learner"], row["leaves"]][key].append(float(row[key]))
    for data in dict.fromkeys(row["data"] for row in rows):
        lines += [f"## Tables 9 and 10: {data}, convention yahoo", ""]
        cells = []
        for row in (row for row in rows if row["data"] == data):
            own = values[data, row["learner"], row["leaves"]]
            ours = values[data, "direct-rank-trees", row["leaves"]]
            below = ["" if row["learner"] == "direct-rank-trees" else difference(ours[key], own[key]) for key in own]
            name = [row["learner"], row["leaves"], row["setting"], row["trees"]]
            cells.append([*name, *digits(row, keys), *below, *digits(row, ["cpu_seconds"], 1)])
        above = [f"direct-rank-trees above it, {key}" for key in ("ndcg@1", "ndcg@10")]
        lines += table(["learner", "leaves", "setting", "trees", *keys, *above, "CPU s"], cells)


def main() -> None:
    lines = ["# DirectRank: the tables", "", "Made by `python -m experiments.directrank.tables`; see README.md.", ""]
    lines += ["Differences are paired over test queries, with their standard errors.", ""]
    for part in (letor, large, truncated, trees):
        part(lines)
    (HERE / "tables.md").write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
