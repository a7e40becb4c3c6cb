"""Make the tables from the CSV files of this folder: tables.md and winning.png.

    python -m experiments.directrank.tables

Run it after the other scripts; what they have not finished is left out.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from experiments.directrank._common import HERE, Table
from experiments.directrank._markdown import above, digits, table
from experiments.directrank._winning import error_of, letor


def large(lines: list[str]) -> None:
    all_starts, all_rivals = Table("starts.csv").rows, Table("large.csv").rows
    columns = ["train ndcg@10", "test ndcg@1", "test ndcg@10", "test err", "test map"]
    for queries in dict.fromkeys(row["queries"] for row in all_starts):
        starts = [row for row in all_starts if row["queries"] == queries]
        chosen = max(starts, key=lambda row: float(row["valid"]))
        lines += [f"## Tables 6, 7 and 13: generated, MSLR's shape, {queries} training queries, convention yahoo", ""]
        ours = {"ranker": f"direct-rank, best of {len(starts)} random starts", "fits": str(len(starts))}
        ours |= {"cpu_seconds": str(sum(float(row["cpu_seconds"]) for row in starts))}
        ours |= {key: chosen[key] for key in columns}
        rivals = [row for row in all_rivals if row["queries"] == queries]
        rows = sorted([ours, *rivals], key=lambda row: -float(row["test ndcg@10"]))
        cells = ([named(row), *digits(row, columns), *digits(row, ["cpu_seconds"], 1), row["fits"]] for row in rows)
        lines += table(["ranker", *columns, "CPU s, all fits", "fits"], cells)
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


def named(row: dict[str, str]) -> str:
    """Return the name of a ranker, and whether it learned nothing."""
    return row["ranker"] + " (collapsed)" * row.get("setting", "").endswith("collapsed")


def truncated(lines: list[str]) -> None:
    rows = Table("truncated.csv").rows
    keys = ("train", "test", "rounds", "cpu_seconds")
    for data in dict.fromkeys(row["data"] for row in rows):
        lines += [f"## Table 8: ERR and MAP on {data}, five folds, whole lists and truncated", ""]
        groups: dict[tuple[str, str, str], list[dict[str, str]]] = defaultdict(list)
        for row in rows:
            if row["data"] == data:
                groups[row["ranker"], row["climbed"], row["measure"]].append(row)
        means = {
            name: {key: float(np.mean([float(fold[key]) for fold in own])) for key in keys}
            for name, own in groups.items()
        }
        cells = []
        for (ranker, climbed, measure), own in groups.items():
            mean, rival = means[ranker, climbed, measure], means["coordinate-ascent", measure, measure]
            error = error_of(np.array([float(fold["error"]) for fold in own]))
            compared = "" if ranker == "coordinate-ascent" else above(mean["test"], rival["test"], error)
            cells.append([ranker, climbed, measure, *digits(mean, keys[:2]), compared, *digits(mean, keys[2:], 1)])
        head = ["ranker", "climbed", "measure", "train", "test", "above coordinate ascent", "rounds", "CPU s a fold"]
        lines += table(head, cells)


def trees(lines: list[str]) -> None:
    rows = Table("trees.csv").rows
    keys, tested = ["train ndcg@10", "test ndcg@1", "test ndcg@10"], ["ndcg@1", "ndcg@10"]
    for data in dict.fromkeys(row["data"] for row in rows):
        lines += [f"## Tables 9 and 10: {data}, convention yahoo", ""]
        own = [row for row in rows if row["data"] == data]
        ours = {row["leaves"]: row for row in own if row["ranker"] == "direct-rank-trees"}
        cells = []
        for row in own:
            compared = [
                above(row[f"test {key}"], ours[row["leaves"]][f"test {key}"], row[f"error {key}"])
                if row["ranker"] != "direct-rank-trees" else ""
                for key in tested
            ]  # fmt: skip
            name = [row["ranker"], row["leaves"], row["setting"], row["trees"]]
            cells.append([*name, *digits(row, keys), *compared, *digits(row, ["cpu_seconds"], 1)])
        head = [f"{key} above direct-rank-trees" for key in tested]
        lines += table(["ranker", "leaves", "setting", "trees", *keys, *head, "CPU s"], cells)


def main() -> None:
    lines = ["# DirectRank: the tables", "", "Made by `python -m experiments.directrank.tables`; see README.md.", ""]
    lines += ["Differences are paired over test queries, with their standard errors.", ""]
    for part in (letor, large, truncated, trees):
        part(lines)
    (HERE / "tables.md").write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
