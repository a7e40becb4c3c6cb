"""Table 12: jumping points per query against the length of the list at truncation 5, and where exhaustive search wins.

    python -m experiments.directrank.jumping_points      # jumping_points.csv, .png, crossover.csv, algorithm2.csv

A jumping point is a change of the order of the first k. NDCG changes at fewer of them (it does not change when
documents of one label swap), which are the only ones that our search keeps. Lists are cut from longer ones at random;
lines are those of a feature, from random weights. Real: OHSUMED, whose lists have 152 documents on average. The
stand-in of TD2003 is generated, as is "normal", independent normal features. Times are CPU microseconds a query, one
thread: ours of all changes of NDCG@k with their sizes, theirs of the count of jumping points alone. On OHSUMED lines
meet in common points, where Algorithm 2 goes wrong and ends early, so its times are too short there.

``algorithm2.csv`` has the errors of the paper's search as printed, on 1,000 lists of 20 documents for every kind of
lines: how often the first 5 that it ends with are not those at plus infinity.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator

import numpy as np

import argrank as ar
from argrank.linesearch.changes import walk_block
from argrank.linesearch.landscape import Groups, Landscape
from experiments.directrank._common import Table, fold_of, save_figure
from experiments.directrank._searches import algorithm_2, exhaustive

LENGTHS = (50, 100, 200, 300, 500, 700, 1000)
N_QUERIES, N_FEATURES = 12, 4
NOBODY = np.empty(0, np.intp)


def sources() -> Iterator[tuple[str, ar.Dataset]]:
    """Yield data sets to cut lists from."""
    yield "OHSUMED-LETOR3", fold_of("OHSUMED-LETOR3").train
    yield "td2003 (generated)", ar.make_standin("td2003")
    yield "normal (generated)", ar.make_ranking(N_QUERIES, 1000, 46, relevant=0.05, random_state=1)


def lists(data: ar.Dataset, n: int, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield features and labels of n documents of queries that have as many."""
    for query in np.flatnonzero(data.sizes >= n)[:N_QUERIES]:
        rows = data.indptr[query] + rng.permutation(data.sizes[query])[:n]
        yield np.asarray(data.X[rows], np.float64), data.y[rows]


def cpu(repeats: int, work: Callable[..., object], *arguments: object) -> float:
    """Return the least CPU seconds of some calls, after one to warm up if there are several."""
    seconds = []
    for _ in range(repeats):
        begin = time.process_time()
        work(*arguments)
        seconds.append(time.process_time() - begin)
    return min(seconds)


