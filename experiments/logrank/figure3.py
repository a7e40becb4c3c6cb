"""Make Figure 3: a table for each measure, the micro-average, and how often the paper's sentences hold.

    python -m experiments.logrank.figure3 results/figure3 …

The arguments are the output folders of ``argrank experiment`` for figure3.toml or figure3_standins.toml, or for parts
of them; the table is called as the first of them.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import wilcoxon

import argrank as ar
from argrank.trials.store import slug

HERE = Path(__file__).parent
MEASURES = ("map", "ndcg@1", "ndcg@5", "ndcg@10")
BASELINES = ("SVMmap", "RankBoost", "RankSVM", "ListNet")
GAINS = ("ExpGain AUC", "ExpGain MAP", "ExpGain NDCG")
CONVEX = ("ConvexLoss AUC", "ConvexLoss MAP", "ConvexLoss NDCG")
ALL = "micro-average"

#: data -> ranker -> measure -> mean over folds
Table = dict[str, dict[str, dict[str, float]]]


def is_real(data: str) -> bool:
    """Return whether data is real, not a generated stand-in."""
    return not data.endswith("(generated)")


def read(folders: list[Path]) -> tuple[Table, dict[str, dict[str, dict[str, list[float]]]], dict[str, str]]:
    """Return the means by data set, the values of all test queries and the convention of each data set."""
    means: Table = {}
    conventions: dict[str, str] = {}
    values: dict[str, dict[str, dict[str, list[float]]]] = {}
    for folder in folders:
        results = json.loads((folder / "results.json").read_text())
        conventions |= results["conventions"]
        for data, rows in results["means"].items():
            means[data] = rows
            own: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
            with (folder / "per_query" / f"{slug(data)}.csv").open() as stream:
                for row in csv.DictReader(stream):
                    for name in MEASURES:
                        own[row["ranker"]][name].append(float(row[name] or "nan"))
            values[data] = {ranker: dict(found) for ranker, found in own.items()}
    real = {data: own for data, own in values.items() if is_real(data)}
    if real:
        means[ALL] = ar.micro_average(real)
    return means, values, conventions


def tables(means: Table, values: dict[str, dict[str, dict[str, list[float]]]]) -> list[str]:
    """Return a table for each measure; the three best cells of a column are marked 1, 2, 3."""
    lines = []
    for name in MEASURES:
        lines += [f"## {name}", "", f"| trained on | {' | '.join(means)} |", f"|---|{'--:|' * len(means)}"]
        order = {data: sorted(rows, key=lambda one: -rows[one][name])[:3] for data, rows in means.items()}
        for ranker in next(iter(means.values())):
            cells = []
            for data, rows in means.items():
                place = f" ({order[data].index(ranker) + 1})" if ranker in order[data] else ""
                cells.append(f"{rows[ranker][name]:.3f}{place}")
            lines.append(f"| {ranker} | {' | '.join(cells)} |")
        lines.append("")
    counts = ", ".join(f"{data} {len(next(iter(own.values()))['map'])}" for data, own in values.items())
    note = " The micro-average is over those of the real sets." if ALL in means else ""
    return [*lines, f"Test queries: {counts}.{note}", ""]


def claims(means: Table) -> list[str]:
    """Return how often, over the cells of data set and measure, each sentence of section 5.2 holds."""
    cells = [{ranker: row[name] for ranker, row in rows.items()} for rows in means.values() for name in MEASURES]
    real = [is_real(data) for data in means for _ in MEASURES]
    micro = [{ranker: row[name] for ranker, row in means.get(ALL, {}).items()} for name in MEASURES if ALL in means]

    def top(cell: dict[str, float], rankers: tuple[str, ...]) -> float:
        return max(cell[ranker] for ranker in rankers)

    sentences = [
        ("MLE beats all baselines", "16 of 32", [cell["MLE"] > top(cell, BASELINES) for cell in cells]),
        (
            "the best ExpGain beats all baselines",
            "26 of 32",
            [top(cell, GAINS) > top(cell, BASELINES) for cell in cells],
        ),
        ("the best ExpGain beats MLE", "21 of 32", [top(cell, GAINS) > cell["MLE"] for cell in cells]),
        ("ExpGain MAP beats SVMmap", "cut", [cell["ExpGain MAP"] > cell["SVMmap"] for cell in cells]),
        ("ExpGain AUC beats RankSVM", "cut", [cell["ExpGain AUC"] > cell["RankSVM"] for cell in cells]),
        (
            "a ConvexLoss is the best of all",
            "26 of 32",
            [top(cell, CONVEX) >= max(cell.values()) for cell in cells],
        ),
        ("the best ConvexLoss beats MLE", "29 of 32", [top(cell, CONVEX) > cell["MLE"] for cell in cells]),
        (
            "the best ConvexLoss beats the best ExpGain",
            "25 of 32",
            [top(cell, CONVEX) > top(cell, GAINS) for cell in cells],
        ),
        (
            "ConvexLoss NDCG beats ExpGain NDCG",
            "25 of ?",
            [cell["ConvexLoss NDCG"] > cell["ExpGain NDCG"] for cell in cells],
        ),
        ("ConvexLoss MAP beats SVMmap", "cut", [cell["ConvexLoss MAP"] > cell["SVMmap"] for cell in cells]),
        ("ConvexLoss AUC beats RankSVM", "cut", [cell["ConvexLoss AUC"] > cell["RankSVM"] for cell in cells]),
        (
            "ConvexLoss NDCG is best on the micro-average",
            "cut",
            [c["ConvexLoss NDCG"] >= max(c.values()) for c in micro],
        ),
        ("L3 is the best of all", "", [cell["L3 NDCG"] >= max(cell.values()) for cell in cells]),
        ("one ConvexLoss alone beats MLE: AUC", "", [cell["ConvexLoss AUC"] > cell["MLE"] for cell in cells]),
        ("one ConvexLoss alone beats MLE: MAP", "", [cell["ConvexLoss MAP"] > cell["MLE"] for cell in cells]),
        ("one ConvexLoss alone beats MLE: NDCG", "", [cell["ConvexLoss NDCG"] > cell["MLE"] for cell in cells]),
    ]
    kinds = [kind for kind in (True, False) if kind in real]
    heads = " | ".join("real" if kind else "generated" for kind in kinds)
    lines = [
        "## How often the sentences hold",
        "",
        f"| sentence | paper | {heads} |",
        f"|---|--:|{'--:|' * len(kinds)}",
    ]
    for text, paper, held in sentences:
        if not held:  # of the micro-average, which only real sets have
            continue
        marks = real if len(held) == len(real) else [True] * len(held)
        ours = [[holds for holds, mark in zip(held, marks, strict=True) if mark is wanted] for wanted in kinds]
        lines.append(f"| {text} | {paper} | {' | '.join(f'{sum(part)} of {len(part)}' for part in ours)} |")
    micro_note = "; the micro-average counts as a real data set, as in the paper" if ALL in means else ""
    counts = " and ".join(f"{sum(is_real(data) is kind for data in means)} x {len(MEASURES)}" for kind in kinds)
    return [
        *lines,
        "",
        f"Cells are data set times measure{micro_note}: {counts} here, 8 x 4 in the paper.",
        "",
        "The best of three against one has three chances.",
        "",
    ]


def tests(values: dict[str, dict[str, dict[str, list[float]]]]) -> list[str]:
    """Return paired differences over all test queries of a data set, Wilcoxon's p, not corrected."""
    pairs = (
        ("ConvexLoss AUC", "MLE"),
        ("ConvexLoss MAP", "MLE"),
        ("ConvexLoss NDCG", "MLE"),
        ("ConvexLoss NDCG", "ExpGain NDCG"),
        ("ConvexLoss MAP", "SVMmap"),
        ("MLE", "RankSVM"),
        ("ExpGain MAP", "SVMmap"),
        ("ExpGain AUC", "RankSVM"),
        ("ConvexLoss AUC", "RankSVM"),
        ("L3 NDCG", "ConvexLoss NDCG"),
    )
    lines = ["## Paired differences in MAP", "", f"| less | {' | '.join(values)} |", f"|---|{'--:|' * len(values)}"]
    for one, other in pairs:
        cells = []
        for own in values.values():
            difference = np.subtract(own[one]["map"], own[other]["map"])
            difference = difference[np.isfinite(difference)]
            p = wilcoxon(difference).pvalue if difference.any() else 1.0
            error = difference.std(ddof=1) / len(difference) ** 0.5
            shown = "< .01" if p < 0.01 else f"{p:.2f}"
            cells.append(f"{difference.mean():+.3f} ± {error:.3f} (p {shown})")
        lines.append(f"| {one} less {other} | {' | '.join(cells)} |")
    return [
        *lines,
        "",
        "Mean ± standard error over the test queries of each data set, p of Wilcoxon, not corrected.",
        "",
    ]


def main(folders: list[Path]) -> None:
    means, values, conventions = read(folders)
    groups = {name: [data for data, own in conventions.items() if own == name] for name in conventions.values()}
    words = "; ".join(f"{name} ({', '.join(own)})" for name, own in groups.items())
    lines = ["# Figure 3", "", f"Means over folds, parameters chosen by validation MAP. Conventions: {words}.", ""]
    lines += tables(means, values) + claims(means) + tests(values)
    (HERE / f"{folders[0].name}.md").write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
