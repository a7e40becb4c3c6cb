"""Packs: what a pass over a map costs beside memory, how fast packing is, and a fit on a file four times its memory.

Bars: a pass on a warm map at most 1.1 times the CPU of one in memory; Parquet packed at 100 MB a CPU second or more;
scattered rows sorted within a tenth of their size; a fit with a quarter of the file's size as memory, whose passes take
no longer than reading the file and computing.

What is limited is the data segment (``RLIMIT_DATA``): all memory that a process has to itself, which is everything but
mapped files. Pages of a mapped file belong to the system's cache; it drops them when it needs room, and they count
neither towards this limit nor towards what other programs can have. So "peak anonymous" is what a fit needs, and the
resident size shows, on top of it, what the cache happened to hold. Nothing here limits the cache itself.

Parts: map, packing, growth, fit, sort. The sizes are 8 GB for the fit and 10 GB for the sort; ``ARGRANK_BENCH_GB=0.8``
makes all a tenth. All is written to a temporary folder (``TMPDIR``) and deleted.
"""

from __future__ import annotations

import functools
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import argrank as ar
from argrank._files import write_folder
from argrank.data.io.pack import array_file
from argrank.data.io.pack.chunks import Chunk
from argrank.data.io.pack.contents import DESCRIPTION
from argrank.data.io.pack.writer import Writer
from argrank.engines import make_risk
from benchmarks._interleaved import medians

N_FEATURES, QUERY = 136, 100
STEP = 20_000  # rows that are made together
GB = 1e9