def measure(data: ar.Dataset, n: int, k: int) -> dict[str, float] | None:
    """Return the means over queries and features: jumping points, changes of NDCG@k, seconds of three searches.

    Jumping points are the changes of a measure that sees every swap: of DCG@k with a different gain for each document.
    """
    rng = np.random.default_rng(0)
    seen: list[tuple[float, ...]] = []
    for X, y in lists(data, n, rng):
        weights = rng.standard_normal(X.shape[1]) / np.maximum(X.std(axis=0), 1e-3)
        scores = X @ weights
        landscape, all_swaps = (
            Landscape(ar.Dataset(X[:, :1], labels, group=[n]), name, "row", n_jobs=1)
            for labels, name in ((y, f"ndcg@{k}"), (1.0 + rng.permutation(n), f"dcg(gain='linear')@{k}"))
        )
        task, _ = landscape._task(Groups(NOBODY, NOBODY), -np.inf, np.inf)
        varied = [j for j in rng.permutation(X.shape[1]).tolist() if len(np.unique(X[:, j])) > n // 2]
        for feature in varied[:N_FEATURES]:
            slopes = np.ascontiguousarray(X[:, feature])
            whole = (scores, slopes, -np.inf, np.inf, NOBODY)
            points, changes = (len(one.walk(*whole).breakpoints) for one in (all_swaps, landscape))
            seen.append(
                (
                    points,
                    changes,
                    cpu(3, algorithm_2, scores, slopes, k, np.empty(n, np.int64)),
                    cpu(1 if seen else 2, exhaustive, scores, slopes, k),
                    cpu(3, walk_block, scores, slopes, landscape.data.indptr, task, (0, 1)),
                )
            )
    if not seen:
        return None
    v, changes, paper, brute, ours = np.mean(seen, axis=0).tolist()
    return {"lines": len(seen), "v": v, "v/m": v / n, "changes": changes, "v / (2 m ln m)": v / (2 * n * math.log(n)),
            "algorithm_2_us": 1e6 * paper, "exhaustive_us": 1e6 * brute, "ours_us": 1e6 * ours}  # fmt: skip


def lines_of(kind: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and slopes of a list whose features are of some kind."""
    X = rng.standard_normal((n, 5))
    if kind == "whole numbers":
        X = rng.integers(-3, 4, (n, 5)).astype(float)
    elif kind == "duplicate documents":
        X = X[rng.integers(0, n, n)]
    elif kind == "mostly zero":
        X *= rng.random((n, 5)) < 0.3
    weights = rng.integers(-3, 4, 5) if kind == "whole numbers" else rng.standard_normal(5)
    return np.asarray(X @ weights, np.float64), np.ascontiguousarray(X[:, 0])


def errors_of_algorithm_2(n: int = 20, k: int = 5, repeats: int = 1000) -> None:
    """Compare the slopes of the first k at plus infinity with those that the paper's search arrives at."""
    table = Table("algorithm2.csv", "kind")
    for kind in ("generic", "whole numbers", "duplicate documents", "mostly zero"):
        if not table.has(kind):
            rng, wrong = np.random.default_rng(1), 0
            for _ in range(repeats):
                scores, slopes = lines_of(kind, n, rng)
                order = np.empty(n, np.int64)
                algorithm_2(scores, slopes, k, order)
                wrong += bool((slopes[order[:k]] != np.sort(slopes)[::-1][:k]).any())
            table.add({"kind": kind, "lists": repeats, "wrong": wrong})


def main() -> None:
    errors_of_algorithm_2()
    growth = Table("jumping_points.csv", "data", "m")
    crossover = Table("crossover.csv", "data", "m", "k")
    for name, data in sources():
        for n in LENGTHS:
            if not growth.has(name, n) and (row := measure(data, n, 5)) is not None:
                growth.add({"data": name, "m": n, "k": 5, **row})
        if name.startswith("normal"):
            for n in (100, 300):
                for k in (5, 10, 20, 40, 70, 100, 150, 200, 300):
                    if k <= n and not crossover.has(name, n, k) and (row := measure(data, n, k)) is not None:
                        crossover.add({"data": name, "m": n, "k": k, **row})
    draw(growth.rows, crossover.rows)


def draw(growth: list[dict[str, str]], crossover: list[dict[str, str]]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for number, name in enumerate(dict.fromkeys(row["data"] for row in growth)):
        own = [row for row in growth if row["data"] == name]
        m = [int(row["m"]) for row in own]
        left.plot(m, [float(row["v"]) for row in own], "o-", color=f"C{number}", label=name)
        left.plot(m, [float(row["changes"]) for row in own], "s:", color=f"C{number}")
    left.set(xlabel="documents m", ylabel="mean of a line", title="Jumping points v; dotted: changes of NDCG@5", ylim=0)
    left.legend()
    for number, n in enumerate(dict.fromkeys(row["m"] for row in crossover)):
        own = [row for row in crossover if row["m"] == n]
        v = [float(row["v / (2 m ln m)"]) for row in own]
        for key, style in (("algorithm_2_us", "o-"), ("ours_us", "s:")):
            ratio = [float(row[key]) / float(row["exhaustive_us"]) for row in own]
            title = "Algorithm 2" if key == "algorithm_2_us" else "ours"
            right.plot(v, ratio, style, color=f"C{number}", label=f"{title}, m = {n}")
    right.axhline(1.0, color="grey", linewidth=0.8)
    right.set(
        xscale="log",
        yscale="log",
        xlabel="v / (2 m ln m)",
        ylabel="CPU time, exhaustive search = 1",
        title="Time of a search, k from 5 to m",
    )
    right.legend()
    save_figure(figure, "jumping_points.png")


if __name__ == "__main__":
    main()
