"""Exact line search: one round over 136 features, its cost per feature against a sort, growth with the lists, fastrank.

Bars: a round over 136 features of 2,000 x 100 at least 50 times faster than one of fastrank's coordinate ascent, at
equal or better training NDCG@10. The unit of work is the first round from equal weights: every feature's weight is
moved once, on all queries. fastrank stops after it because of a tolerance that no round can gain; it does not use
a second thread within a climb, so CPU seconds are given beside the seconds. Whole climbs from one start, on
one thread, are compared on 100 x 100 x 136. Without a cut-off, NDCG, AP and ERR take at most 4 times np.argsort of as
many numbers as they have breakpoints, RR at most 5 times NDCG@10. `pip install fastrank` to have its rows; its round
takes minutes.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
import time

import numpy as np

from argrank import Dataset, evaluate, make_ranker
from argrank.linesearch.landscape import Landscape
from argrank.linesearch.search import Placement, search
from benchmarks._interleaved import medians
from benchmarks.risk import generate


def one_round(data: Dataset) -> dict[str, float]:
    """Time the first round of a climb from equal weights, and what a feature costs in it."""
    landscape = Landscape(data, "ndcg@10", "expected")
    columns = np.asfortranarray(data.X)
    scores = np.asarray(data.X @ np.ones(data.n_features), np.float64)
    here, placement = landscape.value(scores), Placement(point="middle", settle=False)
    search(landscape, scores, np.asarray(columns[:, 0], np.float64), here, placement=placement)
    begin, cpu, first = time.perf_counter(), time.process_time(), here.mean
    for number in np.random.default_rng(0).permutation(data.n_features).tolist():
        slopes = np.asarray(columns[:, number], np.float64)
        found, here = search(landscape, scores, slopes, here, placement=placement)
        scores = scores + found.step * slopes
    figures = {
        "round_seconds": time.perf_counter() - begin,
        "round_cpu_seconds": time.process_time() - cpu,
        "ndcg_before": first,
        "ndcg_after": here.mean,
    }
    slopes = np.asarray(columns[:, 5], np.float64)
    seconds = medians(
        {
            "sort": lambda: np.argsort(scores.reshape(2000, 100), axis=1),
            "evaluate": lambda: landscape.value(scores),
            "walk": lambda: landscape.walk(scores, slopes, -np.inf, np.inf, here.tied),
            "window": lambda: landscape.walk(scores, slopes, 0.1, 0.5, here.tied),
        },
        repeats=7,
    )
    return figures | {f"{name}_ms": 1e3 * value for name, value in seconds.items()}


def growth(n: int, k: int, repeats: int = 5) -> dict[str, float]:
    """Count the changes of NDCG@k along a line and time the walk, for lists of n documents."""
    n_queries = max(20, 20_000 // n)
    data = generate(np.full(n_queries, n), np.float32)
    landscape = Landscape(data, f"ndcg@{k}", "row", n_jobs=1)
    rng = np.random.default_rng(3)
    scores = np.asarray(data.X @ rng.standard_normal(data.n_features), np.float64)
    slopes = np.asarray(data.X[:, 0], np.float64)
    nobody = np.empty(0, np.intp)
    seconds = medians(
        {
            "walk": lambda: landscape.walk(scores, slopes, -np.inf, np.inf, nobody),
            "sort": lambda: np.argsort(scores.reshape(n_queries, n), axis=1),
        },
        repeats,
    )
    changes = len(landscape.walk(scores, slopes, -np.inf, np.inf, nobody).breakpoints) / n_queries
    return {
        "changes": changes,
        "walk_us": 1e6 * seconds["walk"] / n_queries,
        "sort_us": 1e6 * seconds["sort"] / n_queries,
    }


def whole_lists(n: int, measure: str, repeats: int = 15) -> dict[str, float]:
    """Time a whole-list measure (CPU; 20 queries of n, a fifth relevant) and a sort of as many breakpoints."""
    rng = np.random.default_rng(0)
    labels = (rng.random(20 * n) < 0.2) * rng.integers(1, 5, 20 * n)
    data = Dataset(np.ones((20 * n, 1)), labels, group=np.full(20, n))
    scores, slopes = rng.standard_normal((2, 20 * n))
    landscape, nobody = Landscape(data, measure, "row", n_jobs=1), np.empty(0, np.intp)
    changes = len(landscape.walk(scores, slopes, -np.inf, np.inf, nobody).breakpoints)
    numbers = rng.standard_normal(changes)
    seconds = medians(
        {
            "walk": lambda: landscape.walk(scores, slopes, -np.inf, np.inf, nobody),
            "sort": lambda: np.argsort(numbers),
        },
        repeats,
        time.process_time,
    )
    return {"changes": changes, "walk_ms": 1e3 * seconds["walk"], "sort_ms": 1e3 * seconds["sort"]}


def one_climb() -> dict[str, float]:
    """Time one climb each of DirectRank, our coordinate ascent and, where installed, fastrank's."""
    data = generate(np.full(100, 100), np.float32)
    figures: dict[str, float] = {}
    for name in ("direct-rank", "coordinate-ascent"):
        options = {"point": "middle"} if name == "direct-rank" else {}
        begin, cpu = time.perf_counter(), time.process_time()
        ranker = make_ranker(name, n_starts=1, n_jobs=1, verbose=-1, **options).fit(data)
        figures[f"{name}_seconds"] = time.perf_counter() - begin
        figures[f"{name}_cpu_seconds"] = time.process_time() - cpu
        figures[f"{name}_rounds"] = ranker.n_iter_
        figures[f"{name}_ndcg"] = 1 - ranker.objective_
    if importlib.util.find_spec("fastrank") is not None:
        figures |= fastrank_climb(data)
    return figures


