"""Work in which a peer used to be faster: argrank and the peer in turn, before and now.

``python -m benchmarks behind`` prints the table and writes it to ``benchmarks/behind.csv``; ``behind:csv,parquet`` runs
the rows whose names begin so. CPU seconds on one thread, median of five interleaved repeats, each in its own process
that has done a small piece of the same work before (commands are timed as a whole). Just before the clock runs it takes
a gigabyte of memory and gives it back: a virtual machine may return free memory to its host, and then the first process
to use it again pays up to ten times as much for a page, whichever side that is. Memory is the greatest addition to the
process's own pages during the work, or the whole process of a command. The column *before* has what was measured on
another machine when the row was behind: its ratio can be compared with the present one, its seconds cannot.
"""

from __future__ import annotations

import csv
import gc
import mmap
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from benchmarks import _forests, _tables
from benchmarks.read_letor import _peak_memory
from benchmarks.speed import LIGHTGBM_SCRIPT, _cost

REPEATS = int(os.environ.get("ARGRANK_BENCH_REPEATS", "5"))
SHARE = float(os.environ.get("ARGRANK_BENCH_SHARE", "1"))  # below 1: fewer rows, for a busy machine
TABLE = Path(__file__).with_suffix(".csv")
COLUMNS = (
    "work", "peer", "argrank s", "peer s", "times", "bar", "argrank MB", "peer MB", "times the memory", "before, times",
    "repeats",
)  # fmt: skip
ONE_THREAD = {"OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1", "ARROW_NUM_THREADS": "1"}
HAD = 1 << 30  # bytes that a process has had from the machine before it is timed: more than any work here takes
WHO = ("argrank", "peer")


class Row(NamedTuple):
    """One kind of work: how its input is written (a folder, a size), read before the clock runs, and done by each side.

    A side that is a list of words is a command.
    """

    peer: str
    prepare: Callable[[Path, int], None]
    small: int
    large: int
    read: Callable[[Path], Any]
    argrank: Callable[[Any], object] | list[str]
    other: Callable[[Any], object] | list[str]
    bar: str
    before: float  # the ratio that was measured when the row was opened


# ---- tables -------------------------------------------------------------------------------------------------------


def table_row(kind: str, before: float) -> Row:
    """Return the row of one of the files of `benchmarks._tables`."""
    suffix, write, n_rows = _tables.FILES[kind]
    name = f"table{suffix}"

    def argrank(folder: Path) -> object:
        import argrank as ar

        return ar.load(folder / name)

    def other(folder: Path) -> object:
        if suffix == ".csv":
            import pandas as pd

            return pd.read_csv(folder / name)
        import polars as pl

        return pl.read_parquet(folder / name).to_numpy()

    peer = "pandas" if suffix == ".csv" else "polars to NumPy"
    return Row(peer, lambda folder, n: write(folder / name, n), 100, n_rows, Path, argrank, other, "1.3", before)


# ---- evaluation ---------------------------------------------------------------------------------------------------

ASKED, THEIR_NAMES = ["ndcg@10", "map", "mrr"], {"ndcg_cut.10", "map", "recip_rank"}


def write_trec(folder: Path, n_queries: int) -> None:
    """Write judgements of 100 documents a query, and a run that returned most of them and some others."""
    rng = np.random.default_rng(0)
    with (folder / "judged.qrels").open("w") as qrels, (folder / "system.run").open("w") as run:
        for query in range(n_queries):
            documents = rng.integers(0, 10**7, 100)
            labels = rng.choice(5, 100, p=[0.55, 0.2, 0.13, 0.08, 0.04]).tolist()
            names = [f"doc-{number:08d}-{place}" for place, number in enumerate(documents.tolist())]
            qrels.writelines(f"q{query} 0 {name} {label}\n" for name, label in zip(names, labels, strict=True))
            scores = np.sort(rng.normal(size=100))[::-1].tolist()
            shown = [names[place] if place < 90 else f"new-{place}" for place in rng.permutation(100).tolist()]
            run.writelines(
                f"q{query} Q0 {name} {rank} {score!r} bm25\n"
                for rank, (name, score) in enumerate(zip(shown, scores, strict=True), 1)
            )