def rows_for(n_bytes: float) -> int:
    """Return how many rows of float32 features take a given number of bytes, in whole queries."""
    return int(n_bytes / (4 * N_FEATURES) // QUERY * QUERY)


def pieces(n_rows: int, seed: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield features and labels of five grades, linear truth with noise."""
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(N_FEATURES, np.float32)
    for start in range(0, n_rows, STEP):
        X = rng.random((min(STEP, n_rows - start), N_FEATURES), np.float32)
        truth = (X - 0.5) @ w + rng.standard_normal(len(X), np.float32) * 2
        yield X, np.digitize(truth, [1.0, 3.0, 5.0, 7.0]).astype(np.float64)


def write_pack(path: Path, n_rows: int) -> None:
    """Write a pack of generated rows without holding them."""
    with write_folder(path, DESCRIPTION) as folder:
        writer, start = Writer(folder), 0
        for X, y in pieces(n_rows):
            writer.append(Chunk(X, y, (start + np.arange(len(X))) // QUERY, {}))
            start += len(X)
        (folder / DESCRIPTION).write_bytes(writer.finish(None, 1).to_json())


def write_parquet(folder: Path, n_rows: int, scattered: bool) -> int:
    """Write generated rows as Parquet files of 500,000 rows; return their bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    rng, n_queries, writer, done = np.random.default_rng(1), n_rows // QUERY, None, 0
    for X, y in pieces(n_rows):
        here = done + np.arange(len(X))
        qid = rng.integers(0, n_queries, len(X)) if scattered else here // QUERY
        columns = {"label": y.astype(np.int8), "qid": qid} | {f"f{i}": X[:, i] for i in range(N_FEATURES)}
        table = pa.table(columns)
        if done % 500_000 == 0:
            if writer is not None:
                writer.close()
            file = folder / f"part-{done // 500_000:04d}.parquet"
            writer = pq.ParquetWriter(file, table.schema, use_dictionary=["label", "qid"])
        writer.write_table(table)
        done += len(X)
    writer.close()
    return sum(file.stat().st_size for file in folder.iterdir())


class Peak(threading.Thread):
    """Samples the anonymous memory and the resident size of this process twenty times a second."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.anonymous = self.resident = 0
        self._done = threading.Event()

    def run(self) -> None:
        """Sample until told to stop."""
        while not self._done.wait(0.05):
            facts = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
            sizes = [int(facts[name].split()[0]) * 1024 for name in ("RssAnon", "VmRSS")]
            self.anonymous, self.resident = max(self.anonymous, sizes[0]), max(self.resident, sizes[1])

    def stop(self) -> dict[str, float]:
        """Return the greatest sizes that were seen."""
        self._done.set()
        self.join()
        return {"anonymous": self.anonymous, "resident": self.resident}


def in_process(task: str, *arguments: Any, limit: float | None = None) -> dict[str, Any]:
    """Run a task of this file in a process of its own, with a limit on the memory that it has to itself."""
    command = [sys.executable, "-m", "benchmarks.pack", task, *map(str, arguments)]

    def lower() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (int(limit), int(limit)))

    done = subprocess.run(command, preexec_fn=lower, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr[-500:]}")
    return json.loads(done.stdout.splitlines()[-1])


def fit(path: str, name: str, n_passes: str) -> dict[str, Any]:
    """Fit a ranker on a pack; return passes, seconds, memory and what was read from the disk."""
    options = {"bound": "convex"} if name == "svm-ndcg" else {}
    peak, begin, cpu = Peak(), time.perf_counter(), time.process_time()
    peak.start()
    data = ar.load(path)
    before = _read_bytes()
    ranker = ar.make_ranker(name, max_iter=int(n_passes), verbose=-1, **options)
    risks: list[Any] = []
    ranker._note = risks.append  # keeps the risk, which counts its passes
    ranker.fit(data)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    risk = risks[0]
    return {
        **peak.stop(), "seconds": seconds, "cpu": cpu, "passes": risk.n_passes, "in_risk": risk.seconds,
        "objective": ranker.objective_, "read": _read_bytes() - before, "bytes": data.X.nbytes,
    }  # fmt: skip


def sort(folder: str, path: str, memory: str) -> dict[str, Any]:
    """Pack scattered Parquet files."""
    peak, cpu = Peak(), time.process_time()
    peak.start()
    contents = ar.pack(folder, path, memory=memory, progress=False)
    return {**peak.stop(), "cpu": time.process_time() - cpu, "bytes": contents.n_bytes}


def read(path: str, cold: str) -> dict[str, float]:
    """Read a file from its beginning to its end."""
    buffer = bytearray(1 << 23)
    with open(path, "rb", buffering=0) as file:
        if cold == "cold":
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        begin, cpu, before = time.perf_counter(), time.process_time(), _read_bytes()
        while file.readinto(buffer):
            pass
    return {
        "seconds": time.perf_counter() - begin,
        "cpu": time.process_time() - cpu,
        "read": _read_bytes() - before,
    }


def _read_bytes() -> int:
    """Return what the disk has delivered to this process, by the kernel's count."""
    facts = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(facts["read_bytes"])


def warm_map(folder: Path, n_bytes: float) -> None:
    """Compare a pass over a warm map with one over memory."""
    write_pack(folder / "a.pack", rows_for(n_bytes))
    mapped = ar.load(folder / "a.pack")
    memory = mapped._but(X=np.array(mapped.X), y=np.array(mapped.y))
    found = passes({"memory": memory, "map": mapped}, 9)
    print(f"  the map takes {found['map'] / found['memory']:.3f} times the CPU of memory (bar 1.1)")
    checksums(folder / "a.pack")
    shutil.rmtree(folder / "a.pack")


def checksums(path: Path) -> None:
    """Compare the first touch of all features, with and without sums, and passes afterwards, with one pass."""
    w = np.random.default_rng(0).standard_normal(N_FEATURES)
    later = {how: make_risk(ar.load(path, verify=how), ar.objective("rank-svm"), 1) for how in ("never", "lazy")}

    def first(how: str) -> None:
        array_file._seen.cache_clear()  # as in a new process
        ar.load(path, verify=how).X[::8, 0].sum()

    calls = {f"first touch, {how}": functools.partial(first, how) for how in later}
    calls |= {f"pass, {how}": functools.partial(risk.value_and_gradient, w) for how, risk in later.items()}
    found = medians(calls, 9, time.process_time)
    once = (found["first touch, lazy"] - found["first touch, never"]) / found["pass, never"]
    each = found["pass, lazy"] / found["pass, never"]
    print(f"  sums on first touch: {once:.3f} of a pass, once in a process; passes afterwards: {each:.3f} (bar 1.05)")


def growth(folder: Path, n_bytes: float) -> None:
    """Print the cost of a pass over ten times the rows."""
    write_pack(folder / "a.pack", rows_for(n_bytes))
    passes({"map": ar.load(folder / "a.pack")}, 3)
    shutil.rmtree(folder / "a.pack")


def passes(sets: dict[str, ar.Dataset], repeats: int) -> dict[str, float]:
    """Time value and gradient of RankSVM on one thread, interleaved; return the median CPU seconds."""
    w = np.random.default_rng(0).standard_normal(N_FEATURES)
    risks = {name: make_risk(data, ar.objective("rank-svm"), 1) for name, data in sets.items()}
    calls = {name: functools.partial(risk.value_and_gradient, w) for name, risk in risks.items()}
    found = medians(calls, repeats, time.process_time)
    for name, seconds in found.items():
        n_rows, n_bytes = sets[name].X.shape[0], sets[name].X.nbytes
        size, speed = f"{n_bytes / GB:.2f} GB", f"{n_bytes / seconds / GB:.2f} GB a second"
        print(f"a pass over {n_rows:>10,} x {N_FEATURES} float32 ({size}), {name}: {seconds:.3f} CPU s, {speed}")
    return found


def packing(folder: Path, n_bytes: float) -> None:
    """Print the CPU time of packing Parquet files in which the rows of a query are together."""
    size = write_parquet(folder / "parts", rows_for(n_bytes), False)
    for _ in range(3):
        cpu, begin = time.process_time(), time.perf_counter()
        contents = ar.pack(folder / "parts", folder / "a.pack", progress=False)
        cpu, seconds = time.process_time() - cpu, time.perf_counter() - begin
        print(
            f"Parquet of {size / 1e6:,.0f} MB into {contents.n_bytes / 1e6:,.0f} MB: {cpu:.2f} CPU s, {seconds:.2f} s; "
            f"{size / cpu / 1e6:.0f} MB of Parquet a CPU second (bar 100)"
        )
    shutil.rmtree(folder / "parts")
    shutil.rmtree(folder / "a.pack")


def sorting(folder: Path, n_bytes: float) -> None:
    """Pack scattered rows within a tenth of their size."""
    size = write_parquet(folder / "parts", rows_for(n_bytes), True)
    memory = f"{n_bytes / 10 / 1e6:.0f}MB"
    found = in_process("sort", folder / "parts", folder / "a.pack", memory)
    ar.load(folder / "a.pack", verify="open" if n_bytes < GB else "never")
    print(
        f"scattered Parquet of {size / GB:.2f} GB into {found['bytes'] / GB:.2f} GB with --memory {memory}: peak "
        f"anonymous {found['anonymous'] / GB:.3f} GB (bar {n_bytes / 10 / GB:.2f}), {found['cpu']:.0f} CPU s, "
        f"{size / found['cpu'] / 1e6:.0f} MB a CPU second"
    )
    shutil.rmtree(folder / "parts")
    shutil.rmtree(folder / "a.pack")


def larger_than_memory(folder: Path, n_bytes: float) -> None:
    """Fit with a quarter of the file as memory; compare passes with reading the file."""
    path = folder / "a.pack"
    write_pack(path, rows_for(n_bytes))
    features = path / "X.npy"
    size = features.stat().st_size
    limit = max(size / 4, 0.5 * GB)  # the program itself takes some of it
    print(f"a pack of {size / GB:.2f} GB of features, {limit / GB:.2f} GB allowed (RLIMIT_DATA)")
    for how in ("cold", "warm"):
        got = in_process("read", features, how)
        disk = f"{got['read'] / GB:.2f} GB from the disk"
        print(f"  reading the file, {how}: {got['seconds']:.1f} s, {got['cpu']:.1f} CPU s, {disk}")
    for name in ("rank-svm", "svm-ndcg"):
        os.posix_fadvise(fd := os.open(features, os.O_RDONLY), 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)
        got = in_process("fit", path, name, 6, limit=limit)
        one = got["in_risk"] / got["passes"]
        print(
            f"  {name}: {got['passes']:.1f} passes of {one:.1f} s, {got['seconds']:.0f} s and {got['cpu']:.0f} CPU s "
            f"in all; peak anonymous {got['anonymous'] / GB:.2f} GB ({got['anonymous'] / size:.2f} of the file), "
            f"resident {got['resident'] / GB:.2f} GB, {got['read'] / GB:.1f} GB from the disk"
        )
    shutil.rmtree(path)


#: Part -> function of a folder and a number of bytes, that number, and the disk space needed as a multiple of it.
PARTS: dict[str, tuple[Callable[[Path, float], None], float, float]] = {
    "map": (warm_map, 0.55 * GB, 1.1),
    "packing": (packing, 0.55 * GB, 2.2),
    "growth": (growth, 5.44 * GB, 1.1),
    "fit": (larger_than_memory, 8 * GB, 1.3),
    "sort": (sorting, 10 * GB, 3.5),
}


def run(*parts: str) -> None:
    """Print the figures of some parts, of all by default."""
    share = float(os.environ.get("ARGRANK_BENCH_GB", "8")) / 8
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in parts or PARTS:
            task, n_bytes, room = PARTS[part]
            free, asked = shutil.disk_usage(folder).free, share * n_bytes
            if free < room * asked + 10 * GB:
                print(f"{part} of {asked / GB:.1f} GB: left out, {free / GB:.0f} GB free")
            else:
                task(folder, asked)


if __name__ == "__main__":
    task, *arguments = sys.argv[1:]
    print(json.dumps({"fit": fit, "sort": sort, "read": read}[task](*arguments)))
