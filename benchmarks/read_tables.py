"""Reading tables: CSV beside pandas' read_csv, Parquet beside polars to a matrix of NumPy, one thread, CPU seconds.

The three CSV files are one of numbers alone, one with empty cells and one with ids in quotes; a Dataset is read from
each, which is more than a frame: ids are grouped, numbers checked, rows laid out for training. Every figure comes from
a process of its own that has read a small file of the kind before.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

REPEATS = 5
SHARE = float(os.environ.get("ARGRANK_BENCH_SHARE", "1"))  # below 1: fewer rows, for a busy machine
BAR = 1.3

MEASURE = """
import sys, time
from benchmarks.read_letor import _peak_memory
what, small, large, who = sys.argv[1:]
if who == "argrank":
    import argrank as ar
    def read(path): return ar.load(path)
elif large.endswith(".csv"):
    import pandas as pd
    def read(path): return pd.read_csv(path)
else:
    import polars as pl
    def read(path): return pl.read_parquet(path).to_numpy()
import pyarrow as pa
pa.set_cpu_count(1)
read(small)
if what == "memory":
    print(_peak_memory(lambda: read(large))[0] / 1e6)
else:
    begin = time.process_time()
    read(large)
    print(time.process_time() - begin)
"""


def csv_writer(n_columns: int, gaps: float = 0.0, quoted: bool = False) -> Callable[[Path, int], None]:
    """Return a function that writes so many rows of decimals, some cells empty or the ids in quotes."""

    def write(path: Path, n_rows: int) -> None:
        rng = np.random.default_rng(0)
        with path.open("w") as file:
            file.write(",".join(["qid", "docid", "label", *(f"f{number}" for number in range(n_columns))]) + "\n")
            for row in range(n_rows):
                values = map(str, rng.standard_normal(n_columns).round(6).tolist())
                empty = (rng.random(n_columns) < gaps).tolist()
                cells = ["" if gap else value for value, gap in zip(values, empty, strict=True)]
                ids = [f'"q {row // 20}"', f'"P-{row:07d}"'] if quoted else [str(row // 20), str(row)]
                file.write(",".join([*ids, str(row % 5), *cells]) + "\n")

    return write


def write_parquet(path: Path, n_rows: int) -> None:
    """Write a table of float64 columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {"qid": np.arange(n_rows) // 100, "label": (np.arange(n_rows) % 5).astype(float)}
    pq.write_table(pa.table(columns | {f"f{number}": rng.standard_normal(n_rows) for number in range(136)}), path)


FILES = {
    "csv, numbers alone": (".csv", csv_writer(105), 100_000),
    "csv, 2 % of the cells empty": (".csv", csv_writer(100, gaps=0.02), 33_000),
    "csv, ids in quotes": (".csv", csv_writer(98, quoted=True), 33_000),
    "parquet, float64": (".parquet", write_parquet, 230_000),
}


def _cost(what: str, small: Path, large: Path, who: str) -> float:
    """Return CPU seconds, or additional megabytes at the peak, of reading a file (without pages of mapped files)."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    command = [sys.executable, "-c", MEASURE, what, str(small), str(large), who]
    return float(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)


def run(*parts: str) -> dict[str, tuple[float, float]]:
    """Print the table and return the ratios of seconds and of megabytes."""
    print(f"{'':30}{'MB':>5}{'argrank':>18}{'peer':>18}{'ratio':>7}   (CPU s, peak; bar {BAR} of the seconds)")
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for what, (suffix, write, n_rows) in FILES.items():
            if parts and not any(what.startswith(part) for part in parts):
                continue
            small, large = Path(folder) / f"small{suffix}", Path(folder) / f"large{suffix}"
            write(small, 100)
            write(large, max(100, round(SHARE * n_rows)))
            turns = [[_cost("time", small, large, who) for who in ("argrank", "peer")] for _ in range(REPEATS)]
            seconds = [statistics.median(side) for side in zip(*turns, strict=True)]
            megabytes = [_cost("memory", small, large, who) for who in ("argrank", "peer")]
            found[what] = (seconds[0] / seconds[1], megabytes[0] / megabytes[1])
            cells = [f"{time:.3f} s, {size:.0f} MB" for time, size in zip(seconds, megabytes, strict=True)]
            size = large.stat().st_size / 1e6
            print(f"{what:<30}{size:>5.0f}{cells[0]:>18}{cells[1]:>18}{found[what][0]:>7.2f}", flush=True)
    return found
