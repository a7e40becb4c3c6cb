"""Whole fits of the structured rankers: passes, seconds, memory, growth with the data, and the command line.

On 2,000 queries of 40 to 160 documents and 136 features, as in ``benchmarks.oracles``, which has the cost of a single
risk evaluation against its two products. Bars: the time of a fit grows with list length and with the number of queries
by an exponent of at most 1.15; ``argrank train -r svm-map`` on MQ2008, fold 1, takes less than 3 seconds end to end on
a quiet machine with two cores. Growth is measured in CPU time of one thread, which other work disturbs least.
"""

from __future__ import annotations

import lzma
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import argrank as ar
from argrank.errors import ArgrankWarning
from benchmarks.risk import PeakMemory, anonymous_memory, generate, list_sizes

RANKERS = ("svm-auc", "svm-map", "svm-ndcg", "svm-ndcg-nc", "svm-mrr", "dorm", "svm-combo")
C = 10.0
MOST_PASSES = 60  # svm-combo needs hundreds where MRR's sums over documents hold it at w = 0
LENGTHS = (25, 50, 100, 200, 400, 800)
QUERIES = (125, 250, 500, 1000, 2000, 4000)


def binary(sizes: np.ndarray, dtype: type = np.float64) -> ar.Dataset:
    """Return generated lists with labels 0 and 1, a sixth of them 1."""
    data = generate(sizes, dtype)
    return data.with_labels(data.y >= 2)


def fitted(ranker: str, data: ar.Dataset, **parameters: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArgrankWarning)
        return ar.make_ranker(ranker, C=C, bound="convex", verbose=-1, **parameters).fit(data)


def whole_fit(ranker: str, dtype: type) -> dict[str, float]:
    """Fit at the defaults but C; memory counts the features and all that comes on top. Needs a new process."""
    fitted(ranker, binary(np.array([20, 20]), dtype))  # loads the kernels
    before = anonymous_memory()
    with PeakMemory() as peak:
        data = binary(list_sizes("ragged"), dtype)
        begin, cpu = time.perf_counter(), time.process_time()
        trained = fitted(ranker, data, max_iter=MOST_PASSES)
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    last = trained.trace_[-1]
    return {
        "passes": last["n_passes"],
        "seconds": seconds,
        "cpu": cpu,
        "master": last["master_seconds"],
        "memory": (peak.bytes - before) / data.X.nbytes,
        "gap": trained.gap_ / trained.objective_,
        "ratio": trained.objective_ / trained.objective_at_zero_,
    }


def exponent(sizes: tuple[int, ...], seconds: list[float]) -> float:
    """Return p of the power law seconds = c · size^p that fits best."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def growth(ranker: str, repeats: int = 3) -> dict[str, Any]:
    """Return the exponents of CPU time in list length and in the number of queries, and the passes of the fits."""
    found: dict[str, Any] = {}
    sets = {
        "length": (LENGTHS, [binary(np.full(300, n)) for n in LENGTHS]),
        "queries": (QUERIES, [binary(np.full(n, 50)) for n in QUERIES]),
    }
    for what, (sizes, data) in sets.items():
        seconds, passes = [np.inf] * len(sizes), [0.0] * len(sizes)
        for _ in range(repeats):
            for number, one in enumerate(data):
                begin = time.process_time()
                trained = fitted(ranker, one, n_jobs=1)
                seconds[number] = min(seconds[number], time.process_time() - begin)
                passes[number] = trained.trace_[-1]["n_passes"]
        found[what] = exponent(sizes, seconds)
        found[f"{what} seconds"], found[f"{what} passes"] = seconds, passes
        found[f"{what} per pass"] = exponent(sizes, [s / p for s, p in zip(seconds, passes, strict=True)])
    return found


def command_line(folder: Path, repeats: int = 5) -> dict[str, float]:
    """Time ``argrank train`` on MQ2008, fold 1, with validation and test parts; the first run warms the cache."""
    parts = {number: lzma.decompress((folder / f"S{number}.txt.xz").read_bytes()) for number in range(1, 6)}
    with tempfile.TemporaryDirectory() as place:
        files = {"train": (1, 2, 3), "vali": (4,), "test": (5,)}
        for name, numbers in files.items():
            (Path(place) / f"{name}.txt").write_bytes(b"".join(parts[number] for number in numbers))
        command = [sys.executable, "-m", "argrank", "train", "-r", "svm-map", "train.txt", "--valid", "vali.txt"]
        command += ["--test", "test.txt", "-m", "ndcg@10", "-o", "model.json"]
        seconds, cpu = [], []
        for _ in range(repeats + 1):
            begin, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, cwd=place, check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds.append(time.perf_counter() - begin)
            cpu.append(after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime)
    return {"seconds": float(np.median(seconds[1:])), "least": min(seconds[1:]), "cpu": float(np.median(cpu[1:]))}


def run() -> dict[str, Any]:
    """Print the tables and return their figures."""
    figures: dict[str, Any] = {}
    print(f"whole fits at C = {C:g}, gap 1e-3 or {MOST_PASSES} passes, labels 0 and 1; memory in units of the features")
    head = ("passes", "seconds", "CPU", "master", "memory")
    print(f"{'':22}{head[0]:>8}{head[1]:>9}{''.join(f'{one:>8}' for one in head[2:])}{'gap':>9}{'obj/obj(0)':>12}")
    for ranker in RANKERS:
        for dtype in (np.float64, np.float32):
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
                row = process.submit(whole_fit, ranker, dtype).result()
            figures[f"{ranker} {dtype.__name__}"] = row
            print(
                f"{ranker:13}{dtype.__name__:9}{row['passes']:8.1f}{row['seconds']:9.2f}{row['cpu']:8.2f}"
                f"{row['master']:8.3f}{row['memory']:7.2f}x{row['gap']:9.1e}{row['ratio']:12.4f}",
                flush=True,
            )
    print("\ngrowth of a fit's CPU time, one thread: exponent (of the time per pass), bar 1.15")
    for ranker in ("svm-auc", "svm-map", "svm-ndcg"):
        row = figures[f"{ranker} growth"] = growth(ranker)
        for what in ("length", "queries"):
            passes = ", ".join(f"{value:g}" for value in row[f"{what} passes"])
            print(f"{ranker:13}{what:9}{row[what]:6.2f} ({row[f'{what} per pass']:.2f}); passes {passes}", flush=True)
    folder = Path(os.environ.get("ARGRANK_DATA", ".")) / "MQ2008"
    if folder.is_dir():
        row = figures["command line"] = command_line(folder)
        print(
            f"\nargrank train -r svm-map, MQ2008 fold 1, end to end: median {row['seconds']:.2f} s, least "
            f"{row['least']:.2f} s, CPU {row['cpu']:.2f} s (bar 3 s on a quiet machine)"
        )
    else:
        print("\nargrank train on MQ2008: skipped, set ARGRANK_DATA to the folder that holds it")
    return figures


if __name__ == "__main__":
    run()
