"""A Dask cluster of two worker processes on this machine beside two threads: passes, round trips, memory.

Bars: a pass over a million rows or more at most 1.3 times that of two threads; an empty round trip at most 15 ms on a
quiet machine; a worker's memory under 2.5 times its partitions after ten fits. Passes are wall-clock, taken in turn
with those of threads, so that a busy machine slows both. Last, a worker is killed in the middle of a fit.

``ARGRANK_BENCH_ROWS`` is the number of rows, 1,000,000 by default. Everything listens on 127.0.0.1.
"""

from __future__ import annotations

import functools
import os
import signal
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np

import argrank as ar
from argrank.dask import DistributedDataset
from argrank.engines import make_risk
from benchmarks._interleaved import medians
from benchmarks.pack import N_FEATURES, write_pack

FITS = 10
REPEATS = 7


def memory() -> tuple[float, float]:
    """Return the bytes that a process has to itself, and those of mapped files that it sees in memory."""
    found = {}
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name in ("RssAnon", "RssFile"):
            found[name] = 1024.0 * int(value.split()[0])
    return found["RssAnon"], found["RssFile"]


def run() -> None:
    from distributed import Client, LocalCluster

    n_rows = int(os.environ.get("ARGRANK_BENCH_ROWS", "1000000"))
    place = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "memory_limit": 0}
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **place) as cluster,
        Client(cluster) as client,
    ):
        path = Path(folder) / "train.pack"
        write_pack(path, n_rows)
        before = client.run(memory)
        local, there = ar.load(path), DistributedDataset.read(path, client)
        print(f"{there!r}; load {os.getloadavg()[0]:.1f}")
        print(f"empty round trip: {1e3 * min(_trips(there)):.1f} ms least, {1e3 * np.median(_trips(there)):.1f} median")
        for name in ("rank-svm", "svm-map", "listnet"):
            _passes(name, local, there)
        for _ in range(FITS):
            ar.make_ranker("rank-svm", tol=1e-3, verbose=-1).fit(there)
        share = 4.0 * n_rows * N_FEATURES / 2
        for address, (own, mapped) in client.run(memory).items():
            own, mapped = own - before[address][0], mapped - before[address][1]  # without Python and libraries
            print(
                f"after {FITS} fits a worker has {own / 1e6:.0f} MB more to itself and {mapped / 1e6:.0f} MB more "
                f"mapped, {(own + mapped) / share:.2f} times its partitions"
            )
        print(f"all in all: {there.traffic}; load {os.getloadavg()[0]:.1f}")
        _killed(there)


def _killed(data: DistributedDataset) -> None:
    def fit() -> tuple[float, bytes]:
        begin = time.perf_counter()
        ranker = ar.make_ranker("svm-map", solver="bundle", C=1.0, tol=1e-12, max_iter=12, verbose=-1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ranker.fit(data)
        return time.perf_counter() - begin, ranker.coef_.tobytes()

    undisturbed, weights = fit()
    pids = list(data.client.run(os.getpid).values())
    killer = threading.Timer(undisturbed / 2, os.kill, (pids[0], signal.SIGKILL))
    killer.start()
    disturbed, others = fit()
    killer.join()
    same = "the same bits" if weights == others else "OTHER BITS"
    print(f"a fit of 12 passes: {undisturbed:.1f} s; with a worker killed half-way {disturbed:.1f} s, {same}")


def _trips(data: DistributedDataset) -> list[float]:
    seconds = []
    for _ in range(20):
        begin = time.perf_counter()
        data.run(_nothing, [None] * data.n_partitions)
        seconds.append(time.perf_counter() - begin)
    return seconds


def _nothing(part: object, argument: object) -> None:
    return None


def _passes(name: str, local: ar.Dataset, there: DistributedDataset) -> None:
    objective, w = ar.objective(name), np.random.default_rng(0).standard_normal(N_FEATURES) / 10
    here, remote = make_risk(local, objective, 2), make_risk(there, objective)
    ways = {"threads": here.value_and_gradient, "cluster": remote.value_and_gradient}
    assert here.value_and_gradient(w)[1].tobytes() == remote.value_and_gradient(w)[1].tobytes()
    worked, cpu = there.traffic.worker_seconds, time.process_time()
    for _ in range(3):
        here.value_and_gradient(w)
    cpu = (time.process_time() - cpu) / 3
    for _ in range(3):
        remote.value_and_gradient(w)
    worked = (there.traffic.worker_seconds - worked) / 3
    found = medians({way: functools.partial(function, w) for way, function in ways.items()}, REPEATS)
    print(
        f"{name}: a pass {found['threads']:.3f} s on two threads, {found['cluster']:.3f} s on two workers: "
        f"{found['cluster'] / found['threads']:.2f} times; CPU {cpu:.3f} s and {worked:.3f} s"
    )


if __name__ == "__main__":
    run()
