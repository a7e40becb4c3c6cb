"""A Dask cluster of two worker processes on this machine beside two threads: passes, round trips, memory.

Bars: a pass over a million rows or more at most 1.3 times that of two threads; an empty round trip at most 15 ms on a
quiet machine; a worker's memory under 2.5 times its partitions after ten fits. Passes are wall-clock, taken in turn
with those of threads, so that a busy machine slows both. A worker is killed in the middle of a fit. Last, passes over
ten times the rows, and what they would take for 1e8 and 1e9 rows at the measured bytes per second.

Parts: passes, memory, kill, growth. ``ARGRANK_BENCH_ROWS`` is the number of rows, 1,000,000 by default. Everything
listens on 127.0.0.1.
"""

from __future__ import annotations

import functools
import os
import shutil
import signal
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np

import argrank as ar
from argrank._memory import machine_memory
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


def run(*parts: str) -> None:
    """Print the figures of some parts, of all by default."""
    from distributed import Client, LocalCluster

    tasks = {"passes": _all_passes, "memory": _after_fits, "kill": _killed, "growth": _growth}
    n_rows = int(os.environ.get("ARGRANK_BENCH_ROWS", "1000000"))
    place = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "memory_limit": 0}
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **place) as cluster,
        Client(cluster) as client,
    ):
        before = client.run(memory)
        path = Path(folder) / "train.pack"
        write_pack(path, n_rows)
        there = DistributedDataset.read(path, client)
        print(f"{there!r}; load {os.getloadavg()[0]:.1f}", flush=True)
        for part in parts or tasks:
            tasks[part](path, there, before)
        print(f"load {os.getloadavg()[0]:.1f}")


def _all_passes(path: Path, there: DistributedDataset, _: object) -> None:
    trips = 1e3 * np.array(_trips(there))
    print(f"empty round trip: {trips.min():.1f} ms least, {np.median(trips):.1f} median (bar 15)", flush=True)
    local = ar.load(path)
    for name in ("rank-svm", "svm-map", "listnet"):
        _passes(name, local, there)


def _after_fits(path: Path, there: DistributedDataset, before: dict[str, tuple[float, float]]) -> None:
    for _ in range(FITS):
        ar.make_ranker("rank-svm", tol=1e-3, verbose=-1).fit(there)
    share = 4.0 * there.n_documents * N_FEATURES / 2
    for address, (own, mapped) in there.client.run(memory).items():
        own, mapped = own - before[address][0], mapped - before[address][1]  # without Python and libraries
        print(
            f"after {FITS} fits a worker has {own / 1e6:.0f} MB more to itself and {mapped / 1e6:.0f} MB more "
            f"mapped, {(own + mapped) / share:.2f} times its partitions (bar 2.5)",
            flush=True,
        )
    print(f"all in all: {there.traffic}", flush=True)


def _growth(path: Path, there: DistributedDataset, _: object) -> None:
    many = path.parent / "many.pack"
    n_bytes = 40.0 * there.n_documents * N_FEATURES
    if shutil.disk_usage(path.parent).free < 1.5 * n_bytes or machine_memory() < 2 * n_bytes:
        print(f"growth: left out, {n_bytes / 1e9:.1f} GB are too many here")
        return
    write_pack(many, 10 * there.n_documents)
    speed = 0.0
    for place in (path, many):
        data = DistributedDataset.read(place, there.client)
        risk, w = make_risk(data, ar.objective("rank-svm")), np.ones(N_FEATURES)
        risk.value_and_gradient(w)
        received, worked = data.traffic.received, data.traffic.worker_seconds
        seconds = medians({"cluster": functools.partial(risk.value_and_gradient, w)}, 4)["cluster"]
        received, worked = (data.traffic.received - received) / 5, (data.traffic.worker_seconds - worked) / 5
        size = 4.0 * data.n_documents * N_FEATURES
        speed = size / seconds
        print(
            f"a pass over {data.n_documents:,} x {N_FEATURES} float32 ({size / 1e9:.2f} GB): {seconds:.2f} s, "
            f"{worked:.2f} CPU s of the workers, {speed / 1e9:.2f} GB a second, {received / 1e3:.0f} kB to the client",
            flush=True,
        )
    for n_rows in (1e8, 1e9):
        size = 4.0 * n_rows * N_FEATURES
        print(f"worked out for {n_rows:.0e} rows on two workers: {size / 1e9:.0f} GB, {size / speed:.0f} s a pass")
    shutil.rmtree(many)


def _killed(path: Path, data: DistributedDataset, _: object) -> None:
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
    print(
        f"a fit of 12 passes: {undisturbed:.1f} s; with a worker killed half-way {disturbed:.1f} s, {same}", flush=True
    )


def _trips(data: DistributedDataset) -> list[float]:
    seconds = []
    for _ in range(20):
        begin = time.perf_counter()
        data.ask(_nothing, [None] * data.n_partitions)
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
        f"{found['cluster'] / found['threads']:.2f} times (bar 1.3); CPU {cpu:.3f} s and {worked:.3f} s",
        flush=True,
    )


if __name__ == "__main__":
    run()