def fastrank_climb(data: Dataset, tolerance: float = 0.001) -> dict[str, float]:
    """Time a climb of fastrank's from equal weights, until a round gains less than the tolerance."""
    import fastrank

    features = fastrank.CDataset.from_numpy(data.X, data.y, data.query_of_row)
    request = fastrank.TrainRequest.coordinate_ascent()
    request.measure = "ndcg@10"
    request.params.num_restarts, request.params.init_random, request.params.tolerance = 1, False, tolerance
    request.params.normalize, request.params.quiet = False, False
    with tempfile.TemporaryFile("w+") as log:  # where it announces every round
        sys.stdout.flush()
        terminal = os.dup(1)
        os.dup2(log.fileno(), 1)
        try:
            begin, cpu = time.perf_counter(), time.process_time()
            model = features.train_model(request)
            figures = {
                "fastrank_seconds": time.perf_counter() - begin,
                "fastrank_cpu_seconds": time.process_time() - cpu,
            }
        finally:
            os.dup2(terminal, 1)
            os.close(terminal)
        log.seek(0)
        figures["fastrank_rounds"] = log.read().count("Shuffle features and optimize!")
    weights = np.array(model.to_dict()["Linear"]["weights"])
    return figures | {"fastrank_ndcg": evaluate(data.X @ weights, data, "ndcg@10").means["ndcg@10"]}


def run() -> dict[str, float]:
    """Print the tables and return their figures."""
    data = generate(np.full(2000, 100), np.float32)
    figures = one_round(data)
    print(
        f"one round over 136 features, 2,000 x 100, NDCG@10: {figures['round_seconds']:.1f} s "
        f"({figures['round_cpu_seconds']:.1f} s of CPU), "
        f"NDCG {figures['ndcg_before']:.4f} -> {figures['ndcg_after']:.4f}"
    )
    print(
        f"one feature: {figures['walk_ms']:.1f} ms for the whole line, {figures['window_ms']:.1f} ms in (0.1, 0.5); "
        f"np.argsort of the scores {figures['sort_ms']:.1f} ms (the whole line takes "
        f"{figures['walk_ms'] / figures['sort_ms']:.1f} times as long), one evaluation {figures['evaluate_ms']:.1f} ms"
    )
    print(f"\n{'documents':>10}{'k':>4}{'changes':>10}{'walk':>12}{'argsort':>12}   per query, one thread")
    for k in (5, 10):
        for n in (50, 100, 200, 500, 1000):
            row = growth(n, k)
            figures |= {f"{name}_{n}_at_{k}": value for name, value in row.items()}
            print(f"{n:10d}{k:4d}{row['changes']:10.1f}{row['walk_us']:9.1f} us{row['sort_us']:9.1f} us")
    print(f"\n{'measure':>10}{'documents':>11}{'changes':>11}{'walk':>11}{'argsort of as many':>20}   20 queries")
    for measure in ("ndcg", "map", "err", "mrr", "auc", "bpref", "ndcg@10"):
        for n in (100, 200, 400, 800):
            row = whole_lists(n, measure)
            figures |= {f"{name}_{measure}_{n}": value for name, value in row.items()}
            print(f"{measure:>10}{n:11d}{row['changes']:11,.0f}{row['walk_ms']:8.1f} ms{row['sort_ms']:17.1f} ms")
    climbs = one_climb()
    figures |= climbs
    print("\none climb on 100 x 100 x 136, one thread each")
    for name in ("direct-rank", "coordinate-ascent", "fastrank"):
        if f"{name}_seconds" in climbs:
            rounds = climbs[f"{name}_rounds"]  # 0 where the climb was not kept
            figures[f"{name}_round_cpu_seconds"] = climbs[f"{name}_cpu_seconds"] / max(rounds, 1)
            print(
                f"{name:18}{climbs[f'{name}_seconds']:8.1f} s {climbs[f'{name}_cpu_seconds']:8.1f} s CPU, "
                f"{rounds:.0f} rounds of {figures[f'{name}_round_cpu_seconds']:.2f} s CPU, "
                f"NDCG@10 {climbs[f'{name}_ndcg']:.4f}"
            )
    if "fastrank_seconds" not in climbs:
        print("fastrank is not installed: its rows are left out")
        return figures
    theirs = fastrank_climb(data, tolerance=1.0)
    figures |= {f"round_{name}": value for name, value in theirs.items()}
    figures["ratio"] = theirs["fastrank_seconds"] / theirs["fastrank_rounds"] / figures["round_seconds"]
    figures["cpu_ratio"] = theirs["fastrank_cpu_seconds"] / theirs["fastrank_rounds"] / figures["round_cpu_seconds"]
    print(
        f"\none round over 136 features, 2,000 x 100: fastrank {theirs['fastrank_seconds']:.0f} s "
        f"({theirs['fastrank_rounds']:.0f} rounds), NDCG {theirs['fastrank_ndcg']:.4f}; "
        f"{figures['ratio']:.0f} times ours (bar 50), {figures['cpu_ratio']:.0f} times in CPU seconds"
    )
    return figures


if __name__ == "__main__":
    run()
