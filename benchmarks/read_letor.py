"""Reading LETOR text: argrank against scikit-learn, on generated files of about 200 MB."""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._interleaved import medians

SIZE = 200_000_000
ROUNDS = 3
THREADS = 2
N_FEATURES = 136
PER_QUERY = 120


def run() -> dict[str, float]:
    """Compare the speed, interleaved, and take the peak of anonymous memory; print a table, return the figures."""
    figures: dict[str, float] = {}
    print(f"reading LETOR text of about {SIZE / 1e6:.0f} MB, {THREADS} threads, median of {ROUNDS} interleaved rounds")
    print(f"{'file':<18}{'argrank':>14}{'scikit-learn':>16}{'ratio':>9}{'peak memory':>26}")
    with tempfile.TemporaryDirectory() as folder:
        for name, comments in (("mslr-like", False), ("letor4-like", True)):
            path = Path(folder) / f"{name}.txt"
            write_file(path, SIZE, comments)
            figures |= {f"{name}: {what}": value for what, value in _compare(path, name).items()}
            path.unlink()
    return figures


def _compare(path: Path, name: str) -> dict[str, float]:
    from sklearn.datasets import load_svmlight_file

    from argrank.data.io.letor.reader import read_letor

    def ours() -> Any:
        return read_letor(path, n_jobs=THREADS, progress=False)

    def theirs() -> Any:
        return load_svmlight_file(str(path), query_id=True)

    megabytes = path.stat().st_size / 1e6
    seconds = medians({"ours": ours, "theirs": theirs}, ROUNDS)
    speed = {side: megabytes / value for side, value in seconds.items()}
    peak, data = _peak_memory(ours)
    share = peak / _size(data)
    ratio = speed["ours"] / speed["theirs"]
    memory = f"{peak / 1e6:.0f} MB, {share:.2f} x result"
    print(f"{name:<18}{speed['ours']:>9.0f} MB/s{speed['theirs']:>11.1f} MB/s{ratio:>8.1f}x{memory:>26}")
    return {"MB/s": speed["ours"], "scikit-learn MB/s": speed["theirs"], "ratio": ratio, "peak / result": share}


def _size(data: Any) -> int:
    """Bytes of the finished arrays, with the strings of comments and document ids."""
    arrays = [data.X, data.y, data.indptr, data.query_ids, data.comments, data.document_ids]
    total = sum(array.nbytes for array in arrays if array is not None)
    texts = [array for array in (data.comments, data.document_ids) if array is not None]
    return total + sum(sys.getsizeof(text) for array in texts for text in array)


def _peak_memory(work: Callable[[], Any]) -> tuple[int, Any]:
    """Return the highest anonymous memory during the work over that before it; mapped file pages do not count."""
    before, peak, done = _anonymous(), [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.002):
            peak[0] = max(peak[0], _anonymous())

    watcher = threading.Thread(target=watch)
    watcher.start()
    result = work()
    done.set()
    watcher.join()
    return max(peak[0], _anonymous()) - before, result


def _anonymous() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("the memory figure needs Linux (/proc/self/status)")


def write_file(path: Path, size: int, comments: bool, seed: int = 0) -> None:
    """Write rows of 136 features, a mix of integers, zeros and decimals as in MSLR-WEB; or 46 as in LETOR 4."""
    random = np.random.default_rng(seed)
    width = 46 if comments else N_FEATURES
    whole = random.random(width) < (0.0 if comments else 0.5)
    with path.open("w") as file:
        written = query = 0
        while written < size:
            block = "".join(_rows(random, width, whole, query, comments))
            written += file.write(block)
            query += 1


def _rows(random: np.random.Generator, width: int, whole: Any, query: int, comments: bool) -> list[str]:
    integers = np.floor(random.exponential(20, (PER_QUERY, width))).astype(int)
    decimals = random.random((PER_QUERY, width)) * (1 if comments else 30)
    zero = random.random((PER_QUERY, width)) < 0.35
    labels = random.integers(0, 3 if comments else 5, PER_QUERY)
    rows = []
    for row in range(PER_QUERY):
        features = " ".join(
            f"{column + 1}:0" + (".000000" if comments else "")
            if zero[row, column]
            else f"{column + 1}:{integers[row, column]}"
            if whole[column]
            else f"{column + 1}:{decimals[row, column]:.6f}"
            for column in range(width)
        )
        tail = f" #docid = GX{query % 1000:03d}-{row:02d}-{random.integers(10**8)} inc = 1 prob = {random.random():.6f}"
        rows.append(f"{labels[row]} qid:{query + 1} {features}{tail if comments else ' '}\n")
    return rows


if __name__ == "__main__":
    run()
