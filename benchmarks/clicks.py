"""Time and memory of click logs: Parquet to a log, its sums, the curve, PBM and UBM, training data, a ranking's value.

    python -m benchmarks clicks:100000,1000000
    python -m benchmarks clicks:table     # up to ten million rows; writes clicks.csv, and clicks.md for the guide
    python -m benchmarks clicks:pyclick
    python -m benchmarks clicks:rank-svm

Every size runs in a process of its own, on one core; seconds are CPU seconds, memory is the process's highest.
With ``pyclick``: PBM and UBM on the TianGong demo with PyClick's conventions, beside the CPU seconds of its own code.
With ``rank-svm``: rank-svm on gains (Propensity SVM-Rank) and on labels of the same rows, taking turns.
"""

from __future__ import annotations

import csv
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from argrank._tables import table, to_markdown

N_RESULTS, N_DOCUMENTS = 10, 30
DATA = Path(os.environ.get("ARGRANK_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
PYCLICK_SECONDS = {"pbm": 9.3, "ubm": 12.4}  # its own code, fit and evaluation, on one core
HEADER = ("rows", "load", "sums", "harvest", "PBM", "UBM", "all of these", "sums by row groups", "from_clicks",
          "evaluate", "highest memory, MB")  # fmt: skip
SIZES = ("100000", "1000000", "10000000")
TABLE = Path(__file__).with_suffix(".csv")


def n_queries_of(n_rows: int) -> int:
    """Return how many queries a log has."""
    return max(20, n_rows // N_RESULTS // 100)


def candidates_of(n_rows: int):
    """Return the table of all queries' documents, with ten features."""
    import argrank as ar

    n_queries = n_queries_of(n_rows)
    query = np.repeat(np.arange(n_queries), N_DOCUMENTS)
    document = np.char.add("p", np.arange(n_queries * N_DOCUMENTS).astype(str))
    X = np.random.default_rng(1).random((len(query), 10))
    return ar.Dataset(X, qid=np.char.add("query ", query.astype(str)), document_ids=document)


def write_log(path: Path, n_rows: int) -> None:
    """Write a log by the position-based model: queries of Zipf's traffic, 30 documents each, ten on a page."""
    random, n = np.random.default_rng(0), n_rows // N_RESULTS
    n_queries = n_queries_of(n_rows)
    traffic = 1.0 / np.arange(1, n_queries + 1)
    query = random.choice(n_queries, n, p=traffic / traffic.sum())
    schema = pa.schema(
        [
            ("session", pa.string()),
            ("qid", pa.string()),
            ("docid", pa.string()),
            ("position", pa.int32()),
            ("click", pa.int8()),
        ]
    )
    with pa.parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, n, 50_000):
            part = query[start : start + 50_000]
            shown = np.argsort(np.arange(N_DOCUMENTS) + random.gumbel(0, 5, (len(part), N_DOCUMENTS)), axis=1)[
                :, :N_RESULTS
            ]
            attraction = 0.1 + 0.8 * ((part[:, None] * 31 + shown * 17) % 97) / 97
            click = random.random(shown.shape) < attraction / np.arange(1, N_RESULTS + 1)
            columns = {
                "session": np.repeat(np.char.add("s", np.arange(start, start + len(part)).astype(str)), N_RESULTS),
                "qid": np.repeat(np.char.add("query ", part.astype(str)), N_RESULTS),
                "docid": np.char.add("p", (part[:, None] * N_DOCUMENTS + shown).ravel().astype(str)),
                "position": np.tile(np.arange(1, N_RESULTS + 1, dtype=np.int32), len(part)),
                "click": click.ravel().astype(np.int8),
            }
            writer.write_table(pa.table(columns, schema=schema))


def measure(path: Path, n_rows: int) -> list[str]:
    """Return one row of the table."""
    import argrank as ar

    seconds: list[float] = []

    def timed(run):
        begin = time.process_time()
        found = run()
        seconds.append(time.process_time() - begin)
        return found

    log = timed(lambda: ar.load_clicks(path))
    counts = timed(log.counts)
    theta = timed(lambda: ar.propensities(counts))
    timed(lambda: ar.click_model("pbm").fit(log))
    timed(lambda: ar.click_model("ubm").fit(log))
    seconds.append(sum(seconds))
    timed(lambda: ar.load_clicks(path, sums=True))
    candidates = candidates_of(n_rows)
    timed(lambda: ar.from_clicks(log, candidates, propensities=theta))
    other = -np.tile(np.arange(N_DOCUMENTS), n_queries_of(n_rows)) + 3.0 * candidates.X[:, 0]  # what the log has shown
    limits = {"min_coverage": 0, "min_clicks": 0}
    timed(lambda: ar.evaluate(other, log, "dcg@10", propensities=theta, features=candidates, **limits))
    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [f"{n_rows:,}", *(f"{one:.3f}" for one in seconds), f"{highest:,.0f}"]


def warm_up() -> None:
    """Compile what is measured."""
    import argrank as ar

    data = ar.make_ranking(n_queries=5)
    log = ar.simulate_clicks(data, data.X[:, 0], n_sessions=300, vary=1.0)
    ar.propensities(log)
    for name in ("pbm", "ubm"):
        ar.click_model(name).fit(log)


def against_pyclick() -> None:
    """Print CPU seconds of 50 steps on the training part and the evaluation on the test part, medians of five."""
    import argrank as ar

    warm_up()
    paths = [DATA / "clicks" / "tiangong-demo" / f"{part}.txt.xz" for part in ("train", "test")]
    train, test = (ar.load_clicks(path, format="sessions", repeated="keep") for path in paths)
    rows = []
    for name, theirs in PYCLICK_SECONDS.items():
        seconds = []
        for _ in range(5):
            begin = time.process_time()
            model = ar.click_model(name, prior_mean=0.5, prior_weight=2.0, max_iter=50, tol=0.0).fit(train)
            figures = model.log_likelihood(test), model.perplexity(test)
            seconds.append(time.process_time() - begin)
        ours = float(np.median(seconds))
        rows.append((name, *(f"{one:.6f}" for one in figures), f"{ours:.4f}", f"{theirs}", f"{theirs / ours:.0f}"))
    header = ("model", "log-likelihood", "perplexity", "CPU s", "PyClick's CPU s", "times faster")
    print(to_markdown([table(header, rows)]))


def gains_against_labels() -> None:
    """Print CPU seconds of rank-svm on gains and on labels, medians of seven turns, and their ratio."""
    import argrank as ar

    rows = []
    for n_queries, n_documents in ((300, 30), (1000, 100), (200, 1000)):
        data = ar.make_ranking(n_queries, n_documents, 20, random_state=0)
        data = ar.Dataset(data.X, data.y, qid=data.qid, document_ids=np.arange(data.n_documents))
        log = ar.simulate_clicks(data, data.X.sum(axis=1), n_sessions=50 * n_queries, vary=1.0, random_state=0)
        clicked = ar.from_clicks(log, data, propensities=ar.propensities(log))
        seconds: dict[str, list[float]] = {"labels": [], "gains": []}
        steps = {}
        for turn in range(8):
            for name, one in (("labels", data), ("gains", clicked)):
                begin = time.process_time()
                steps[name] = ar.make_ranker("rank-svm", n_jobs=1).fit(one).n_iter_
                seconds[name] += [time.process_time() - begin] if turn else []  # the first compiles
        medians = {name: float(np.median(found)) for name, found in seconds.items()}
        rows += [
            (f"{data.n_documents:,}", name, str(steps[name]), f"{one:.3f}", f"{one / medians['labels']:.2f}")
            for name, one in medians.items()
        ]
    print(to_markdown([table(("rows", "learned from", "steps", "CPU s", "ratio"), rows, 2)]))


def run(*sizes: str) -> None:
    """Print the table; sizes in rows."""
    if sizes == ("rank-svm",):
        gains_against_labels()
        return
    if sizes == ("pyclick",):
        against_pyclick()
        return
    whole = sizes == ("table",)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n_rows in map(int, SIZES if whole else sizes or SIZES[:2]):
            path = Path(folder) / f"{n_rows}.parquet"
            write_log(path, n_rows)
            command = [sys.executable, "-m", "benchmarks.clicks", str(path), str(n_rows)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            rows.append(done.stdout.strip().split("\t"))
    if whole:
        with TABLE.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream, lineterminator="\n").writerows([HEADER, *rows])
        TABLE.with_suffix(".md").write_text(to_markdown([table(HEADER, [*rows, growth(rows)])]) + "\n", "utf-8")
    print(to_markdown([table(HEADER, rows)]))


def growth(rows: list[list[str]]) -> list[str]:
    """Return by how much time and memory grow from the shortest log to the longest."""
    first, last = ([float(cell.replace(",", "")) for cell in row] for row in (rows[0], rows[-1]))
    return ["times", *(f"{b / a:.0f}" for a, b in zip(first[1:], last[1:], strict=True))]


if __name__ == "__main__":
    warm_up()
    print("\t".join(measure(Path(sys.argv[1]), int(sys.argv[2]))))
