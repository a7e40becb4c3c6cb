"""Time and memory of a ConvexLoss fit beside RankSVM and SVMndcg, and its growth with sample size and list length.

There is no bar: the table shows the cost. All three are fitted in turn in the same run, at values of C of the
order that validation chooses; ConvexLoss is for NDCG@10. NDCG@10 on the training data says what was learned: where
SVMndcg's is that of a random order, its bound has collapsed and the time is that of proving w = 0. Memory is what comes
on top of what the process holds already, so of fits in a row the first shows the most.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

import argrank as ar
from argrank.errors import ArgrankWarning
from benchmarks.risk import N_FEATURES, PeakMemory, anonymous_memory, generate

RANKERS = {
    "rank-svm": {"C": 1e-4},
    "svm-ndcg": {"C": 100.0, "bound": "convex"},
    "log-convex": {"C": 1e-3},
}


def fit(name: str, data: ar.Dataset, **parameters: object) -> dict[str, float]:
    """Fit a ranker; memory is what comes on top of the data."""
    ranker = ar.make_ranker(name, verbose=-1, **parameters)
    before = anonymous_memory()
    with PeakMemory() as peak:
        begin, cpu = time.perf_counter(), time.process_time()
        ranker.fit(data)
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    return {
        "seconds": seconds,
        "cpu_seconds": cpu,
        "megabytes": (peak.bytes - before) / 1e6,
        "sample_megabytes": getattr(ranker, "sample_bytes_", 0) / 1e6,
        "iterations": ranker.n_iter_,
        "ndcg@10": ranker.score(data),
    }


def show(title: str, row: dict[str, float]) -> None:
    print(
        f"{title:34}{row['seconds']:9.2f} s{row['cpu_seconds']:9.2f} s CPU{row['megabytes']:9.0f} MB"
        f"{row['sample_megabytes']:9.1f} MB sample{row['iterations']:7.0f} iterations"
        f"   NDCG@10 {row['ndcg@10']:.3f}"
    )


def sizes(n_queries: int, n_documents: int) -> np.ndarray:
    return np.full(n_queries, n_documents)


def run(real_data: Path | None = None) -> dict[str, float]:
    """Print the tables and return their figures."""
    figures: dict[str, float] = {}
    sets = {f"2,000 x 100 x {N_FEATURES}": generate(sizes(2000, 100), np.float64)}
    folder = real_data or Path(__file__).resolve().parents[2] / "shared" / "data"
    if (folder / "OHSUMED-LETOR3").is_dir():
        sets = {"OHSUMED fold 1": ar.load_collection("OHSUMED-LETOR3", folder / "OHSUMED-LETOR3").train} | sets
    warm = generate(sizes(4, 20), np.float64)
    for name, parameters in RANKERS.items():  # compile
        fit(name, warm, **parameters)
    for title, data in sets.items():
        print(f"\n{title}: {data.n_queries:,} queries, {data.n_documents:,} documents")
        for name, parameters in RANKERS.items():
            row = fit(name, data, **parameters)
            figures |= {f"{title}_{name}_{key}": value for key, value in row.items()}
            show(name, row)
    print("\nlog-convex, 20 passes: growth with the sample and with the lists")
    for n_samples in (50, 100, 200, 400):
        row = fit("log-convex", generate(sizes(200, 100), np.float64), n_samples=n_samples, tol=1e-30, max_iter=20)
        figures |= {f"samples_{n_samples}_{key}": value for key, value in row.items()}
        show(f"200 x 100, {n_samples} rankings", row)
    for n_documents in (50, 100, 200, 400):
        row = fit("log-convex", generate(sizes(200, n_documents), np.float64), tol=1e-30, max_iter=20)
        figures |= {f"documents_{n_documents}_{key}": value for key, value in row.items()}
        show(f"200 x {n_documents}, 100 rankings", row)
    return figures


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore", ArgrankWarning)
    run()
