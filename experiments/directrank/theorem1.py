"""Theorem 1 as a learning curve: the measure on training queries against that on new ones.

    python -m experiments.directrank.theorem1      # theorem1.csv, theorem1.png; resumes

Queries of 40 documents with 10 features and five grades, of one distribution with a linear truth and of one that no
linear model can express; noise as large as the truth. From n training queries, drawn anew each time, DirectRank climbs
NDCG@10 to the end from four starts, so that it comes close to the maximum that the theorem is about. "limit" is what
such a climb on 6,000 other queries reaches on the 2,000 test queries. RankSVM is included for comparison.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import argrank as ar
from experiments.directrank._common import Table, fit, mean, save_figure

DOCUMENTS, FEATURES, NOISE = 40, 10, 1.0
TEST, LARGE = 2000, 6000
#: training queries -> draws of them
DRAWS = {10: 6, 30: 6, 100: 6, 300: 4, 1000: 3, 3000: 2}
TRUTHS = ("linear", "nonlinear")
CLIMB: dict[str, Any] = {"n_starts": 4, "folds": 0}


def queries(truth: str) -> tuple[ar.Dataset, ar.Dataset, ar.Dataset]:
    """Generate queries of one truth: to draw training queries from, to find the limit with, and to test on."""
    n = sum(size * draws for size, draws in DRAWS.items())
    data = ar.make_ranking(n + LARGE + TEST, DOCUMENTS, FEATURES, truth=truth, noise=NOISE, random_state=7)
    ends = np.cumsum([0, n, LARGE, TEST])
    pool, large, test = (data.select(np.arange(*pair)) for pair in itertools.pairwise(ends))
    return pool, large, test


def main() -> None:
    table = Table("theorem1.csv", "truth", "queries", "draw", "ranker")
    for truth in TRUTHS:
        pool, large, test = queries(truth)
        begin = 0
        for n, draws in DRAWS.items():
            for draw in range(draws):
                part = pool.select(np.arange(begin, begin + n))
                begin += n
                add(table, truth, draw, "direct-rank", part, test, **CLIMB)
                add(table, truth, draw, "rank-svm", part, test)
        add(table, truth, 0, "direct-rank", large, test, n_starts=2, folds=0)
    draw_curves(table.rows)


def add(table: Table, truth: str, draw: int, ranker: str, train: ar.Dataset, test: ar.Dataset, **own: Any) -> None:
    """Fit and test, unless that is done."""
    if not table.has(truth, train.n_queries, draw, ranker):
        fitted, seconds = fit(ranker, train, **(own | ({"measure": "ndcg@10"} if own else {})))
        means = {f"{name} ndcg@10": mean(fitted, part, "ndcg@10") for name, part in (("train", train), ("test", test))}
        place = {"truth": truth, "queries": train.n_queries, "draw": draw, "ranker": ranker}
        table.add(place | means | {"cpu_seconds": seconds})


def draw_curves(rows: list[dict[str, str]]) -> None:
    """Draw training and test NDCG against the number of training queries."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4), layout="constrained")
    for axes, truth in zip(figure.subplots(1, len(TRUTHS)), TRUTHS, strict=True):
        for ranker, colour in (("direct-rank", "C3"), ("rank-svm", "C0")):
            for part, line in (("train", "--"), ("test", "-")):
                points = [
                    [float(row[f"{part} ndcg@10"]) for row in rows
                     if (row["truth"], row["queries"], row["ranker"]) == (truth, str(n), ranker)]
                    for n in DRAWS
                ]  # fmt: skip
                spread = [np.std(one, ddof=1) if len(one) > 1 else 0.0 for one in points]
                values = [np.mean(one) for one in points]
                axes.errorbar(list(DRAWS), values, spread, fmt=line, color=colour, capsize=2, label=f"{ranker}, {part}")
        (limit,) = (float(r["test ndcg@10"]) for r in rows if (r["truth"], r["queries"]) == (truth, str(LARGE)))
        axes.axhline(limit, color="black", linestyle=":", label=f"limit, {LARGE:,} queries")
        axes.set(xscale="log", xlabel="training queries", ylabel="NDCG@10", title=f"{truth} truth, generated")
    figure.axes[0].legend(fontsize=8)
    save_figure(figure, "theorem1.png")


if __name__ == "__main__":
    main()