def read_dicts(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return judgements and run as pytrec_eval reads them."""
    import pytrec_eval

    with (folder / "judged.qrels").open() as qrels, (folder / "system.run").open() as run:
        return pytrec_eval.parse_qrel(qrels), pytrec_eval.parse_run(run)


def evaluate_dicts(given: tuple[dict[str, Any], dict[str, Any]]) -> object:
    import argrank as ar

    qrels, run = given
    return ar.evaluate(run, qrels, ASKED, convention="trec", n_jobs=1).means


def their_dicts(given: tuple[dict[str, Any], dict[str, Any]]) -> object:
    import pytrec_eval

    qrels, run = given
    return _means(pytrec_eval.RelevanceEvaluator(qrels, THEIR_NAMES).evaluate(run))


def evaluate_files(folder: Path) -> object:
    import argrank as ar

    return ar.evaluate(folder / "system.run", folder / "judged.qrels", ASKED, convention="trec", n_jobs=1).means


def their_files(folder: Path) -> object:
    return their_dicts(read_dicts(folder))


def _means(values: dict[str, dict[str, float]]) -> dict[str, float]:
    names = next(iter(values.values()))
    return {name: statistics.fmean(one[name] for one in values.values()) for name in names}


# ---- training -----------------------------------------------------------------------------------------------------


def write_arrays(folder: Path, n_rows: int) -> None:
    """Write features and grades of queries of 100 documents."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 136)).astype(np.float32)
    gained = X[:, 0] * X[:, 1] + np.abs(X[:, 2]) + rng.standard_normal(n_rows)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", np.digitize(gained, np.quantile(gained, [0.5, 0.75, 0.9, 0.97])).astype(float))


def read_arrays(folder: Path) -> tuple[Any, Any, Any]:
    """Return features, grades and the sizes of queries."""
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    X.flags.writeable = False  # handed over: a Dataset shares it
    return X, y, np.full(len(y) // 100, 100)


def fit_ours(given: tuple[Any, Any, Any]) -> object:
    """Fit lambda-mart with its defaults."""
    import argrank as ar

    X, y, sizes = given
    return ar.make_ranker("lambda-mart", n_jobs=1, verbose=-1).fit(ar.Dataset(X, y, group=sizes))


def fit_lightgbm(given: tuple[Any, Any, Any]) -> object:
    """Train LightGBM's lambdarank with the same settings."""
    import lightgbm as lgb

    X, y, sizes = given
    parameters = {
        "objective": "lambdarank", "lambdarank_norm": False, "learning_rate": 0.05, "num_leaves": 31, "metric": "None",
        "feature_fraction": 0.5, "bagging_freq": 1, "bagging_fraction": 0.6, "extra_trees": True, "verbosity": -1,
        "num_threads": 1, "force_col_wise": True,
    }  # fmt: skip
    return lgb.train(parameters, lgb.Dataset(X, y, group=sizes), 180)


def write_letor(folder: Path, n_queries: int) -> None:
    """Write a small file to train on, and LightGBM's script."""
    import argrank as ar

    ar.dump(ar.make_ranking(n_queries, 20, 10, random_state=1), folder / "train.txt")
    (folder / "peer.py").write_text(LIGHTGBM_SCRIPT)


TRAIN = [sys.executable, "-m", "argrank", "train", "train.txt", "-q", "-o", "m.json", "-r", "lambda-mart"]
SCRIPT = [sys.executable, "peer.py", "train.txt", "m.txt"]

# ---- the table ----------------------------------------------------------------------------------------------------

ROWS = {
    "csv, numbers alone": table_row("csv, numbers alone", 3.13 / 0.61),
    "csv, 2 % of the cells empty": table_row("csv, 2 % of the cells empty", 2.77 / 0.27),
    "csv, ids in quotes": table_row("csv, ids in quotes", 2.74 / 0.20),
    "parquet, float64": table_row("parquet, float64", 0.83 / 0.33),
    "evaluate dicts, 10,000 x 100": Row(
        "pytrec_eval", write_trec, 20, 10_000, read_dicts, evaluate_dicts, their_dicts, "1.0", 3.38 / 0.46
    ),
    "evaluate TREC files, 10,000 x 100": Row(
        "pytrec_eval", write_trec, 20, 10_000, Path, evaluate_files, their_files, "1.0, memory too", 5.28 / 1.50
    ),
    "lambda-mart fit, 200,000 rows": Row(
        "LightGBM", write_arrays, 1000, 200_000, read_arrays, fit_ours, fit_lightgbm, "1.05, memory 1.1", 21.6 / 18.6
    ),
    "argrank train -r lambda-mart, small file": Row(
        "LightGBM script",
        write_letor,
        60,
        60,
        Path,
        TRAIN,
        SCRIPT,
        "1.16 (2.2 s where the script takes 1.9)",
        3.0 / 1.9,
    ),
}

for one, peer, bar, then in (
    ("trees", "catboost", "1.5 (2.5 µs a row where it takes 1.65)", 4.9 / 1.65),
    ("trees", "xgboost", "1.0", 4.9 / 4.1),
    ("symmetric", "catboost", "1.0", float("nan")),
):
    for size, title in ((None, "all at once"), (100, "queries of 100")):
        ROWS[f"forest of 300 {one}, 20,000 rows, {title}; {peer}"] = Row(
            peer,
            _forests.write_forests,
            2000,  # enough that the kernel is loaded before the clock runs
            20_000,
            _forests.reading(one, peer),
            _forests.scoring(one, size),
            _forests.scoring(peer, size),
            bar if size is None else "1.0",
            then if size is None else float("nan"),
        )
for peer, taken in (("lightgbm", 4.1), ("xgboost", 1.7)):
    ROWS[f"load a forest of 100 trees, 100 times; {peer}"] = Row(
        peer,
        _forests.write_to_load,
        1,
        1,
        Path,
        _forests.loading("trees"),
        _forests.loading(peer),
        f"{6 / taken:.1f} (6 ms where it takes {taken})",
        33 / taken,
    )


def measure_here(what: str, work: str, who: str, small: str, large: str) -> None:
    """Print CPU seconds, or additional megabytes at the peak, of one piece of work in this process."""
    import pyarrow as pa

    pa.set_cpu_count(1)
    row = ROWS[work]
    do = cast("Callable[[Any], object]", row.argrank if who == "argrank" else row.other)
    do(row.read(Path(small)))
    given = row.read(Path(large))
    gc.collect()
    if what == "memory":
        print(max(0.0, _peak_memory(lambda: do(given))[0] / 1e6))
    else:
        _use_memory()
        begin = time.process_time()
        do(given)
        print(time.process_time() - begin)


def _use_memory() -> None:
    """Touch memory and free it, so that the machine has it and need not ask its host."""
    with mmap.mmap(-1, HAD, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as taken:
        taken.madvise(mmap.MADV_HUGEPAGE)
        for start in range(0, HAD, mmap.PAGESIZE):
            taken[start] = 1


def _costs(work: str, folder: Path) -> dict[str, tuple[float, float]]:
    """Return median CPU seconds and megabytes of both sides."""
    row, small, large = ROWS[work], folder / "small", folder / "large"
    for place, size in ((small, row.small), (large, max(row.small, round(SHARE * row.large)))):
        place.mkdir()
        row.prepare(place, size)
    if isinstance(row.argrank, list):
        commands = dict(zip(WHO, (row.argrank, row.other), strict=True))
        taken = [
            {who: _cost(cast("list[str]", words), large) for who, words in commands.items()} for _ in range(REPEATS)
        ]
        return {who: cast(Any, tuple(np.median([turn[who] for turn in taken], axis=0))) for who in WHO}

    def figure(what: str, who: str) -> float:
        words = [sys.executable, "-m", "benchmarks.behind", what, work, who, str(small), str(large)]
        environment = {**os.environ, **ONE_THREAD}
        return float(subprocess.run(words, check=True, capture_output=True, text=True, env=environment).stdout)

    turns = [{who: figure("time", who) for who in WHO} for _ in range(REPEATS)]
    return {who: (statistics.median(turn[who] for turn in turns), figure("memory", who)) for who in WHO}


def run(*parts: str) -> None:
    """Print the rows that begin with some words, all by default, and write them into the table."""
    for work, row in ROWS.items():
        if parts and not work.startswith(parts):
            continue
        with tempfile.TemporaryDirectory() as folder:
            (ours, mine), (theirs, other) = _costs(work, Path(folder)).values()
        seconds = (f"{ours:.3f}", f"{theirs:.3f}", f"{ours / theirs:.2f}")
        memory = (f"{mine:.0f}", f"{other:.0f}", f"{mine / other:.2f}" if other >= 1.0 else "")
        line = [work, row.peer, *seconds, row.bar, *memory, f"{row.before:.2f}", str(REPEATS)]
        print(", ".join(f"{name} {cell}" for name, cell in zip(COLUMNS, line, strict=True)), flush=True)
        _write(line)


def _write(line: list[str]) -> None:
    """Put a line into the table, in the place of an older one of the same work."""
    lines = {line[0]: line}
    if TABLE.exists():
        with TABLE.open(newline="") as file:
            lines = {cells[0]: cells for cells in list(csv.reader(file))[1:]} | lines
    with TABLE.open("w", newline="") as file:
        kept = [lines[name] for name in ROWS if name in lines]
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *kept])


if __name__ == "__main__":
    measure_here(*sys.argv[1:])
